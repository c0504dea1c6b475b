"""Currencies in text: ISO 4217 codes, and the signs that mean one currency wherever they stand."""

import re

from assay_stages.normalize.text import clean

_LISTED = """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
    CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK
    HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL
    MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON
    RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS
    UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL
"""
CODES = frozenset(_LISTED.split())
"""Codes of money that people pay or paid with lately; no metals, funds or test codes."""

_SIGNS = {
    "us$": "USD",
    "ca$": "CAD",
    "c$": "CAD",
    "au$": "AUD",
    "a$": "AUD",
    "nz$": "NZD",
    "hk$": "HKD",
    "nt$": "TWD",
    "mx$": "MXN",
    "r$": "BRL",
    "s$": "SGD",
    "€": "EUR",
    "£": "GBP",
    "₹": "INR",
    "₽": "RUB",
    "₴": "UAH",
    "₺": "TRY",
    "₩": "KRW",
    "₪": "ILS",
    "₫": "VND",
    "₸": "KZT",
    "₱": "PHP",
    "₦": "NGN",
    "฿": "THB",
    "₾": "GEL",
    "₼": "AZN",
    "zł": "PLN",
    "kč": "CZK",
    "ft": "HUF",
    "lei": "RON",
    "лв": "BGN",
    "руб": "RUB",  # noqa: RUF001 (the sign is Cyrillic)
    "грн": "UAH",
    "тг": "KZT",
    "ر.س": "SAR",
    "د.إ": "AED",
    "원": "KRW",
}
"""`$`, `¥`, `kr` and `Rs` are missing: each is the sign of several currencies."""

_CODE = re.compile(r"(?<![A-Z])[A-Z]{3}(?![A-Z])")


def find_currency(raw: str) -> str | None:
    """Return the one ISO 4217 code that a text names by code or unambiguous sign, else None."""
    text = clean(raw)
    if text.upper() in CODES:
        return text.upper()
    named = {code for code in _CODE.findall(text) if code in CODES} or _signed(text.casefold())
    return named.pop() if len(named) == 1 else None


def _signed(text: str) -> set[str]:
    """Find the longest sign at each place, so that `US$` is no `S$`; signs of letters stand alone."""
    found: set[str] = set()
    for match in _SIGN.finditer(text):
        found.add(_SIGNS[match.group()])
    return found


def _sign_pattern() -> re.Pattern[str]:
    signs = sorted(_SIGNS, key=len, reverse=True)
    wordlike = "|".join(re.escape(sign) for sign in signs if sign.replace(".", "").isalpha())
    prefixed = "|".join(re.escape(sign) for sign in signs if sign.endswith("$"))
    single = "|".join(re.escape(sign) for sign in signs if len(sign) == 1 and not sign.isalpha())
    return re.compile(rf"(?<![^\W\d_])(?:{prefixed}|(?:{wordlike})(?![^\W\d_]))|{single}")


_SIGN = _sign_pattern()
