"""Gives every test of the repository the fixtures for real parts."""

pytest_plugins = ["assay_cli.testing"]
