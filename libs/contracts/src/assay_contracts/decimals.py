"""Numbers of the catalog travel as decimal strings, each number having exactly one spelling."""

from decimal import Decimal
from typing import Final

PATTERN: Final = r"^(0|-?(0\.[0-9]*[1-9]|[1-9][0-9]*(\.[0-9]*[1-9])?))$"
POSITIVE_PATTERN: Final = r"^(0|0\.[0-9]*[1-9]|[1-9][0-9]*(\.[0-9]*[1-9])?)$"
SCORE_PATTERN: Final = r"^(0|1|0\.[0-9]{0,11}[1-9])$"


def canonical_decimal(number: Decimal | int) -> str:
    """The one spelling of a finite number: no exponent, no plus, no trailing zeros, no negative zero."""
    decimal = Decimal(number)
    if not decimal.is_finite():
        raise ValueError("only finite numbers have a spelling")
    text = format(decimal, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
