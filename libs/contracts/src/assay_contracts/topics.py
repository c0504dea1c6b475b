"""The topics, as their files in `schemas/topics` describe them."""

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from assay_contracts.errors import UnknownContract

Names = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


class Topic(BaseModel):
    """One topic. `max_bytes` counts the whole Kafka value; `message` is None where bytes pass through untouched."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    name: str
    message: str | None
    owner: str
    producers: Names
    consumers: Names
    key: Literal["tenant", "database"]
    partitions: Annotated[int, Field(ge=1)]
    retention_ms: Annotated[int, Field(ge=-1)]
    cleanup: Literal["delete", "compact"]
    max_bytes: Annotated[int, Field(ge=1)]
    dead_letter: str | None


def topic(name: str) -> Topic:
    """The topic of this name; UnknownContract if no file describes it."""
    if name not in TOPICS:
        raise UnknownContract(f"no topic is named {name!r}")
    return TOPICS[name]


def topic_of(message: str) -> Topic:
    """The topic that carries a message."""
    for candidate in TOPICS.values():
        if candidate.message == message:
            return candidate
    raise UnknownContract(f"no topic carries {message!r}")


def _read(name: str) -> Topic:
    text = files("assay_contracts").joinpath("schemas", "topics", f"{name}.yaml").read_text("utf-8")
    return Topic.model_validate(yaml.safe_load(text))


TOPICS: Final[Mapping[str, Topic]] = MappingProxyType(
    {
        name: _read(name)
        for name in (
            "resolution.job.v1",
            "resolution.job.v1.dlq",
            "catalog.event.v1",
            "catalog.event.v1.dlq",
            "history.witness.v1",
            "ocr.jobs",
            "ocr.jobs.dlq",
            "fraud.rows",
            "fraud.rows.dlq",
            "edgar.ciks",
            "edgar.ciks.dlq",
            "edgar.filings",
            "edgar.filings.dlq",
        )
    }
)
