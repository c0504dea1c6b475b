"""Text as people read it: one form of Unicode, one space between words, no markup left from a script."""

import html
import re
import unicodedata

_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]*(?:\s[^<>]*)?/?>")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def clean(raw: str) -> str:
    """Return NFKC text without tags, entities, controls and invisible marks, its white space folded."""
    text = html.unescape(raw) if "&" in raw else raw
    text = _TAG.sub(" ", text) if "<" in text else text
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    return " ".join(_CONTROLS.sub(" ", text).split())


def folded(raw: str) -> str:
    """Return clean text without regard to case, to compare by."""
    return clean(raw).casefold()
