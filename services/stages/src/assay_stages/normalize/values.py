"""One raw statement to one catalog value, by the rule of its name; pure, so that `explain` can repeat it."""

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType

from assay_contracts.decimals import canonical_decimal
from assay_contracts.values import CodeValue, NumberValue, TextValue, UrlValue

from assay_stages.normalize.amounts import read_amount
from assay_stages.normalize.currencies import find_currency
from assay_stages.normalize.identifiers import Problem, read_code, read_gtin
from assay_stages.normalize.text import clean, folded
from assay_stages.normalize.urls import MAX_URL, resolve

Single = TextValue | CodeValue | NumberValue | UrlValue
"""What one fact can hold; `settle` makes lists and offers of them."""

MAX_TEXT = 2_000
MAX_DESCRIPTION = 20_000

_NO_BRAND = frozenset(
    {
        "unbranded",
        "unbranded/generic",
        "generic",
        "no brand",
        "nobrand",
        "no name",
        "noname",
        "n/a",
        "na",
        "-",
        "none",
        "null",
        "does not apply",
        "unknown",
        "other",
        "others",
        "oem",
        "sans marque",
        "sans marque/générique",
        "markenlos",
        "non di marca",
        "senza marca",
        "sin marca",
    }
)
_AVAILABILITY = {
    "instock": "in_stock",
    "instoreonly": "in_stock",
    "onlineonly": "in_stock",
    "limitedavailability": "in_stock",
    "available": "in_stock",
    "outofstock": "out_of_stock",
    "soldout": "out_of_stock",
    "oos": "out_of_stock",
    "unavailable": "out_of_stock",
    "preorder": "preorder",
    "presale": "preorder",
    "backorder": "backorder",
    "availablefororder": "backorder",
    "madetoorder": "backorder",
    "discontinued": "discontinued",
}
_CONDITION = {
    "new": "new",
    "newcondition": "new",
    "brandnew": "new",
    "newwithtags": "new",
    "newwithouttags": "new",
    "newwithbox": "new",
    "newother": "new",
    "used": "used",
    "usedcondition": "used",
    "preowned": "used",
    "refurbished": "refurbished",
    "refurbishedcondition": "refurbished",
    "damaged": "damaged",
    "damagedcondition": "damaged",
}
_UNFILLED = re.compile(r"\A(?:\$\{?[A-Za-z_.]+\}?|\{\{[^{}]*\}\}|<%.*%>|undefined|null)\Z")
_NOT_A_LETTER = re.compile(r"[\W_]")
_WEIGHT = re.compile(r"\A([\d.,\s]*\d)\s*(kg|g|gr|mg|lb|lbs|oz)\.?\Z")
_GRAMS = {"kg": "1000", "g": "1", "gr": "1", "mg": "0.001", "lb": "453.59237", "lbs": "453.59237", "oz": "28.349523125"}


def value_of(name: str, raw: str, url: str | None) -> Single | Problem:
    """Return the value of a statement; `url` is the page's own address, which relative ones start from."""
    if name in ("url", "image"):
        return _address(raw, url)
    read = _READERS.get(name)
    return Problem("unregistered_name") if read is None else read(raw)


def canonical_value(value: Single) -> str:
    """Return a value as the one JSON text it is stored and compared by."""
    return json.dumps(value.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _text(raw: str, longest: int = MAX_TEXT) -> TextValue | Problem:
    text = clean(raw)
    if not text or _UNFILLED.match(text):
        return Problem("unfilled_template" if text else "empty")
    return Problem("too_long") if len(text) > longest else TextValue(text=text, lang=None)


def _description(raw: str) -> TextValue | Problem:
    return Problem("too_long") if len(raw) > MAX_DESCRIPTION else _text(raw, MAX_DESCRIPTION)


def _brand(raw: str) -> TextValue | Problem:
    return Problem("no_brand") if folded(raw) in _NO_BRAND else _text(raw)


def _code(read: str | Problem) -> CodeValue | Problem:
    return read if isinstance(read, Problem) else CodeValue(code=read)


def _price(raw: str) -> NumberValue | Problem:
    amount = read_amount(clean(raw))
    if amount is None:
        return Problem("not_an_amount")
    return Problem("zero_price") if amount == 0 else NumberValue(number=canonical_decimal(amount), unit=None)


def _currency(raw: str) -> CodeValue | Problem:
    code = find_currency(raw)
    return Problem("no_iso_currency") if code is None else CodeValue(code=code)


def _listed(raw: str, known: Mapping[str, str], prefix: str) -> CodeValue | Problem:
    """Look up a word of schema.org or of plain English, whatever case, spaces and vocabulary it is written with."""
    word = _NOT_A_LETTER.sub("", folded(raw).rpartition("/")[2].rpartition("#")[2].removeprefix("schema:"))
    code = known.get(word)
    return Problem(f"unknown_{prefix}") if code is None else CodeValue(code=code)


def _weight(raw: str) -> NumberValue | Problem:
    stated = _WEIGHT.match(folded(raw))
    amount = read_amount(stated.group(1)) if stated else None
    if stated is None or amount is None or amount == 0:
        return Problem("not_a_weight")
    return NumberValue(number=canonical_decimal(amount * Decimal(_GRAMS[stated.group(2)])), unit="g")


def _address(raw: str, base: str | None) -> UrlValue | Problem:
    resolved = resolve(raw, base)
    if resolved is None:
        return Problem("not_an_address")
    return Problem("too_long") if len(resolved) > MAX_URL else UrlValue(url=resolved)


_READERS: Mapping[str, Callable[[str], Single | Problem]] = MappingProxyType(
    {
        "name": _text,
        "brand": _brand,
        "description": _description,
        "category": _text,
        "color": _text,
        "size": _text,
        "material": _text,
        "seller": _text,
        "weight": _weight,
        "gtin": lambda raw: _code(read_gtin(raw)),
        "mpn": lambda raw: _code(read_code(raw)),
        "sku": lambda raw: _code(read_code(raw)),
        "price": _price,
        "price_high": _price,
        "currency": _currency,
        "availability": lambda raw: _listed(raw, _AVAILABILITY, "availability"),
        "condition": lambda raw: _listed(raw, _CONDITION, "condition"),
    }
)
