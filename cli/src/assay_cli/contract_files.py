"""The contracts as a git checkout has them: of its work tree, and of a commit."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from assay_cli.errors import CommandError

FOLDER = "schemas"
RELEASES = "v[0-9]*"


class Checkout:
    """The git checkout that a folder lies in; CommandError where there is none or it has no contracts."""

    def __init__(self, folder: Path) -> None:
        self._root = folder
        self._root = Path(self._git("rev-parse", "--show-toplevel").decode().strip())
        if not (self._root / FOLDER / "topics").is_dir():
            raise CommandError(f"{self._root} is no checkout of Assay: it has no {FOLDER}/topics")

    def path(self, name: str) -> Path:
        """A file of the work tree by its path from the root."""
        return self._root / name

    def now(self) -> Mapping[str, bytes]:
        """The files of the work tree by their paths below `schemas`, examples left out."""
        folder = self._root / FOLDER
        paths = [path for pattern in ("*.*", "topics/*") for path in folder.glob(pattern)]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.is_file()}

    def at(self, revision: str) -> Mapping[str, bytes]:
        """The same of a commit."""
        commit = self._commit(revision)
        if commit is None:
            raise CommandError(f"there is no commit {revision!r} here; a shallow clone has only its last ones")
        listed = self._git("ls-tree", "-z", "--name-only", commit, f"{FOLDER}/", f"{FOLDER}/topics/")
        names = [name for name in listed.decode().split("\0") if Path(name).suffix in (".json", ".yaml")]
        return {
            Path(name).relative_to(FOLDER).as_posix(): self._git("cat-file", "blob", f"{commit}:{name}")
            for name in names
        }

    def last_release_or_parent(self) -> str | None:
        """What a change is held against: the last release, else the commit before; None if neither is here."""
        described = self._run("describe", "--tags", "--abbrev=0", f"--match={RELEASES}", "HEAD")
        tag = described.stdout.decode().strip() if described.returncode == 0 else ""
        return tag or self._commit("HEAD^")

    def _commit(self, revision: str) -> str | None:
        found = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        return found.stdout.decode().strip() if found.returncode == 0 else None

    def _git(self, *arguments: str) -> bytes:
        ended = self._run(*arguments)
        if ended.returncode:
            raise CommandError(f"git {arguments[0]}: {ended.stderr.decode(errors='replace').strip()}")
        return ended.stdout

    def _run(self, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
        command = ["git", "-c", "safe.directory=*", "-C", str(self._root), *arguments]
        try:
            return subprocess.run(command, capture_output=True, check=False)
        except FileNotFoundError:
            raise CommandError("git is needed to look at earlier contracts, and is not installed") from None
