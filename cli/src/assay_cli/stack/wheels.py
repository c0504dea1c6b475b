"""Finds the parts that came as Python wheels, without running any of their code."""

import importlib.util
import os
from pathlib import Path

from assay_cli.stack.errors import MissingPart

ADVICE = "run `make setup`"


def folder_of(package: str, what: str) -> Path:
    """The folder of an installed package, which is needed for its files alone."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise MissingPart(f"{what} is not installed (package {package}): {ADVICE}")
    return Path(spec.origin).parent


def program(package: str, what: str, *below: str) -> str:
    """The path of a program inside an installed package."""
    path = folder_of(package, what).joinpath(*below)
    if not os.access(path, os.X_OK):
        raise MissingPart(f"{what} is not whole: {path.name} of package {package} is absent: {ADVICE}")
    return str(path)
