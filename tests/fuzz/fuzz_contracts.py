"""`make fuzz-contracts`: a coverage-guided hunt, which goes on where it stopped, for what the decoder does wrong.

libFuzzer, through atheris, keeps in the state's folder every input that reached code no other had reached. Half of the
work is done by changes that know JSON. What is found wrong lies in `findings`, to be given back as an argument of
`--again`. Both hunts are one run: every input is timed, and every accepted one and a sample of the others is put to the
reference, too.
"""

import argparse
import importlib
import json
import os
import random
import sys
import time
import zlib
from pathlib import Path
from typing import Any, Final, cast

atheris = cast("Any", importlib.import_module("atheris"))  # it has no types, and no wheel for some machines
importlib.import_module("plain")
with atheris.instrument_imports(include=["assay_contracts"]):
    from changing import change
    from examining import Examined, examine, name_of
    from seeds import LARGEST, write_seeds

SAVE_EVERY: Final = 2_000


class Run:
    """One process's share of the whole hunt, whose figures it adds to a file as it goes."""

    def __init__(self, folder: Path, wanted: int) -> None:
        self._folder, self._wanted = folder, wanted
        self._file = folder / "progress.json"
        self._before: dict[str, Any] = json.loads(self._file.read_text()) if self._file.exists() else {}
        self._examined = Examined()
        self._started = time.monotonic()

    def take(self, data: bytes) -> None:
        """Examine an input; ends the process after the last that is wanted."""
        try:
            examine(data, self._examined)
        except BaseException:
            self._keep(data)
            raise
        if self._examined.inputs % SAVE_EVERY == 0 or self._examined.inputs >= self._wanted:
            self.save()
        if self._examined.inputs >= self._wanted:
            self._end()

    def save(self) -> dict[str, Any]:
        """Write down what has been seen so far by all runs together."""
        seen, before = self._examined, self._before
        told = {
            "inputs": before.get("inputs", 0) + seen.inputs,
            "accepted": before.get("accepted", 0) + seen.accepted,
            "compared": before.get("compared", 0) + seen.compared,
            "seconds": round(before.get("seconds", 0) + time.monotonic() - self._started, 1),
            "slowest_ms": max(before.get("slowest_ms", 0), round(seen.slowest_seconds * 1000, 1)),
            "findings": len(list((self._folder / "findings").iterdir())),
            "reasons": {
                reason: before.get("reasons", {}).get(reason, 0) + seen.reasons.get(reason, 0)
                for reason in sorted({*before.get("reasons", {}), *seen.reasons})
            },
        }
        unfinished = self._file.with_suffix(".new")
        unfinished.write_text(json.dumps(told, indent=2) + "\n")
        unfinished.replace(self._file)
        return told

    def _keep(self, data: bytes) -> None:
        finding = self._folder / "findings" / f"{name_of(data)}-{zlib.crc32(data):08x}"
        finding.write_bytes(data)
        self.save()
        print(f"\nfound: {finding}", file=sys.stderr)

    def _end(self) -> None:
        print(json.dumps(self.save(), indent=2), flush=True)
        os._exit(0)


def again(findings: list[Path]) -> None:
    """Examine kept inputs once more; the first that is still wrong raises."""
    for finding in findings:
        examine(finding.read_bytes(), Examined())
    print(f"{len(findings)} examined, nothing is wrong with them")


def hunt(folder: Path, wanted: int) -> None:
    """Look at so many inputs more."""
    for name in ("corpus", "seeds", "findings"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    write_seeds(folder / "seeds")
    run = Run(folder, wanted)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        return change(data, random.Random(seed), lambda document: atheris.Mutate(document, max_size - 1))[:max_size]

    options = [f"-artifact_prefix={folder}/findings/", f"-max_len={LARGEST}", "-timeout=20", "-print_final_stats=1"]
    atheris.Setup(
        [sys.argv[0], *options, str(folder / "corpus"), str(folder / "seeds")], run.take, custom_mutator=mutate
    )
    atheris.Fuzz()


def main() -> None:
    """Read the arguments and hunt."""
    parser = argparse.ArgumentParser(description="Look for what the decoder does wrong.")
    parser.add_argument("--runs", type=int, default=100_000, help="inputs to look at, on top of all runs before")
    parser.add_argument(
        "--state", type=Path, default=Path(".assay/fuzz"), help="the folder that a later run goes on with"
    )
    parser.add_argument("--again", type=Path, nargs="+", help="look only at these kept inputs")
    arguments = parser.parse_args()
    if arguments.again:
        again(arguments.again)
    else:
        hunt(arguments.state, arguments.runs)


if __name__ == "__main__":
    main()
