"""Our schemas give the verdicts of the schemas that they come from, but for what we refuse by decision.

`ASSAY_SEED_INSTANCES` says how many documents of each seed are tried.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from assay_contracts import schema
from assay_contracts.errors import InvalidMessage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker, validators
from jsonschema.exceptions import ValidationError

from .decisions import DECISIONS
from .instances import instances
from .mutations import changed_once
from .test_models import examples, model_takes

FOLDER = Path(__file__).parent / "seeds"


def read_seed(path: Path) -> Any:
    """Without `$schema`, at which `jsonschema` would go on with another judge than ours below a reference."""
    return {word: value for word, value in json.loads(path.read_text()).items() if word != "$schema"}


SEEDS: dict[str, Any] = {path.name.removesuffix(".json"): read_seed(path) for path in FOLDER.glob("*.json")}
NAMES = sorted({*SEEDS, *schema.PARTS})
TRIED = int(os.environ.get("ASSAY_SEED_INSTANCES", "400"))
LARGE = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
MUTANTS = 9
"""Documents one step from each that is drawn: drawing costs more than judging."""
README = Path(schema.__file__).parent / "schemas" / "README.md"


def match_to_the_end(_: object, pattern: str, value: object, __: object) -> Iterator[ValidationError]:
    """`pattern` as ECMA-262 has it: no newline slips through before the end, and a digit is one of ten."""
    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value, re.ASCII):
        yield ValidationError("does not match")


EXTEND = cast("Callable[..., Any]", validators.extend)  # pyright: ignore[reportUnknownMemberType]  untyped
FORMATS = FormatChecker()


@FORMATS.checks("date-time")
def is_rfc_3339(value: object) -> bool:
    """As the checker behind `jsonschema` has it, which lets a newline through at the end."""
    return not isinstance(value, str) or (not value.endswith("\n") and FormatChecker().conforms(value, "date-time"))


JUDGE = EXTEND(Draft202012Validator, validators={"pattern": match_to_the_end})


def takes(piece: Any, document: Any) -> bool:
    return JUDGE(piece, format_checker=FORMATS).is_valid(document)


def seed_takes(name: str, document: Any) -> bool:
    """The verdict of a seed, or of one of its definitions."""
    return _seed_judge(name).is_valid(document)


@cache
def _seed_judge(name: str) -> Any:
    file, _, part = name.partition("#")
    judge = JUDGE(SEEDS[file], format_checker=FORMATS)
    return judge.evolve(schema={"$ref": f"#/$defs/{part}"}) if part else judge


@cache
def sources(name: str) -> list[st.SearchStrategy[Any]]:
    return [instances(SEEDS[name.partition("#")[0]], takes), st.sampled_from(examples(name))]


@st.composite
def documents(draw: st.DrawFn, name: str) -> list[Any]:
    """What the seed takes or is an example of ours, and what is one step from it."""
    original = draw(sources(name)[draw(st.sampled_from([0, 0, 1]))])
    return [original, *(draw(changed_once(original)) for _ in range(MUTANTS))]


def refusal_of(name: str, document: Any) -> InvalidMessage | None:
    try:
        schema.check(name, document)
    except InvalidMessage as refusal:
        return refusal
    return None


def allowed(name: str, document: Any, refusal: InvalidMessage | None) -> bool:
    """Whether the seed says the same, or we are stricter by a decision that is written down."""
    taken = seed_takes(name, document)
    if refusal is None or not taken:
        return (refusal is None) == taken
    return any(decision.excuses(refusal, document) for decision in DECISIONS)


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=TRIED // (1 + MUTANTS), suppress_health_check=LARGE)
@given(data=st.data())
def test_a_schema_gives_the_verdict_of_its_seed(name: str, data: st.DataObject) -> None:
    for document in data.draw(documents(name)):
        refusal = refusal_of(name, document)
        assert allowed(name, document, refusal), f"{refusal}: {document}"
        if name != "envelope.v1":
            assert model_takes(name, document) == (refusal is None), f"{refusal}: {document}"


@pytest.mark.parametrize("name", ["job.v1", "job.v1#PublicJob", "job.v1#CredentialedJob"])
def test_a_seed_is_judged_by_the_rules_of_ecma_below_a_reference_too(name: str) -> None:
    job = {**examples("job.v1#CredentialedJob")[0]}
    if name == "job.v1#PublicJob":
        del job["nonce"]
    assert seed_takes(name, job)
    assert not seed_takes(name, {**job, "contentHash": f"{job['contentHash']}\n"})


def test_a_seed_takes_no_newline_behind_a_moment() -> None:
    job = examples("resolution.job.v1")[0]
    assert seed_takes("resolution.job.v1", job)
    assert not seed_takes("resolution.job.v1", {**job, "enqueued_at": f"{job['enqueued_at']}\n"})


def test_every_decision_is_written_down() -> None:
    text = README.read_text("utf-8")
    assert [decision.name for decision in DECISIONS if f"| {decision.name} |" not in text] == []


def test_a_difference_that_nobody_decided_is_found() -> None:
    job = examples("job.v1")[0]
    assert not allowed("job.v1", job, InvalidMessage("unknown_field", "/priority", ""))
    assert not allowed("job.v1", {**job, "priority": "high"}, None)
