"""What the bytes of a document tell before it is parsed, each in time that grows with their number and in C.

Looking at values one by one in Python costs a microsecond each, of which a hostile document can hold half a million.
"""

import re
from decimal import Decimal
from itertools import accumulate
from typing import Final

_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[{]}"))
_NUMBER: Final = re.compile(rb"[-+.0-9eE]++")
_LONG_NUMBER: Final = re.compile(rb"[0-9.]{17}|[eE][-+]?[0-9]{3}")
"""Every number without this survives: at most 16 digits of an integer, or 15 and a point, and an exponent below 100."""
_NONZERO: Final = re.compile(r"[1-9]")
_INTEGER_CHARACTERS: Final = 20
_NUMBER_CHARACTERS: Final = 64


def outside_strings(data: bytes) -> bytes:
    """What is left of a document without its strings."""
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(data.split(b'"')[::2])


def depth(bare: bytes) -> int:
    """How many arrays and objects stand inside one another at most; `bare` has no strings."""
    steps = memoryview(bare.translate(_STEPS, _NO_BRACKETS)).cast("b")
    return max(accumulate(steps), default=0)


def has_inexact_number(bare: bytes) -> bool:
    """Whether some number would not survive; `bare` has no strings, and what is no JSON may be called a number, too."""
    if not _LONG_NUMBER.search(bare):
        return False
    numbers = {number for number in _NUMBER.findall(bare) if _LONG_NUMBER.search(number)}
    return not all(_is_exact_as_written(number.decode("ascii")) for number in numbers)


def is_exact_integer(text: str) -> bool:
    """Whether 64 bits, with a sign or without, hold this integer."""
    return len(text) <= _INTEGER_CHARACTERS and -(2**63) <= int(text) < 2**64


def is_exact_number(text: str) -> bool:
    """Whether a double holds exactly what this number with a fraction or an exponent is known by."""
    number = float(text)
    if len(text) > _NUMBER_CHARACTERS or number in (float("inf"), float("-inf")):
        return False
    if number == 0:
        return not _NONZERO.search(re.split("[eE]", text)[0])
    return Decimal(text) == Decimal(repr(number))


def _is_exact_as_written(text: str) -> bool:
    try:
        return is_exact_number(text) if re.search("[.eE]", text) else is_exact_integer(text)
    except ValueError:
        return False
