"""The fraud row: one chunk of a corpus that is to be enriched."""

from typing import Literal

from assay_contracts import fields
from assay_contracts.fields import Optional
from assay_contracts.shapes import OpenMessage

FraudTask = Literal["triples", "cleanup", "verify"]


class FraudRow(OpenMessage):
    """A row on `fraud.rows`; a task that is left out is `triples`."""

    kind: Literal["fraud.row"] = "fraud.row"
    corpus_id: fields.Words
    row_no: fields.Count
    chunk_text: str
    task: Optional[FraudTask] = None
