"""Kafka's own command-line tools, which are classes in the broker's jars, by the names a distribution gives them."""

from collections.abc import Sequence

from assay_cli.stack.errors import StackError
from assay_cli.stack.kafka import java

_PACKAGE = "org.apache.kafka.tools"
TOOLS = {
    "acls": "AclCommand",
    "broker-api-versions": "BrokerApiVersionsCommand",
    "cluster": "ClusterTool",
    "configs": "ConfigCommand",
    "console-consumer": "consumer.ConsoleConsumer",
    "console-producer": "ConsoleProducer",
    "consumer-groups": "consumer.group.ConsumerGroupCommand",
    "consumer-perf-test": "ConsumerPerformance",
    "delete-records": "DeleteRecordsCommand",
    "dump-log": "DumpLogSegments",
    "features": "FeatureCommand",
    "get-offsets": "GetOffsetShell",
    "groups": "GroupsCommand",
    "leader-election": "LeaderElectionCommand",
    "log-dirs": "LogDirsCommand",
    "metadata-quorum": "MetadataQuorumCommand",
    "producer-perf-test": "ProducerPerformance",
    "reassign-partitions": "reassign.ReassignPartitionsCommand",
    "topics": "TopicCommand",
    "transactions": "TransactionsCommand",
}
_WITHOUT_BROKER = frozenset({"dump-log"})


def command(tool: str, arguments: Sequence[str], bootstrap: str) -> list[str]:
    """The command line of a tool against a broker, which the arguments may name themselves."""
    name = tool.removeprefix("kafka-").removesuffix(".sh")
    if name not in TOOLS:
        raise StackError(f"Kafka has no tool {tool!r} here; there are: {', '.join(TOOLS)}")
    names_broker = any(argument.startswith(("--bootstrap-server", "--bootstrap-controller")) for argument in arguments)
    server = [] if names_broker or name in _WITHOUT_BROKER else ["--bootstrap-server", bootstrap]
    return java(f"{_PACKAGE}.{TOOLS[name]}", [*_verbs(name, arguments, server)])


def _verbs(name: str, arguments: Sequence[str], server: list[str]) -> list[str]:
    """The tools that begin with a verb want the broker before or after it, as each has it."""
    if name == "cluster":
        return [*arguments, *server]
    return [*server, *arguments]
