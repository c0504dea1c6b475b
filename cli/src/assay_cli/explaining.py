"""Walks a value back to its bytes: fetches each artifact, checks its hash, and reads the place again."""

import hashlib
import json
from dataclasses import dataclass
from typing import cast

from assay_resolver import pins
from assay_resolver.reading import canonical
from assay_stages.errors import PlaceNotFound, UnknownPin
from assay_stages.extract.facts import PlaceSyntax
from assay_stages.verify import Claim, verify

from assay_cli.client import Client, Document
from assay_cli.commands.output import rows_of

RAW_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a fact still stands: its bytes have their hash, its raw text its place, its value its derivation."""

    hash_stands: bool
    raw_stands: bool
    value_stands: bool
    problem: str | None = None

    @property
    def holds(self) -> bool:
        return self.hash_stands and self.raw_stands and self.value_stands


def verify_lineage(client: Client, values: list[Document]) -> dict[str, Verdict]:
    """The verdict on every fact behind some values, by fact id; each artifact is fetched once."""
    artifacts: dict[str, bytes] = {}
    verdicts: dict[str, Verdict] = {}
    for value in values:
        for fact in rows_of(value["support"]):
            sha256 = str(fact["sha256"])
            if sha256 not in artifacts:
                artifacts[sha256] = client.get_bytes("intake", f"/v1/evidence/{sha256}")
            verdicts[str(fact["fact"])] = verify_fact(artifacts[sha256], fact)
    return verdicts


def verify_fact(content: bytes, fact: Document) -> Verdict:
    """Check one fact of a lineage document against its artifact's bytes."""
    hash_stands = hashlib.sha256(content).hexdigest() == fact["sha256"]
    if fact["adapter"] == pins.ADAPTER:
        stated = canonical(cast("Document", cast("Document", json.loads(content))["value"]))
        return Verdict(hash_stands, stated == fact["raw"], stated == canonical(_value(fact)))
    claim = Claim(
        adapter=str(fact["adapter"]),
        profile=str(fact["profile"]),
        name=str(fact["name"]),
        place_syntax=cast("PlaceSyntax", fact["place_syntax"]),
        place=str(fact["place"]),
        raw=str(fact["raw"]),
    )
    url = None if fact["url"] is None else str(fact["url"])
    try:
        verified = verify(content, str(fact["media_type"]), url, claim)
    except (UnknownPin, PlaceNotFound) as failure:
        return Verdict(hash_stands, False, False, str(failure))
    return Verdict(hash_stands, verified.raw_stands, verified.value == canonical(_value(fact)), verified.problem)


def _value(fact: Document) -> Document:
    return cast("Document", fact["value"])
