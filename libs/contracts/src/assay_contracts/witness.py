"""The history witness: the last known epoch and clock of a resolver database, kept outside of it."""

from typing import Annotated, Literal

from pydantic import Field

from assay_contracts import bounds, fields
from assay_contracts.fields import Message


class HistoryWitness(Message):
    """A record of the compacted topic; its Kafka key is `database_id`. `clock` only ever rises."""

    schema_version: Literal["history.witness/1"] = "history.witness/1"
    database_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    history_epoch: fields.HistoryEpoch
    ordinal: Annotated[int, Field(ge=1, le=bounds.COUNT)]
    clock: Annotated[int, Field(ge=0, le=bounds.POSITION)]
    written_at: fields.Timestamp
