"""The normalisation profiles that exist, by exact name and version; no pin means the newest."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NewType

from assay_stages.errors import UnknownPin
from assay_stages.normalize import reading, values
from assay_stages.normalize.identifiers import Problem
from assay_stages.normalize.reading import Extraction, Reading

ProfileVersion = NewType("ProfileVersion", str)


@dataclass(frozen=True, slots=True)
class Profile:
    """A pure set of rules: one statement to a value, and a capture's statements to its reading."""

    version: ProfileVersion
    value_of: Callable[[str, str, str | None], values.Single | Problem]
    read: Callable[[Iterable[Extraction], str | None, str], Reading | None]

    def read_product(self, extractions: Iterable[Extraction], url: str | None) -> Reading | None:
        """Return the reading of a capture whose page was requested at `url`; None without a named product."""
        return self.read(extractions, url, self.version)


def _listed(*profiles: Profile) -> Mapping[ProfileVersion, Profile]:
    return MappingProxyType({profile.version: profile for profile in profiles})


PROFILES: Mapping[ProfileVersion, Profile] = _listed(
    Profile(ProfileVersion("np_product@1"), values.value_of, reading.read_product),
)


def select(pin: str | None) -> Profile:
    """Return the pinned profile, or the last listed; an unlisted name or version is UnknownPin."""
    if pin is None:
        return list(PROFILES.values())[-1]
    profile = PROFILES.get(ProfileVersion(pin))
    if profile is None:
        raise UnknownPin(pin)
    return profile
