"""What the pages name exists: links, targets, commands with their options; no file names a machine or a registry."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
import typer.main
from assay_cli.main import app
from assay_contracts.decoder import decode_document
from typer.core import TyperGroup

from .documents import ROOT, files, pages, read

LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
CODE = re.compile(r"^```[a-z]*\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
TO_KAFKA = ("kafka",)
"""Commands whose later options belong to somebody else."""

MACHINES = (r"/root/", r"/work/", r"/home/[a-z]", r"/tmp/[a-z]*plan", r"/Users/")
REGISTRIES = (
    "pypi" + r"\.org",
    "pythonhosted" + r"\.org",
    r"repo1?\.maven",
    "maven" + r"\.org",
    "proxy" + r"\.golang",
    "npmjs" + r"\.",
)
PAGES_OF_STRANGERS = Path("cli/src/assay_cli/demo_pages")

ASSAY = typer.main.get_command(app)
PAGES = pytest.mark.parametrize("page", pages(), ids=str)


def _links(page: Path) -> list[str]:
    """What is linked; in code, brackets are something else."""
    return LINK.findall(CODE.sub("", read(page)))


def _code(page: Path) -> str:
    """Everything in blocks and backticks, a line each."""
    return "\n".join(block or inline for block, inline in CODE.findall(read(page)))


@PAGES
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    targets = [link.partition("#")[0] for link in _links(page) if "://" not in link]
    assert [one for one in targets if one and not (ROOT / page.parent / unquote(one)).exists()] == []


@PAGES
def test_every_make_target_exists(page: Path) -> None:
    makefile = read("Makefile")
    processes = re.findall(r"^PROCESSES := (.*)$", makefile, re.MULTILINE)[0].split()
    known = {*re.findall(r"^([a-z-]+):", makefile, re.MULTILINE), *(f"run-{name}" for name in processes), "run-PROCESS"}
    named = re.findall(r"^make((?: [A-Za-z-]+\b(?!=))+)", _code(page), re.MULTILINE)
    assert {target for targets in named for target in targets.split()} - known == set()


@PAGES
def test_every_command_exists_with_its_options(page: Path) -> None:
    assert [command for command in _commands(page) if _unknown(command)] == []


def _commands(page: Path) -> Iterator[str]:
    for line in _code(page).splitlines():
        found = re.match(r"(?:\$ )?(?:\.venv/bin/)?assay ((?:(?!  | …|$).)+)", line)
        if found:
            yield found[1]


def _unknown(written: str) -> str:
    """What of a written command there is not; '' if all of it is."""
    command = ASSAY
    words = shlex.split(written)
    while words and isinstance(command, TyperGroup) and not words[0].startswith("-"):
        if words[0] not in command.commands:
            return words[0]
        command = command.commands[words.pop(0)]
    if command.name in TO_KAFKA:
        return ""
    options = {option for one in command.params for option in (*one.opts, *one.secondary_opts)} | {"--help"}
    return next((word for word in words if word.startswith("--") and word not in options), "")


@PAGES
def test_every_capture_that_a_page_shows_would_be_taken(page: Path) -> None:
    for shown in re.findall(r'\{"schema_version": "capture/1".*?\}(?=;type|\n)', _code(page), re.DOTALL):
        assert decode_document("capture.v1", shown.encode()).fetch_status == 200


def test_decisions_are_numbered_without_a_hole_and_listed() -> None:
    written = sorted(path.name for path in pages() if path.parent == Path("docs/adr") and path.name != "README.md")
    assert [name[:4] for name in written] == [f"{number:04}" for number in range(1, len(written) + 1)]
    listed = re.findall(
        r"^\| \[(\d{4})\]\((\d{4}-[a-z0-9-]+\.md)\) \| (.+) \|$", read("docs/adr/README.md"), re.MULTILINE
    )
    assert [name for _, name, _ in listed] == written
    for number, name, title in listed:
        text = read(Path("docs/adr") / name)
        assert text.startswith(f"# {number}: {title}\n\nAccepted")
        assert [part for part in ("Context", "Decision", "Consequences") if f"\n## {part}\n" not in text] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, open_pages = set[Path](), [Path("README.md")]
    while open_pages:
        page = open_pages.pop()
        if page not in reached and page in pages():
            reached.add(page)
            targets = [link.partition("#")[0] for link in _links(page) if "://" not in link]
            found = [(ROOT / page.parent / target).resolve().relative_to(ROOT) for target in targets if target]
            open_pages += [one / "README.md" if (ROOT / one).is_dir() else one for one in found]
    assert [page for page in pages() if page.parts[0] == "docs" and page not in reached] == []


def test_no_file_names_a_machine_or_a_registry() -> None:
    pattern = re.compile("|".join((*MACHINES, *REGISTRIES)))
    found: list[str] = []
    for path in files():
        content = (ROOT / path).read_bytes()
        mine = path == Path(__file__).relative_to(ROOT) or PAGES_OF_STRANGERS in path.parents
        if not mine and b"\0" not in content[:8192]:
            lines = content.decode(errors="replace").splitlines()
            found += [f"{path}:{number}" for number, line in enumerate(lines, 1) if pattern.search(line)]
    assert found == []
