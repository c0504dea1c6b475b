"""Amounts of money in text: which characters are the amount, and which of them is the decimal point."""

import re
from decimal import Decimal

from price_parser import Price

MAX_AMOUNT = Decimal("1e12")
PLACES = 6
"""Decimal places kept: more come from binary floating point only (49.990000000000002)."""

_GROUPED = re.compile(r"\A\d{1,3}[.,]\d{3}\Z")
_SIGNED = re.compile(r"\A\s*[-\u2212]\s*\d")


def read_amount(raw: str) -> Decimal | None:
    """Return the first amount of a text, such as '1.299,00 €' or '67.8400'; None if there is none above all bounds.

    Of two kinds of separator the last is the decimal point; one kind more than once groups thousands; one alone
    groups thousands only with one to three digits before and exactly three after it, the first not zero.
    """
    if _SIGNED.match(raw):
        return None
    text = Price.fromstring(raw[:200]).amount_text
    if text is None:
        return None
    digits = re.sub(r"[^\d.,]", "", text).strip(".,")
    amount = Decimal(_pointed(digits)) if digits else None
    if amount is None or amount >= MAX_AMOUNT:
        return None
    return amount if -int(amount.as_tuple().exponent) <= PLACES else round(amount, PLACES)


def _pointed(digits: str) -> str:
    """Write a grouped number with a decimal point only."""
    marks = [c for c in digits if c in ".,"]
    if not marks:
        return digits
    last = marks[-1]
    grouped = _GROUPED.match(digits) and digits[0] != "0" if len(marks) == 1 else marks.count(last) > 1
    whole, _, fraction = digits.rpartition(last)
    if grouped:
        whole, fraction = digits, ""
    whole = whole.replace(".", "").replace(",", "")
    return f"{whole or '0'}.{fraction}" if fraction else whole
