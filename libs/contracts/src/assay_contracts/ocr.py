"""The OCR job: one stored document whose text is to be read."""

from typing import Annotated, Literal

from pydantic import Field

from assay_contracts import bounds, fields
from assay_contracts.fields import Optional
from assay_contracts.shapes import OpenMessage


class Origin(OpenMessage):
    """The work of another domain that led to the job; for tracing alone."""

    domain: Literal["edgar", "fraud", "manual"]
    ref: str


class OcrJob(OpenMessage):
    """A job on `ocr.jobs`; `job_id` names it however often it is announced."""

    kind: Literal["ocr"] = "ocr"
    job_id: Annotated[str, Field(min_length=1, max_length=bounds.BUSINESS_KEY)]
    ipfs_cid: Annotated[str, Field(pattern=r"^b[a-z2-7]{7,}$")]
    filename: fields.Words
    sha1: Optional[Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]] = None
    bytes: Optional[fields.Count] = None
    total_pages: Optional[fields.Count] = None
    origin: Optional[Origin] = None
