"""Which item a listing is: keys, vetoes, scores and the rule that judges; pure, so that a person can replay it."""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from typing import Final, Literal, NamedTuple

from assay_resolver.reading import Fact, Reading

MODEL: Final = "fixed@1"
"""Names the weights below wherever a score is kept."""

EXACT: Final = ("gtin", "brand_mpn")
NEW_BELOW: Final = Decimal("0.10")
MAX_WORD_BYTES: Final = 400
MAX_BLOCK: Final = 200
MAX_CANDIDATES: Final = 50

NO_BRAND: Final = frozenset(
    {"unbranded", "generic", "no brand", "nobrand", "n/a", "na", "none", "does not apply", "unknown", "other", "oem"}
)

Via = Literal["gtin", "brand_mpn"]


class Key(NamedTuple):
    """What a listing can be found by; kinds in EXACT decide, others only find candidates."""

    kind: str
    value: str

    @property
    def name(self) -> str:
        """The key in one word, as verdicts name it."""
        return f"{self.kind}:{self.value}"

    @classmethod
    def named(cls, name: str) -> "Key":
        """The key of a name."""
        kind, _, value = name.partition(":")
        return cls(kind, value)


def keys_of(reading: Reading) -> frozenset[Key]:
    """Every exact and blocking key of a reading."""
    return frozenset(_exact(reading)) | frozenset(_blocking(reading))


def exact(keys: Iterable[Key]) -> frozenset[Key]:
    """Those keys that decide."""
    return frozenset(key for key in keys if key.kind in EXACT)


def heard(reading: Reading, wrong: Collection[Key]) -> Reading:
    """The reading without the facts that make keys which a person called wrong."""
    if not wrong:
        return reading
    return replace(reading, facts=tuple(fact for fact in reading.facts if not _makes(fact, wrong)))


def _makes(fact: Fact, keys: Iterable[Key]) -> bool:
    if fact.name == "gtin":
        return Key("gtin", _words(fact)) in keys
    return fact.name == "mpn" and squash(_words(fact)) in {
        key.value.rpartition("|")[2] for key in keys if key.kind == "brand_mpn"
    }


def gtins(keys: Iterable[Key]) -> frozenset[str]:
    """The gtins among some keys, 14 digits each."""
    return frozenset(key.value for key in keys if key.kind == "gtin")


def fold(text: str) -> str:
    """Compare names as people do: compatibility forms, case and runs of white space make no difference."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _exact(reading: Reading) -> Iterable[Key]:
    gtin = _text(reading, "gtin")
    if gtin:
        yield Key("gtin", gtin)
    brand, mpn, sku = fold(_text(reading, "brand")), squash(_text(reading, "mpn")), squash(_text(reading, "sku"))
    if brand and brand not in NO_BRAND and _is_model_number(mpn) and mpn != sku:
        yield Key("brand_mpn", f"{_short(brand)}|{mpn}")


def squash(text: str) -> str:
    """A code without what people put between its letters and digits, upper case."""
    return re.sub(r"[^A-Z0-9]", "", unicodedata.normalize("NFKC", text).upper())


def _is_model_number(code: str) -> bool:
    return len(code) >= 4 and any(character.isdigit() for character in code)


def _blocking(reading: Reading) -> Iterable[Key]:
    brand, tokens = fold(_text(reading, "brand")), tokens_of(_text(reading, "name"))
    for token in tokens:
        if brand and _is_model_number(squash(token)):
            yield Key("brand_model", f"{_short(brand)}|{_short(squash(token))}")
    telling = sorted(tokens - set(tokens_of(brand)), key=lambda token: (-len(token), token))[:5]
    for pair in combinations(sorted(telling), 2):
        yield Key("token_pair", "|".join(map(_short, pair)))


def _short(word: str) -> str:
    """A word as part of a key: one that no index entry holds stands there by its hash."""
    held = word.encode()
    return word if len(held) <= MAX_WORD_BYTES else f"sha256:{hashlib.sha256(held).hexdigest()}"


def tokens_of(text: str) -> frozenset[str]:
    """The words and codes of a name, folded; single characters say too little."""
    return frozenset(token for token in re.split(r"[^\w.\-]+", fold(text)) if len(token) > 1)


def _text(reading: Reading, name: str) -> str:
    fact = reading.first(name)
    return "" if fact is None else _words(fact)


def _words(fact: Fact) -> str:
    document = fact.document
    return str(document.get("text") or document.get("code") or "")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item as the rule sees it. keys: exact ones of all its listings. verdict: a person said that they differ."""

    item_id: str
    active: bool
    name: str
    brand: str
    keys: frozenset[Key]
    verdict: bool = False


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's likeness to a reading, 0 to 1, and what it was made of."""

    item_id: str
    score: Decimal
    features: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Accept:
    """The exact key leads to one item and nothing speaks against it."""

    item_id: str
    via: Via


@dataclass(frozen=True, slots=True)
class Create:
    """No item is like it."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A question for a person: which kind, why, and the items it is about."""

    kind: Literal["match", "collision"]
    reason: str
    items: tuple[str, ...]
    scored: tuple[Scored, ...] = ()


Judgement = Accept | Create | Doubt


def judge(reading: Reading, roots: Mapping[Key, str | None], known: Mapping[str, Candidate]) -> Judgement:
    """Judge an unmapped reading.

    roots: for each exact key of the reading that the catalog knows, its item, or None where several share it.
    known: every item in `roots` and every item that a blocking key found, by id.
    """
    decided = {key: item_id for key, item_id in roots.items() if item_id is not None}
    items = sorted(set(decided.values()))
    if len(items) > 1:
        return Doubt("collision", "keys_lead_to_several_items", tuple(items))
    if not items:
        return _judge_by_likeness(reading, bool(roots), known)
    via: Via = "gtin" if any(key.kind == "gtin" for key in decided) else "brand_mpn"
    veto = veto_of(reading, known[items[0]], via)
    if veto is None:
        return Accept(items[0], via)
    if veto == "other_gtin" and via == "brand_mpn":
        return Create()
    return Doubt("collision", veto, (items[0],))


def veto_of(reading: Reading, item: Candidate, via: Via | None) -> str | None:
    """What forbids a rule to map the reading to the item, if anything does."""
    stated, held = gtins(keys_of(reading)), gtins(item.keys)
    if not item.active:
        return "item_is_retired"
    if item.verdict:
        return "a_person_said_they_differ"
    if via != "gtin" and stated and held and not stated & held:
        return "other_gtin"
    if pack_count(_text(reading, "name")) != pack_count(item.name):
        return "other_pack_count"
    return None


_PACK: Final = re.compile(
    r"\b(?:pack|set|box|case|lot) of (\d{1,4})\b|\b(\d{1,4})[ -]?(?:pack|pk|count|ct|er[ -]pack)\b|\bx ?(\d{1,3})\b$"
)


def pack_count(name: str) -> int:
    """How many pieces the name says there are; 1 where it says nothing."""
    match = _PACK.search(fold(name))
    return int(next(group for group in match.groups() if group)) if match else 1


def _judge_by_likeness(reading: Reading, shared: bool, known: Mapping[str, Candidate]) -> Judgement:
    """A key that several items share decides nothing: what rests on it alone is a question."""
    scored = score_all(reading, known.values())
    likely = tuple(one for one in scored if one.score >= NEW_BELOW)
    if likely or shared:
        reason = "key_is_shared" if shared else "looks_alike"
        return Doubt("match", reason, tuple(one.item_id for one in likely), scored)
    return Create()


def score_all(reading: Reading, candidates: Iterable[Candidate]) -> tuple[Scored, ...]:
    """Scores of active candidates that no veto excludes from being alike, best first."""
    fit = [one for one in candidates if one.active and veto_of(reading, one, None) is None]
    scored = sorted((score(reading, one) for one in fit), key=lambda one: (-one.score, one.item_id))
    return tuple(scored[:MAX_CANDIDATES])


def score(reading: Reading, item: Candidate) -> Scored:
    """Likeness by fixed weights: shared words of the name, shared model numbers, same brand."""
    mine, theirs = tokens_of(_text(reading, "name")), tokens_of(item.name)
    words = _overlap(mine, theirs)
    models = _overlap(_models(mine), _models(theirs))
    brands = (fold(_text(reading, "brand")), fold(item.brand))
    same_brand = Decimal(1) if all(brands) and brands[0] == brands[1] else Decimal(0)
    other_brand = all(brands) and brands[0] != brands[1]
    total = words * Decimal("0.6") + models * Decimal("0.25") + same_brand * Decimal("0.15")
    total = total * Decimal("0.3") if other_brand else total
    value = max(Decimal(0), (total - Decimal("0.35")) / Decimal("0.65")).quantize(Decimal("0.0001"))
    features = {"words": str(words), "models": str(models), "same_brand": str(same_brand)}
    return Scored(item.item_id, value, features)


def _models(tokens: Iterable[str]) -> frozenset[str]:
    return frozenset(squash(token) for token in tokens if _is_model_number(squash(token)))


def _overlap(left: frozenset[str], right: frozenset[str]) -> Decimal:
    """Shared over all, 0 where either is empty."""
    if not left or not right:
        return Decimal(0)
    return (Decimal(len(left & right)) / Decimal(len(left | right))).quantize(Decimal("0.0001"))


def ranked_items(judgement: Judgement) -> Sequence[str]:
    """The items that a judgement names."""
    match judgement:
        case Accept(item_id):
            return (item_id,)
        case Doubt(items=items):
            return items
        case Create():
            return ()
