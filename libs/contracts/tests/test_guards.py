"""The folder of contracts has no orphan, hole or dead end, and each guard speaks of a copy that is broken."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from assay_contracts import schema
from assay_contracts.topics import TOPICS

from .guards import folder_faults, unknown_topics

FOLDER = Path(schema.__file__).parent / "schemas"
ROOT = Path(__file__).resolve().parents[3]
KNOWN = {*TOPICS, *schema.SCHEMAS}


def test_the_folder_of_contracts_is_whole() -> None:
    assert folder_faults(FOLDER) == []


def test_code_and_chart_name_topics_that_exist() -> None:
    assert unknown_topics(ROOT, KNOWN) == []


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "schemas"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("examples", "vectors"))
    return folder


def rename(folder: Path, old: str, new: str) -> None:
    (folder / old).rename(folder / new)


def edit(path: Path, **words: object) -> None:
    document = yaml.safe_load(path.read_text("utf-8"))
    path.write_text(json.dumps({**document, **words}))


def add_version(folder: Path, version: str) -> None:
    shutil.copy(folder / "ocr.job.v1.schema.json", folder / f"ocr.job.{version}.schema.json")
    edit(folder / f"ocr.job.{version}.schema.json", **{"$id": f"urn:assay:schema:ocr.job:{version}"})


BREAKS: list[tuple[str, Callable[[Path], object], str]] = [
    ("stray file", lambda folder: (folder / "notes.txt").touch(), "notes.txt is no contract"),
    ("stray topic", lambda folder: (folder / "topics" / "a.yml").touch(), "topics/a.yml is no topic"),
    (
        "named otherwise inside",
        lambda folder: edit(folder / "ocr.job.v1.schema.json", **{"$id": "urn:assay:schema:ocr:v1"}),
        "ocr.job.v1.schema.json is named 'urn:assay:schema:ocr:v1' inside",
    ),
    (
        "without a version",
        lambda folder: rename(folder, "ocr.job.v1.schema.json", "ocr.job.schema.json"),
        "ocr.job.schema.json is named 'urn:assay:schema:ocr.job:v1' inside",
    ),
    (
        "schema hole",
        lambda folder: add_version(folder, "v3"),
        "schema ocr.job.v2 is missing below ocr.job.v3",
    ),
    (
        "topic hole",
        lambda folder: shutil.copy(folder / "topics/catalog.event.v1.yaml", folder / "topics/catalog.event.v3.yaml"),
        "topic catalog.event.v2 is missing below catalog.event.v3",
    ),
    (
        "topic named otherwise inside",
        lambda folder: edit(folder / "topics/ocr.jobs.yaml", name="ocr"),
        "topic ocr.jobs is named 'ocr' inside",
    ),
    (
        "message without a schema",
        lambda folder: (folder / "ocr.job.v1.schema.json").unlink(),
        "topic ocr.jobs carries ocr.job.v1, of which there is no schema",
    ),
    (
        "dead letters to nowhere",
        lambda folder: (folder / "topics/ocr.jobs.dlq.yaml").unlink(),
        "topic ocr.jobs sends what is refused to ocr.jobs.dlq, of which there is no file",
    ),
    (
        "dead letters of nobody",
        lambda folder: edit(folder / "topics/ocr.jobs.yaml", dead_letter=None),
        "topic ocr.jobs.dlq carries no message, and no topic's refused ones",
    ),
    (
        "schema of nobody",
        lambda folder: add_version(folder, "v2"),
        "schema ocr.job.v2 is used by no topic and no API",
    ),
    (
        "API without a schema",
        lambda folder: (folder / "job.v1.schema.json").unlink(),
        "schema job.v1 is used by an API and has no file",
    ),
    (
        "schema promised in vain",
        lambda folder: edit(folder / "published.yaml", schemas=["a.v1"]),
        "schemas a.v1 is promised and has no file",
    ),
    (
        "topic promised in vain",
        lambda folder: edit(folder / "published.yaml", topics=["a.v1"]),
        "topics a.v1 is promised and has no file",
    ),
]


@pytest.mark.parametrize(("break_it", "fault"), [one[1:] for one in BREAKS], ids=[one[0] for one in BREAKS])
def test_a_broken_folder_is_found(copy: Path, break_it: Callable[[Path], object], fault: str) -> None:
    break_it(copy)
    assert fault in folder_faults(copy)


@pytest.mark.parametrize(
    ("file", "text", "named"),
    [
        ("services/a.py", 'TOPIC = "ocr.job"', "ocr.job"),
        ("services/a.py", 'read = topic("ocr.jobz")', "ocr.jobz"),
        ("services/a.py", 'decode("fraud.row", b"")', "fraud.row"),
        ("cli/a.py", 'TOPICS["edgar.cik"]', "edgar.cik"),
        ("libs/a.py", 'names = ["catalog.event.v2"]', "catalog.event.v2"),
        ("libs/a.py", 'names = ["catalog.event.v2.dlq"]', "catalog.event.v2.dlq"),
        ("helm/assay/values.yaml", "topics: [catalog.event.v2]", "catalog.event.v2"),
        ("helm/assay/templates/a.tpl", "--topic ocr.jobz.dlq", "ocr.jobz.dlq"),
    ],
)
def test_a_topic_that_no_file_has_is_found(tmp_path: Path, file: str, text: str, named: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text)
    assert unknown_topics(tmp_path, KNOWN) == [f"{file} names {named}"]


def test_what_is_no_topic_is_not_taken_for_one(tmp_path: Path) -> None:
    (tmp_path / "helm").mkdir()
    (tmp_path / "helm" / "a.yaml").write_text("apiVersion: apps/v1\nimage: ghcr.example/a.v1/b\nkey: ocr.jobs\n")
    (tmp_path / "libs").mkdir()
    (tmp_path / "libs" / "a.py").write_text('version = "v1"\nkind = "ocr.job"\n')
    assert unknown_topics(tmp_path, KNOWN) == []
