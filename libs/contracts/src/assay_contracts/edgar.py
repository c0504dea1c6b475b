"""What the EDGAR topics carry: registrants to look up, and filings to take in."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from assay_contracts import fields, timestamps
from assay_contracts.fields import Optional
from assay_contracts.shapes import OpenMessage


def _check_date(text: str) -> str:
    if not timestamps.is_date(text):
        raise ValueError("not a calendar date")
    return text


Cik = Annotated[str, Field(pattern=r"^[0-9]{10}$")]


class EdgarCik(OpenMessage):
    """A registrant on `edgar.ciks`; the name is a hint."""

    kind: Literal["edgar.cik"] = "edgar.cik"
    cik: Cik
    reason: Optional[Literal["new_filing", "stale_resolve", "manual"]] = None
    entity_name: Optional[str] = None


class EdgarFiling(OpenMessage):
    """A filing on `edgar.filings`, named by `cik` and `accession`."""

    kind: Literal["edgar.filing"] = "edgar.filing"
    cik: Cik
    accession: Annotated[str, Field(pattern=r"^[0-9]{10}-[0-9]{2}-[0-9]{6}$")]
    form: fields.Words
    filed_at: Optional[Annotated[str, AfterValidator(_check_date)]] = None
    needs_ocr: Optional[bool] = None
