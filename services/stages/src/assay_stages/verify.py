"""Going the whole way back: from an artifact's bytes and a fact's place to the value that the catalog shows."""

from dataclasses import dataclass

from assay_contracts import bounds

from assay_stages.extract import adapters
from assay_stages.extract.facts import PlaceSyntax
from assay_stages.extract.place import read_at
from assay_stages.normalize import profiles
from assay_stages.normalize.identifiers import Problem
from assay_stages.normalize.values import canonical_value


@dataclass(frozen=True, slots=True)
class Claim:
    """What a fact claims about an artifact; raw may be cut short, as events cut it."""

    adapter: str
    profile: str
    name: str
    place_syntax: PlaceSyntax
    place: str
    raw: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What stands at the place now, and the value that the claim's adapter and profile make of it."""

    raw: str
    raw_stands: bool
    value: str | None
    problem: str | None


def verify(page: bytes, media_type: str, url: str | None, claim: Claim) -> Verified:
    """Read a claim's place again and normalise what stands there; `url` is the page's requested address.

    Raises UnknownPin if this build lacks the adapter or profile, PlaceNotFound if nothing stands at the place.
    """
    adapters.select(claim.adapter)
    profile = profiles.select(claim.profile)
    raw = read_at(page, media_type, claim.place_syntax, claim.place)
    stands = raw == claim.raw or (len(claim.raw) >= bounds.EVENT_RAW and raw.startswith(claim.raw))
    value = profile.value_of(claim.name, raw, url)
    if isinstance(value, Problem):
        return Verified(raw, stands, None, value.reason)
    return Verified(raw, stands, canonical_value(value), None)
