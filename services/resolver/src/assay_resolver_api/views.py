"""What the resolver's API answers: cases, decisions, lineage and dead letters as documents."""

from collections.abc import Sequence

from assay_contracts.timestamps import timestamp
from assay_resolver.decisions import Decided
from pydantic import BaseModel

from assay_resolver_api.store import LetterRow


class CaseSummary(BaseModel):
    """A question: what kind, about which listing as read in which reading, and how it stands."""

    case_id: str
    kind: str
    listing_id: str
    reading_id: str
    reason: str
    state: str
    revision: int
    decision_id: str | None
    opened_at: str
    closed_at: str | None


class CasePage(BaseModel):
    """Cases, oldest first; `next` is the `after` of the following page, null at the end."""

    cases: list[CaseSummary]
    next: str | None


class ListingView(BaseModel):
    """The thing of a source that a case is about."""

    listing_id: str
    source_id: str
    key: str
    url: str | None
    state: str
    item_id: str | None


class FactView(BaseModel):
    """What the listing's page states, and where."""

    fact: str
    name: str
    line: str | None
    value: dict[str, object] | None
    raw: str
    sha256: str
    place_syntax: str
    place: str
    adapter: str
    profile: str


class VerdictView(BaseModel):
    """A person's word that two things differ; naming its decision overrules it."""

    left: str
    right: str
    decision_id: str


class CandidateView(BaseModel):
    """An item that the listing may be: how much it resembles it, and its accepted values by name."""

    item_id: str
    score: str | None
    features: dict[str, object] | None
    attributes: dict[str, dict[str, object]]
    verdicts: list[VerdictView]


class CaseView(CaseSummary):
    """A case with the listing's facts beside each candidate."""

    listing: ListingView
    facts: list[FactView]
    candidates: list[CandidateView]


class ChangeView(BaseModel):
    """One event of a decision."""

    aggregate: str
    id: str
    revision: int
    type: str
    position: int


class DecisionView(BaseModel):
    """What a decision changed; `repeated` if it stood already and this request did nothing."""

    decision_id: str
    repeated: bool
    events: list[ChangeView]


class DecisionSummary(BaseModel):
    """Who decided what, when and why."""

    decision_id: str
    action: str
    actor: str
    rationale: str
    undoes: str | None
    decided_at: str


class DecisionPage(BaseModel):
    """Decisions, newest first; `next` is the `before` of the following page, null at the end."""

    decisions: list[DecisionSummary]
    next: str | None


class PartView(BaseModel):
    """One thing that a decision asserted, and what stood before it; null is its absence."""

    kind: str
    id: str
    before: dict[str, object] | None
    after: dict[str, object] | None


class WholeDecisionView(DecisionSummary):
    """A decision with what it rests on, its events, its parts, and the decisions that undid it."""

    basis: dict[str, object]
    evidence: list[str]
    prior: list[str]
    events: list[ChangeView]
    parts: list[PartView]
    undone_by: list[str]


class WholeListingView(ListingView):
    """A listing with its mapping: home is asserted, item its root, revision that of the mapping, 0 before the first."""

    serial: int
    home_item_id: str | None
    revision: int
    keys: list[str]
    wrong_keys: list[str]
    open_cases: list[str]


class EventView(BaseModel):
    """Where a change stands in the catalog's history."""

    event_id: str
    history_epoch: str
    position: int


class DecidedBy(BaseModel):
    """The decision that accepted a value."""

    decision_id: str
    action: str
    actor: str
    rationale: str
    decided_at: str


class SupportView(BaseModel):
    """A fact that a value rests on, down to its bytes and their receipt."""

    fact: str
    name: str
    raw: str
    value: dict[str, object]
    place_syntax: str
    place: str
    adapter: str
    profile: str
    sha256: str
    bytes: int
    media_type: str
    ref: str
    capture_id: str
    source_id: str
    url: str | None
    key: str | None
    observed_at: str
    receipt_id: str
    received_at: str


class ContenderView(BaseModel):
    """A value that a source states and that does not stand, and what decided against it."""

    value: dict[str, object]
    raw: str
    fact: str
    source_id: str
    listing_id: str
    because: str


class AttributeLineage(BaseModel):
    """One accepted value, everything that it rests on, and what is stated against it."""

    attribute_id: str
    owner_type: str
    owner_id: str
    name: str
    line: str | None
    value: dict[str, object]
    by: str
    revision: int
    event: EventView
    decision: DecidedBy
    support: list[SupportView]
    against: list[ContenderView]


class LineageView(BaseModel):
    """Why an item's values, and those of its listings, are what they are."""

    item_id: str
    catalog_id: str
    attributes: list[AttributeLineage]


class LetterView(BaseModel):
    """A message that was given up on."""

    id: str
    topic: str
    partition: int
    offset: int
    job_id: str | None
    stage: str | None
    reason: str
    cause: str
    size_bytes: int | None
    created_at: str
    published_at: str | None


class LetterPage(BaseModel):
    """Dead letters, newest first; `next` is the `after` of the following page, null at the end."""

    dead_letters: list[LetterView]
    next: str | None


def decision_view(decided: Decided) -> DecisionView:
    """A decision's result."""
    events = [
        ChangeView(
            aggregate=change.aggregate,
            id=change.id,
            revision=change.revision,
            type=change.type,
            position=change.position,
        )
        for change in decided.events
    ]
    return DecisionView(decision_id=decided.decision_id, repeated=decided.repeated, events=events)


def letter_page(rows: Sequence[LetterRow], limit: int) -> LetterPage:
    """The first `limit` rows; one more says that a page follows."""
    letters = [_letter_view(row) for row in rows[:limit]]
    return LetterPage(dead_letters=letters, next=letters[-1].id if len(rows) > limit else None)


def _letter_view(row: LetterRow) -> LetterView:
    return LetterView(
        id=f"{row.topic_id}:{row.partition}:{row.offset}",
        topic=row.topic,
        partition=row.partition,
        offset=row.offset,
        job_id=row.job_id,
        stage=row.stage,
        reason=row.reason,
        cause=row.cause,
        size_bytes=row.size_bytes,
        created_at=timestamp(row.created_at),
        published_at=row.published_at and timestamp(row.published_at),
    )
