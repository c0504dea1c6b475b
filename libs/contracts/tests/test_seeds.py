"""Our schemas give the verdicts of the schemas that they come from, but for what we refuse by decision."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from assay_contracts import schema
from assay_contracts.errors import InvalidMessage
from hypothesis import given, settings
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from .mutations import mutated
from .test_models import examples

SEED = json.loads((Path(__file__).parent / "seeds" / "resolution.job.v1.json").read_text())


def match_to_the_end(_: object, pattern: str, value: object, __: object) -> Iterator[ValidationError]:
    """`pattern` as ECMA-262 has it: no newline slips through before the end."""
    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value, re.ASCII):
        yield ValidationError("does not match")


EXTEND = cast("Callable[..., Any]", validators.extend)  # pyright: ignore[reportUnknownMemberType]  untyped
JUDGE = EXTEND(Draft202012Validator, validators={"pattern": match_to_the_end})(SEED)


def refused_by_decision(document: Any, refusal: InvalidMessage) -> bool:
    """Whether we refuse it for being stricter: one spelling of timestamps, integers without a fraction."""
    if refusal.pointer == "/enqueued_at":
        return isinstance(document["enqueued_at"], str)
    return refusal.reason == "wrong_type" and "integer" in refusal.text and "2.0" in json.dumps(document)


@settings(max_examples=1_000)
@given(mutated(examples("resolution.job.v1")))
def test_resolution_job_gets_the_verdict_of_its_seed(document: Any) -> None:
    try:
        schema.check("resolution.job.v1", document)
    except InvalidMessage as refusal:
        assert refused_by_decision(document, refusal) or not JUDGE.is_valid(document), document
    else:
        assert JUDGE.is_valid(document), document
