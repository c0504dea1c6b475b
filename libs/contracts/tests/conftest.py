"""What the tests of contracts share."""

from pathlib import Path

import pytest
from assay_contracts import schema
from hypothesis import settings

settings.register_profile("contracts", max_examples=200, deadline=None)
settings.load_profile("contracts")


@pytest.fixture(scope="session")
def receipt_bytes() -> bytes:
    """A receipt as intake would send it."""
    folder = Path(schema.__file__).parent / "schemas" / "examples" / "receipt.v1"
    return (folder / "two_artifacts.json").read_bytes()
