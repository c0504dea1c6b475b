"""A slice of the hunt in every run of the tests, and what it would find."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

FUZZ: Final = Path(__file__).parent
SLICE: Final = 4_000
needs_atheris = pytest.mark.skipif(find_spec("atheris") is None, reason="atheris has no wheel for this machine")


def hunt(state: Path, runs: int) -> dict[str, Any]:
    """Look at so many inputs; what all runs on this state have seen."""
    command = [sys.executable, str(FUZZ / "fuzz_contracts.py"), "--runs", str(runs), "--state", str(state)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4_000:]
    return json.loads((state / "progress.json").read_text())


@needs_atheris
def test_a_slice_of_the_hunt_finds_nothing_and_the_next_goes_on(tmp_path: Path) -> None:
    first = hunt(tmp_path, SLICE)
    assert (first["inputs"], first["findings"]) == (SLICE, 0)
    assert first["accepted"] > 0 and first["compared"] > first["accepted"]
    assert len(first["reasons"]) > 20
    assert hunt(tmp_path, 500)["inputs"] == SLICE + 500


WRONGS: Final = {
    "RecursionError": "def wrong(name, document): raise RecursionError",
    "Difference": "def wrong(name, document): raise InvalidMessage('not_json', '', 'guessed')",
    "Defect": "def wrong(name, document): raise InvalidMessage('not_modelled', '', 'guessed')",
    "TooSlow": "examining.CPU_SECONDS = 0\nwrong = examining._read",
}
LOOK: Final = """
import plain, examining
from assay_contracts.errors import InvalidMessage
{wrong}
examining._read, examining.SAMPLE = wrong, 1
examining.examine(b"\\0{{}}", examining.Examined())
"""


@pytest.mark.parametrize("error", WRONGS)
def test_what_is_wrong_is_found(error: str) -> None:
    command = [sys.executable, "-c", LOOK.format(wrong=WRONGS[error])]
    done = subprocess.run(command, cwd=FUZZ, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert error in done.stderr.splitlines()[-1]


@needs_atheris
def test_a_finding_is_looked_at_again(tmp_path: Path) -> None:
    finding = tmp_path / "finding"
    finding.write_bytes(b"\0{}")
    command = [sys.executable, str(FUZZ / "fuzz_contracts.py"), "--again", str(finding)]
    assert b"nothing is wrong" in subprocess.run(command, capture_output=True, check=True).stdout
