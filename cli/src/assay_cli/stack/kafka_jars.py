"""Apache Kafka's jars: resolved once by jgo into the Python environment, held to the hashes of the lock."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict, cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from assay_cli.stack.errors import MissingPart
from assay_cli.stack.wheels import ADVICE

FOLDER = Path(sys.prefix) / "share" / "assay" / "kafka"
_HERE = Path(__file__).parent
SPEC = _HERE / "kafka_jars.toml"
LOCK = _HERE / "kafka_jars.lock.toml"


class _Locked(TypedDict):
    artifactId: str
    version: str
    sha256: str


def locked_hashes() -> dict[str, str]:
    """The sha256 of every jar that belongs on the class path, by file name."""
    document = tomllib.loads(LOCK.read_text(encoding="utf-8"))
    entries = cast("list[_Locked]", document["dependencies"])
    return {f"{entry['artifactId']}-{entry['version']}.jar": entry["sha256"] for entry in entries}


def class_path() -> str:
    """Every installed jar, modular ones too."""
    jars = _jars_below(FOLDER)
    absent = sorted(locked_hashes().keys() - {jar.name for jar in jars})
    if absent:
        raise MissingPart(f"Apache Kafka is not installed ({len(absent)} jars absent, {absent[0]} first): {ADVICE}")
    return ":".join(str(jar) for jar in jars)


def _jars_below(folder: Path) -> list[Path]:
    return sorted(jar for place in ("jars", "modules") for jar in (folder / place).glob("*.jar"))


def is_installed() -> bool:
    """Whether the installed jars are those of this lock."""
    stamp = FOLDER / "lock.toml"
    return stamp.exists() and stamp.read_bytes() == LOCK.read_bytes()


def install(progress: Callable[[int, int], None]) -> None:
    """Resolve, verify and put the jars in place in one step; `progress` is told jars found and jars wanted."""
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER.parent, prefix="kafka-") as scratch:
        work = Path(scratch)
        _resolve(work, progress)
        _verify(work / ".jgo")
        shutil.copy(LOCK, work / ".jgo" / "lock.toml")
        shutil.rmtree(FOLDER, ignore_errors=True)
        (work / ".jgo").rename(FOLDER)


def _resolve(work: Path, progress: Callable[[int, int], None]) -> None:
    shutil.copy(SPEC, work / "jgo.toml")
    repository = Path(os.environ.get("M2_REPO") or work / "maven")
    tool = Path(sys.prefix) / "bin" / "jgo"
    command = [str(tool), "--resolver", "python", "--repo-cache", str(repository), "--links", "copy", "sync"]
    environment = os.environ | {"HOME": os.environ.get("HOME") or str(work), "JGO_CACHE_DIR": str(work / "cache")}
    log = work / "jgo.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        _watch(process, repository, progress)
    if process.returncode != 0:
        tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
        raise MissingPart(f"jgo could not resolve Apache Kafka's jars (exit {process.returncode}):\n{tail}")


def _watch(process: subprocess.Popen[bytes], repository: Path, progress: Callable[[int, int], None]) -> None:
    wanted = locked_hashes().keys()
    ended = threading.Event()
    waiter = threading.Thread(target=lambda: (process.wait(), ended.set()), daemon=True)
    waiter.start()
    while not ended.wait(0.25):
        progress(len(wanted & {jar.name for jar in repository.rglob("*.jar")}), len(wanted))
    waiter.join()


def _verify(folder: Path) -> None:
    found = {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in _jars_below(folder)}
    wanted = locked_hashes()
    wrong = sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))
    if wrong:
        raise MissingPart(f"{len(wrong)} of Apache Kafka's jars are not those of {LOCK.name}: {', '.join(wrong[:5])}")


def install_with_bar() -> None:
    """Install unless installed, with a bar."""
    if is_installed():
        return
    columns = (TextColumn("    jars"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("jars", total=len(locked_hashes()))
        install(lambda found, wanted: bar.update(task, completed=found, total=wanted))
