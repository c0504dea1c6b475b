"""Where we refuse by decision what a seed takes; `schemas/README.md` has a line for each of these names."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from assay_contracts.errors import InvalidMessage
from assay_contracts.reasons import Reason


@dataclass(frozen=True)
class Decision:
    """One way in which we are stricter: these reasons, at these places, of values that look like this."""

    name: str
    reasons: set[Reason]
    place: str
    applies: Callable[[Any], bool]

    def excuses(self, refusal: InvalidMessage, document: Any) -> bool:
        """Whether the refusal of a document is this decision."""
        if refusal.reason not in self.reasons or not re.fullmatch(self.place, refusal.pointer):
            return False
        return self.applies(value_at(document, refusal.pointer))


def value_at(document: Any, pointer: str) -> Any:
    """What stands at a JSON pointer."""
    here = cast("dict[str | int, Any]", document)
    for part in pointer.split("/")[1:]:
        here = here[int(part) if part.isdigit() else part]
    return here


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole_float(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


DECISIONS = (
    Decision(
        "one spelling of a timestamp",
        {"wrong_pattern", "wrong_format"},
        r"/enqueued_at",
        lambda value: bool(re.fullmatch(r"[0-9-]{10}[Tt][0-9:]{8}(\.[0-9]+)?([Zz]|[+-][0-9:]{5})", value)),
    ),
    Decision("an integer without a fraction", {"wrong_type"}, r".*", _is_whole_float),
    Decision("counts are integers", {"wrong_type"}, r"/(ts|attempt|bytes|total_pages|row_no)", _is_number),
    Decision("counts begin at 0", {"out_of_range"}, r"/(ts|bytes|total_pages|row_no)", _is_number),
    Decision("counts end", {"out_of_range"}, r"/(ts|attempt)", _is_number),
    Decision("one spelling of a UUID", {"wrong_pattern"}, r"/id", _is_text),
    Decision("SHA-1 in lower case", {"wrong_pattern"}, r"/sha1", _is_text),
    Decision("a whole CID", {"wrong_pattern"}, r"/ipfs_cid", lambda value: len(value) < 8),
    Decision("names are not empty", {"wrong_length"}, r"/(job_id|filename|corpus_id|form)", lambda value: value == ""),
    Decision("a job id is a business key", {"wrong_length"}, r"/job_id", lambda value: len(value) > 191),
)
