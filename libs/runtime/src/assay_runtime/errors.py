"""Every failure that the runtime raises, named by what its caller can do about it."""

from collections.abc import Mapping


class AssayRuntimeError(Exception):
    """Something the runtime looks after went wrong."""


class KafkaUnavailable(AssayRuntimeError):
    """Kafka did not acknowledge in time; the message may still arrive later, so repeat it and expect a duplicate."""


class DeliveryFailed(AssayRuntimeError):
    """Kafka refused at least one message of a batch; nothing is promised about the others that are not in `failed`."""

    def __init__(self, failed: Mapping[int, str], *, permanent: bool, fatal: bool = False) -> None:
        """`failed` maps a message's index in its batch to Kafka's error name.

        `permanent`: repeating the message cannot help. `fatal`: the producer could not go on and was replaced.
        """
        super().__init__(", ".join(f"message {index}: {name}" for index, name in sorted(failed.items())))
        self.failed = failed
        self.permanent = permanent
        self.fatal = fatal


class TopicMismatch(AssayRuntimeError):
    """A topic exists with another partition count than its file says, and that count is final."""


class EvidenceUnavailable(AssayRuntimeError):
    """The evidence store did not answer, or answered that it cannot serve now."""


class EvidenceMissing(AssayRuntimeError):
    """The evidence store has no object under this reference."""


class EvidenceMismatch(AssayRuntimeError):
    """Stored bytes, or bytes about to be stored, do not have the sha256 that names them."""


class EvidenceStoreUnfit(AssayRuntimeError):
    """The evidence store ignores If-None-Match, so two writers could overwrite each other: refused at start."""


class MigrationAltered(AssayRuntimeError):
    """A migration that was already applied has other bytes than the file of that name; write a new file instead."""


class MigrationsMissing(AssayRuntimeError):
    """The database lacks migrations that this process needs; apply them before it starts."""


class InvalidSqlFile(AssayRuntimeError):
    """A file of named statements or a folder of migrations does not follow its format."""


class InvalidKey(AssayRuntimeError):
    """The text is not an API key of ours: wrong shape or wrong checksum."""


class UnlistedField(AssayRuntimeError):
    """A log line has a field that no list allows."""


class OpenRoute(AssayRuntimeError):
    """A route of an API asks for no scope, so that anybody could use it."""


class FailpointRaised(AssayRuntimeError):
    """An armed failpoint raised, as the test asked."""
