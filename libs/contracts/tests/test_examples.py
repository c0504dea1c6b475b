"""Examples are part of the contract: each is read, and each refused one is refused for the reason in its name."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from assay_contracts import schema
from assay_contracts.decoder import DOCUMENTS, decode, decode_document
from assay_contracts.encoder import encode, encode_document
from assay_contracts.envelope import Envelope
from assay_contracts.errors import REASONS, InvalidMessage
from assay_contracts.messages import MESSAGES, Message, Payload
from assay_contracts.topics import TOPICS, topic_of

EXAMPLES = Path(schema.__file__).parent / "schemas" / "examples"
FOLDERS = {*schema.SCHEMAS, *schema.PARTS}
SHOWN_BY_OTHER_TESTS = {"null_value", "too_large", "value_too_large", "null_key", "wrong_key", "not_modelled"}
WRAP = b'{"version":1,"id":"0192f4e2-7c10-7c71-a4b1-0a3f1c2b8d44","ts":1747639400,"attempt":1,"payload":%s}'


def accepted(root: Path = EXAMPLES) -> list[Path]:
    return sorted(root.glob("*/*.json"))


def refused(root: Path = EXAMPLES) -> list[Path]:
    return sorted(root.glob("*/refused/*.json"))


def name_of(path: Path) -> str:
    return path.relative_to(EXAMPLES).parts[0]


def read(path: Path) -> Envelope[Payload] | Message:
    """An example as its reader gets it: a payload inside an envelope, the rest as it stands."""
    data = path.read_bytes()
    name = name_of(path)
    if name == "envelope.v1":
        return decode("resolution.job.v1", data)
    if name in DOCUMENTS:
        return decode_document(name, data)
    return decode(topic_of(name).name, WRAP % data.rstrip(b"\n"))


def faults_of(root: Path) -> Iterator[str]:
    """What is wrong with a folder of examples."""
    folders = {folder.name for folder in root.iterdir()}
    yield from (f"{name} belongs to no schema" for name in folders - FOLDERS)
    yield from (f"{name} has no examples" for name in FOLDERS - folders)
    for folder in (root / name for name in folders & FOLDERS):
        if not any(path.suffix == ".json" for path in folder.iterdir()):
            yield f"{folder.name} has no example"
        if not any((folder / "refused").glob("*.json")):
            yield f"{folder.name} has no refused example"
    known = {*accepted(root), *refused(root)}
    yield from (f"{path.name} is read by no test" for path in root.rglob("*") if path.is_file() and path not in known)
    for path in refused(root):
        if path.stem.split("-")[0] not in REASONS:
            yield f"{path.name} begins with no reason"


@pytest.mark.parametrize("path", accepted(), ids=lambda path: f"{name_of(path)}/{path.stem}")
def test_example_is_read_and_written_again_as_it_was(path: Path) -> None:
    message = read(path)
    data = encode(message) if isinstance(message, Envelope) else encode_document(message)
    document = json.loads(data)
    original = json.loads(path.read_bytes())
    if name_of(path) == "envelope.v1":
        original = {key: original[key] for key in ("version", "id", "ts", "attempt", "payload")}
    elif isinstance(message, Envelope):
        document = document["payload"]
    assert document == original


@pytest.mark.parametrize("path", refused(), ids=lambda path: f"{name_of(path)}/{path.stem}")
def test_refused_example_is_refused_for_the_reason_in_its_name(path: Path) -> None:
    with pytest.raises(InvalidMessage) as caught:
        read(path)
    assert caught.value.reason == path.stem.split("-")[0], str(caught.value)


def test_examples_have_no_orphans_and_no_holes() -> None:
    assert list(faults_of(EXAMPLES)) == []


def test_an_orphan_or_a_hole_among_examples_is_found(tmp_path: Path) -> None:
    (tmp_path / "envelope.v2").mkdir()
    (tmp_path / "receipt.v1" / "refused").mkdir(parents=True)
    (tmp_path / "receipt.v1" / "refused" / "bad_mood-x.json").write_text("{}")
    (tmp_path / "receipt.v1" / "notes.txt").write_text("")
    found = set(faults_of(tmp_path))
    assert {
        "envelope.v2 belongs to no schema",
        "capture.v1 has no examples",
        "receipt.v1 has no example",
        "notes.txt is read by no test",
        "bad_mood-x.json begins with no reason",
    } <= found


def test_every_reason_is_shown() -> None:
    shown = {path.stem.split("-")[0] for path in refused()}
    assert shown | SHOWN_BY_OTHER_TESTS == REASONS


def test_every_message_but_the_envelope_has_a_model() -> None:
    unmodelled = {name for name in FOLDERS - set(MESSAGES) if not name.startswith("pulse.worker.v1")}
    assert unmodelled == {"envelope.v1"}


def test_what_is_read_is_what_has_a_schema() -> None:
    carried = {topic.message for topic in TOPICS.values()} - {None, "history.witness.v1"}
    assert {*carried, *DOCUMENTS, "envelope.v1"} == FOLDERS
