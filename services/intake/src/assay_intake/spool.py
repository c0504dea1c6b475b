"""Where artifacts wait on disk, hashed as they come, until they are whole and may become evidence."""

import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from assay_intake.errors import SpoolFull
from assay_intake.metrics import SPOOL_BYTES

PREFIX: Final = "assay-spool-"
_LOCK = "lock"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class Spool:
    """This process's folder of uploads under way, and the bytes that all of them together may take.

    The folder is locked for as long as the process lives, so that the next one can tell what a killed one left behind
    and remove it.
    """

    def __init__(self, parent: Path | None, budget_bytes: int) -> None:
        """`parent` is any folder with room, None the system's temporary one."""
        root = Path(tempfile.gettempdir()) if parent is None else parent
        root.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(root)
        self._budget_bytes = budget_bytes
        self._used_bytes = 0
        self._folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
        self._lock = (self._folder / _LOCK).open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _: TracebackType | None
    ) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._lock.close()

    def open(self) -> "SpoolFile":
        """An empty file; close it to give its bytes back."""
        descriptor, name = tempfile.mkstemp(dir=self._folder)
        return SpoolFile(self, Path(name), os.fdopen(descriptor, "wb", buffering=0))

    def take(self, wanted_bytes: int) -> None:
        """Claim room, or SpoolFull."""
        if self._used_bytes + wanted_bytes > self._budget_bytes:
            raise SpoolFull
        self._add(wanted_bytes)

    def give_back(self, taken_bytes: int) -> None:
        """Return what was claimed."""
        self._add(-taken_bytes)

    def _add(self, change_bytes: int) -> None:
        self._used_bytes += change_bytes
        SPOOL_BYTES.set(self._used_bytes)


class SpoolFile:
    """One artifact on its way in."""

    def __init__(self, spool: Spool, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self.size_bytes = 0
        self._spool = spool
        self._file = file
        self._digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Append and hash; SpoolFull if the budget or the disk has no room."""
        self._spool.take(len(data))
        self.size_bytes += len(data)
        self._digest.update(data)
        try:
            _write_all(self._file, data)
        except OSError as error:
            if error.errno in _FULL:
                raise SpoolFull from error
            raise

    def sha256(self) -> str:
        """The hash of what was written so far, in hex."""
        return self._digest.hexdigest()

    def close(self) -> None:
        """Remove the file."""
        self._file.close()
        self.path.unlink(missing_ok=True)
        self._spool.give_back(self.size_bytes)
        self.size_bytes = 0


def _write_all(file: IO[bytes], data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _remove_abandoned(root: Path) -> None:
    for folder in root.glob(f"{PREFIX}*"):
        if _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    """Whether nobody holds the folder's lock; one without a lock is just being made, or not ours to judge."""
    try:
        with (folder / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
