"""The adapters that exist, by exact name and version; a job's pin chooses one of them, no pin all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NewType

from assay_stages.errors import UnknownPin
from assay_stages.extract import opengraph, schema_org
from assay_stages.extract.facts import Found

AdapterVersion = NewType("AdapterVersion", str)


@dataclass(frozen=True, slots=True)
class Adapter:
    """A pure reader: (artifact bytes, media type, requested URL or None) to what it found. It never raises."""

    version: AdapterVersion
    read: Callable[[bytes, str, str | None], Found]


def _listed(*adapters: Adapter) -> Mapping[AdapterVersion, Adapter]:
    return MappingProxyType({adapter.version: adapter for adapter in adapters})


ADAPTERS: Mapping[AdapterVersion, Adapter] = _listed(
    Adapter(AdapterVersion("pa_schema_org@1.0.0"), schema_org.read),
    Adapter(AdapterVersion("pa_opengraph@1.0.0"), opengraph.read),
)


def select(pin: str | None) -> tuple[Adapter, ...]:
    """Return the pinned adapter, or all in their listed order; an unlisted name or version is UnknownPin."""
    if pin is None:
        return tuple(ADAPTERS.values())
    adapter = ADAPTERS.get(AdapterVersion(pin))
    if adapter is None:
        raise UnknownPin(pin)
    return (adapter,)
