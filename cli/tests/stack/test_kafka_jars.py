"""The jars of Kafka are pinned by version and hash, and by nothing that names a place."""

import tomllib

import pytest
from assay_cli.stack import kafka_jars, kafka_tools
from assay_cli.stack.errors import StackError


def test_the_lock_pins_every_jar_by_hash_and_names_no_address() -> None:
    hashes = kafka_jars.locked_hashes()
    assert {"kafka_2.13-4.4.0.jar", "kafka-clients-4.4.0.jar"} <= hashes.keys()
    assert all(len(sha256) == 64 for sha256 in hashes.values())
    assert "://" not in kafka_jars.LOCK.read_text(encoding="utf-8")


def test_kafka_s_own_versions_win_over_those_of_its_logging() -> None:
    coordinates = tomllib.loads(kafka_jars.SPEC.read_text(encoding="utf-8"))["dependencies"]["coordinates"]
    assert [text for text in coordinates if text.endswith("!")] == ["org.apache.logging.log4j:log4j-slf4j-impl:2.25.5!"]


def test_a_tool_is_found_by_each_of_its_names() -> None:
    commands = [kafka_tools.command(name, ["--list"], "h:1") for name in ("topics", "kafka-topics", "kafka-topics.sh")]
    assert commands[0] == commands[1] == commands[2]
    assert commands[0][-4:] == ["org.apache.kafka.tools.TopicCommand", "--bootstrap-server", "h:1", "--list"]


def test_a_broker_named_by_the_caller_is_kept() -> None:
    command = kafka_tools.command("topics", ["--bootstrap-server=x:2", "--list"], "h:1")
    assert "h:1" not in command


def test_an_unknown_tool_is_answered_with_those_there_are() -> None:
    with pytest.raises(StackError, match="console-consumer"):
        kafka_tools.command("kafkacat", [], "h:1")
