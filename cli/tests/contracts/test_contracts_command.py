"""`assay contracts`: the verdict of every process, and what a change of the wire means, told to people and programs."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from assay_cli.main import app
from assay_contracts import schema
from typer.testing import CliRunner, Result

SCHEMAS = Path(schema.__file__).parent / "schemas"
EXAMPLES = SCHEMAS / "examples"
ENVELOPE = EXAMPLES / "envelope.v1"


def run(*arguments: str, data: bytes = b"") -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, ["contracts", *arguments], input=data)


def answer(result: Result) -> Any:
    return json.loads(result.stdout)


def accepted() -> Path:
    return sorted(ENVELOPE.glob("*.json"))[0]


def refused() -> Path:
    return next(path for path in sorted((ENVELOPE / "refused").glob("*.json")) if path.name.startswith("wrong_pattern"))


def test_a_message_is_shown_with_its_type() -> None:
    result = run("decode", "--topic", "resolution.job.v1", str(accepted()))
    assert result.exit_code == 0
    assert "is a ResolutionJob" in result.stdout


def test_standard_input_is_read_where_no_file_is_named() -> None:
    result = run("decode", "--topic", "resolution.job.v1", "--json", data=accepted().read_bytes())
    assert result.exit_code == 0
    (one,) = answer(result)
    assert (one["file"], one["refused"]) == ("-", None)
    assert one["message"]["payload"] == json.loads(accepted().read_bytes())["payload"]


def test_a_refused_message_tells_reason_place_and_text() -> None:
    result = run("decode", "--topic", "resolution.job.v1", str(accepted()), str(refused()))
    assert result.exit_code == 1
    assert "wrong_pattern at '/" in result.stderr
    listed = answer(run("decode", "--topic", "resolution.job.v1", "--json", str(accepted()), str(refused())))
    assert [one["message"] is None for one in listed] == [False, True]
    assert listed[1]["refused"].keys() == {"reason", "pointer", "text"}


def test_bytes_that_are_no_text_are_refused_without_a_traceback() -> None:
    result = run("decode", "--topic", "ocr.jobs", "--json", data=b"\xff\xfe{")
    assert result.exit_code == 1
    assert answer(result)[0]["refused"]["reason"] == "byte_order_mark"


@pytest.mark.parametrize("name", ["capture.v1", "job.v1#PublicJob", "pulse.worker.v1#clientFrame"])
def test_a_document_without_an_envelope_is_read_by_the_name_of_its_schema(name: str) -> None:
    example = sorted((EXAMPLES / name).glob("*.json"))[0]
    assert run("decode", "--schema", name, str(example)).exit_code == 0


def test_a_topic_without_an_envelope_is_read() -> None:
    example = sorted((EXAMPLES / "history.witness.v1").glob("*.json"))[0]
    assert run("decode", "--topic", "history.witness.v1", str(example)).exit_code == 0


def test_a_key_of_another_tenant_is_refused() -> None:
    tenant = json.loads(accepted().read_bytes())["payload"]["tenant_id"]
    named = ("decode", "--topic", "resolution.job.v1", str(accepted()), "--key")
    assert run(*named, tenant).exit_code == 0
    result = run(*named, "ten_other")
    assert result.exit_code == 1
    assert "wrong_key" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--topic", "nowhere"),
        ("--topic", "resolution.job.v1.dlq"),
        ("--schema", "resolution.job.v1"),
        (),
        ("--topic", "ocr.jobs", "--schema", "capture.v1"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_told_in_words(arguments: tuple[str, ...]) -> None:
    result = run("decode", *arguments, data=b"{}")
    assert result.exit_code == 1
    assert "✗" in result.stderr and "Traceback" not in result.output


def test_every_schema_and_topic_is_listed() -> None:
    result = run("list")
    assert all(name in result.stdout for name in (*schema.SCHEMAS, *schema.PARTS, "ocr.jobs.dlq"))
    assert len(answer(run("list", "--json"))["topics"]) == len(list((SCHEMAS / "topics").glob("*.yaml")))


class Copy:
    """A checkout of its own, whose one commit has the contracts as they are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(SCHEMAS, folder / "schemas", ignore=shutil.ignore_patterns("examples", "vectors"))
        self.git("init", "-q")
        self.commit()

    def git(self, *arguments: str) -> None:
        name = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *name, *arguments], cwd=self.folder, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "contracts")

    def edit(self, name: str, **words: object) -> None:
        path = self.folder / "schemas" / name
        document = yaml.safe_load(path.read_text("utf-8"))
        path.write_text(json.dumps({**document, **words}))

    def publish(self, *topics: str) -> None:
        self.edit("published.yaml", topics=list(topics))
        self.commit()


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copy:
    made = Copy(tmp_path / "checkout")
    monkeypatch.chdir(made.folder)
    return made


def test_nothing_changed(copy: Copy) -> None:
    result = run("diff", "HEAD")
    assert result.exit_code == 0
    assert "No contract has changed since HEAD" in result.stdout


def test_a_change_is_classed_for_both_sides_with_the_order(copy: Copy) -> None:
    copy.edit("topics/ocr.jobs.yaml", max_bytes=20_000)
    result = run("diff", "HEAD")
    assert result.exit_code == 0
    assert "Roll out: consumers first, then producers." in result.stdout
    assert "Producers are closed" in result.stdout and "Consumers are open" in result.stdout
    told = answer(run("diff", "HEAD", "--json"))
    assert told["order"] == "consumers"
    assert [(one["contract"], one["producers"], one["consumers"]) for one in told["changes"]] == [
        ("topic ocr.jobs", "none", "first")
    ]


def test_a_breaking_change_fails_once_it_was_promised(copy: Copy) -> None:
    copy.edit("topics/ocr.jobs.yaml", partitions=3)
    assert run("diff", "HEAD").exit_code == 0
    copy.edit("topics/ocr.jobs.yaml", partitions=2)
    copy.publish("ocr.jobs")
    copy.edit("topics/ocr.jobs.yaml", partitions=3)
    result = run("diff", "HEAD")
    assert result.exit_code == 1
    assert "that a release promised" in result.stdout


def test_a_promise_in_the_same_change_as_the_break_does_not_count_as_taken_back(copy: Copy) -> None:
    copy.publish("ocr.jobs")
    copy.edit("topics/ocr.jobs.yaml", partitions=3)
    copy.edit("published.yaml", topics=[])
    assert run("diff", "HEAD").exit_code == 1


def test_the_last_release_is_what_a_change_is_held_against(copy: Copy) -> None:
    copy.publish("ocr.jobs")
    copy.git("tag", "v0.1.0")
    copy.edit("topics/ocr.jobs.yaml", partitions=3)
    copy.commit()
    assert answer(run("diff", "--json"))["since"] == "v0.1.0"


def test_a_checkout_without_an_earlier_commit_has_nothing_to_compare_with(copy: Copy) -> None:
    result = run("diff")
    assert result.exit_code == 0
    assert "No earlier commit is here" in result.stdout


def test_the_commit_before_is_meant_where_there_is_no_release(copy: Copy) -> None:
    copy.edit("topics/ocr.jobs.yaml", owner="somebody")
    copy.commit()
    assert [one["place"] for one in answer(run("diff", "--json"))["changes"]] == ["/owner"]


def test_a_commit_that_is_not_here_and_a_folder_without_contracts_are_told(
    copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "there is no commit 'v9'" in run("diff", "v9").stderr
    monkeypatch.chdir(tmp_path)
    assert run("diff").exit_code == 1


def test_a_generated_document_that_was_edited_or_is_missing_is_found(copy: Copy) -> None:
    made = copy.folder / "docs" / "reference"
    made.parent.mkdir()
    assert run("reference", "--check").exit_code == 1
    assert run("reference").exit_code == 0
    assert run("reference", "--check").exit_code == 0
    for name in ("messages.md", "asyncapi.json"):
        written = (made / name).read_bytes()
        (made / name).write_bytes(written + b"\n")
        result = run("reference", "--check")
        assert result.exit_code == 1
        assert f"docs/reference/{name}" in result.stderr and "make reference" in result.stderr
        (made / name).write_bytes(written)
