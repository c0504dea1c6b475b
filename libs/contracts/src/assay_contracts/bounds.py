"""Sizes that hold everywhere: catalog limits, and what intake bounds so that a job always fits its topic."""

from typing import Final

ID: Final = 64
"""Characters of a tenant, catalog or source id, and of every other id that Assay mints."""
PIN: Final = 64
MEDIA_TYPE: Final = 100
TRACE_ID: Final = 64
EPOCH: Final = 64
ARTIFACTS: Final = 20
DOCUMENT_BYTES: Final = 65_536
"""Bytes of a JSON document that an API takes or gives."""
EVENT_DATA_BYTES: Final = 4_194_304
"""Bytes of an event's data that stand behind a ref."""
FRAME_BYTES: Final = 655_360
"""Bytes of one frame of `pulse.worker.v1`: an assignment may carry a payload and a result."""
VALUE_BYTES: Final = 262_144
"""Bytes of a task's payload or result, and of a report, written without whitespace."""
VALUE_DEPTH: Final = 60
"""Arrays and objects inside one another in a payload or result, so that its frame stays within DEPTH."""
BUSINESS_KEY: Final = 191

TEXT: Final = 2_000
DESCRIPTION: Final = 20_000
CODE: Final = 100
URL: Final = 2_048
RAW: Final = 1_000
EVENT_RAW: Final = 200
PLACE: Final = 1_000
LIST: Final = 50
EVIDENCE: Final = 20
LINE: Final = 500
UNIT: Final = 20
LANGUAGE: Final = 35
DECIMAL: Final = 40
LISTING_KEY: Final = 2 * URL + 1
"""A page's key, `#`, and what tells its products apart, at worst another URL."""
DEPENDENCIES: Final = 20

DEPTH: Final = 64
COUNT: Final = 2**31 - 1
"""The largest serial or number of bytes that a 32-bit column holds."""
POSITION: Final = 2**53 - 1
"""The largest integer that every language's JSON numbers hold; positions and revisions stay below it."""
LAST_SECOND: Final = 253_402_300_799
"""9999-12-31T23:59:59Z in epoch seconds."""
