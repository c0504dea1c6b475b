"""Identifiers: global trade numbers by their check digit and prefix, and the codes of makers and shops."""

import re
from dataclasses import dataclass

from stdnum import ean, isbn
from stdnum.exceptions import ValidationError

from assay_stages.normalize.text import clean

MAX_CODE = 100

_LABEL = re.compile(r"\A(?:gtin(?:-?(?:8|12|13|14))?|ean(?:-?13)?|upc|isbn(?:-?1[03])?)\s*[:#]?\s*", re.IGNORECASE)
_MARKS = re.compile(r"[\s\-\u2010-\u2015]")
_RESTRICTED_13 = ("02", "04", "05", "2", "977", "98", "99")
_RESTRICTED_8 = ("0", "2")
_SHORT = "000000"
"""What a GTIN-8 starts with when it is written with 14 digits."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a raw fact has no value: a word that stays the same between versions."""

    reason: str


def read_gtin(raw: str) -> str | Problem:
    """Return the 14 digits of a GTIN-8, -12, -13 or -14 or of an ISBN; a number that is no one product's is a problem.

    Numbers for use within a shop, by weight, for coupons and for periodicals name no product; indicators 1 to 8
    name packs, and stay.
    """
    digits = _MARKS.sub("", _LABEL.sub("", clean(raw)))
    if isbn.is_valid(digits) and len(digits) == 10:
        digits = isbn.to_isbn13(digits)
    if not (digits.isascii() and digits.isdecimal()):
        return Problem("not_a_gtin")
    try:
        padded = ean.validate(digits).zfill(14)
    except ValidationError:
        return Problem("bad_check_digit" if len(digits) in (8, 12, 13, 14) else "not_a_gtin")
    return Problem("restricted_gtin") if _is_restricted(padded) else padded


def read_code(raw: str) -> str | Problem:
    """Return a maker's or shop's code as written, its white space folded."""
    code = clean(raw)
    if not code:
        return Problem("empty")
    return Problem("too_long") if len(code) > MAX_CODE else code


def _is_restricted(padded: str) -> bool:
    if padded.startswith(_SHORT):
        return padded[6:].startswith(_RESTRICTED_8)
    return padded[0] == "9" or padded[1:].startswith(_RESTRICTED_13)
