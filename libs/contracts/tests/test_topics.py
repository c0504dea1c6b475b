"""Topic files: listed, consistent, and with a dead-letter topic where a message can be refused."""

from pathlib import Path

import pytest
from assay_contracts import schema
from assay_contracts.errors import UnknownContract
from assay_contracts.messages import MESSAGES
from assay_contracts.topics import TOPICS, topic, topic_of

FOLDER = Path(schema.__file__).parent / "schemas" / "topics"
PROCESSES = {
    "intake.api",
    "stages.extract",
    "stages.normalize",
    "stages.identity",
    "resolver.api",
    "relay.events",
    "relay.jobs",
    "product.apply",
    "operators",
    "anyone",
    "stages.ocr",
    "stages.fraud",
    "stages.ciks",
    "stages.filings",
}


def unlisted(folder: Path) -> set[str]:
    """Topic files that no list names, and listed topics that have no file."""
    return {path.stem for path in folder.glob("*.yaml")} ^ set(TOPICS)


def test_every_topic_file_is_listed() -> None:
    assert unlisted(FOLDER) == set()


def test_a_topic_file_that_nobody_lists_is_found(tmp_path: Path) -> None:
    (tmp_path / "orphan.v1.yaml").write_text("")
    assert "orphan.v1" in unlisted(tmp_path)


@pytest.mark.parametrize("name", TOPICS)
def test_topic_file_is_consistent(name: str) -> None:
    described = topic(name)
    assert described.name == name
    assert described.message is None or described.message in MESSAGES
    assert {*described.producers, *described.consumers} <= PROCESSES
    assert (described.cleanup == "compact") == (described.retention_ms == -1)


def test_every_tenant_topic_has_a_larger_dead_letter_topic_with_as_many_partitions() -> None:
    for described in TOPICS.values():
        if described.key != "tenant" or described.message is None:
            continue
        letters = topic(f"{described.name}.dlq")
        assert described.dead_letter == letters.name
        assert letters.message is None
        assert letters.max_bytes > described.max_bytes
        assert letters.partitions == described.partitions
        assert set(described.consumers) <= set(letters.producers)


def test_a_message_leads_to_its_topic() -> None:
    assert topic_of("catalog.event.v1").name == "catalog.event.v1"
    with pytest.raises(UnknownContract):
        topic_of("receipt.v1")
    with pytest.raises(UnknownContract):
        topic("resolution.job.v2")
