"""A step away from an input that keeps most of it JSON: what random bytes would take for ever to find."""

import json
import random
from collections.abc import Callable
from typing import Any, Final, cast

Place = tuple[Any, Any]
"""A container of a document, and a key or an index in it."""

TOKENS: Final = (
    *("null", "true", "false", "0", "1", "-1", "-0", "2.0", "1.5", "1e2", "1E400", "-1e400", "1e-400", "0e999"),
    *("NaN", "Infinity", "-Infinity", "01", "+1", "1_000", "0x1", "9007199254740993.0", "253402300800"),
    *(str(2**31 - 1), str(2**31), str(2**53 - 1), str(2**53), str(2**63), str(2**64 - 1), str(2**64), "9" * 5_000),
    *("[]", "{}", "[[]]", "[{}]", '""', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\\u0041"'),
    *("[" * 65 + "]" * 65, '{"a":' * 63 + "0" + "}" * 63, "[" * 250, '"\\/"', '"\\', "'a'", "/**/", ""),
)
"""What may stand for a value, as it is written."""
TEXTS: Final = (
    *("", "0", "1", "-0", "0.5", "1.50", "1e3", "EUR", "eur", "item", "listing", "mapping", "text", "offer", "list"),
    *("2026-05-19", "2026-02-30", "2024-02-29", "2023-02-29", "2026-05-19T07:23:20Z", "2026-05-19t07:23:20z"),
    *("2016-12-31T23:59:60Z", "0000-01-01T00:00:00Z", "2026-05-19T24:00:00Z", "2026-05-19T07:23:20+24:00"),
    *("2026-05-19T07:23:20.1234567890Z", "2026-05-19T07:23:20+23:59", "9999-12-31T23:59:59-00:01"),
    *("https://shop.example/", "item_a", "lst_a", "lst_a/offer", "resolution.job/1", "1_000", "urn:uuid:"),
    *("cap_a:extract:1", "cap_a:extract:\uff11", "extract", "identity", "queued", "running", "failed", "success"),
)
ENDS: Final = (
    "\n",
    "\r\n",
    " ",
    "a",
    "0",
    "/",
    ":",
    "\u0661",
    "\uff11",
    "\u2028",
    "\x00",
    "\x7f",
    "\u00e9",
    "\U0001f600",
)
LENGTHS: Final = (20, 21, 40, 41, 64, 65, 100, 101, 191, 192, 500, 501, 1000, 1001, 2000, 2001, 2048, 2049, 20_001)
KEYS: Final = ("extra", "type", "ref", "data", "url", "key", "payload", "line", "pins", "trace_id", "\u0000", "\ud800")
_MARK: Final = "\ue000mark\ue000"


def change(data: bytes, chance: random.Random, others: Callable[[bytes], bytes]) -> bytes:
    """The input one to three steps away; `others` changes bytes that are no JSON."""
    head, document = data[:1], _parsed(data[1:])
    if document is None or chance.random() < 0.2:
        return head + others(data[1:])
    tokens: list[str] = []
    for _ in range(chance.randint(1, 3)):
        found = _places(document)
        if found:
            _step(chance, found, tokens)
    return head + _written(document, tokens, chance)


def _parsed(data: bytes) -> Any:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast("Any", document) if isinstance(document, dict | list) else None


def _written(document: Any, tokens: list[str], chance: random.Random) -> bytes:
    separators = (",", ":") if chance.random() < 0.8 else None
    text = json.dumps(document, ensure_ascii=chance.random() < 0.2, separators=separators)
    for spelled in (f'"{_MARK}"', json.dumps(_MARK)):
        for token in tokens if spelled in text else ():
            text = text.replace(spelled, token, 1)
    return text.encode("utf-8", "surrogatepass")


def _places(document: Any) -> list[Place]:
    found: list[Place] = []
    waiting: list[Any] = [document]
    while waiting:
        container = waiting.pop()
        for key in _keys(container):
            found.append((container, key))
            if isinstance(container[key], dict | list):
                waiting.append(container[key])
    return found


def _keys(container: Any) -> list[Any]:
    if isinstance(container, dict):
        return list(cast("dict[Any, Any]", container))
    return list(range(len(container)))


def _step(chance: random.Random, found: list[Place], tokens: list[str]) -> None:
    container, key = chance.choice(found)
    value = container[key]
    match chance.randrange(9):
        case 0:
            container[key] = _MARK
            tokens.append(chance.choice(TOKENS))
        case 1:
            container[key] = chance.choice(TEXTS)
        case 2:
            del container[key]
        case 3 if isinstance(value, dict):
            value[chance.choice(KEYS)] = chance.choice((None, 1, "a"))
        case 4:
            other, place = chance.choice(found)
            container[key] = _copied(other[place])
        case 5 if isinstance(container, dict):
            cast("dict[Any, Any]", container)[key] = cast("dict[Any, Any]", container).pop(key)
        case 6 if isinstance(value, list) and value:
            first = cast("list[Any]", value)[0]
            container[key] = [_copied(first) for _ in range(chance.choice((2, 20, 21, 50, 51)))]
        case 7:
            container[key] = {"a": [value]} if chance.random() < 0.5 else [value]
        case _:
            container[key] = _near(value, chance)


def _copied(value: Any) -> Any:
    return json.loads(json.dumps(value)) if isinstance(value, dict | list) else value


def _near(value: Any, chance: random.Random) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return chance.choice((None, True, False))
    if isinstance(value, int):
        return 0 if abs(value) > 2**64 else value + chance.choice((-1, 1, 10, -value, 2**31 - value, 0.5, float("inf")))
    if chance.random() < 0.3 and value:
        length = chance.choice(LENGTHS)
        return value[:length].ljust(length, value[-1])
    at = chance.randint(0, len(value))
    piece = chance.choice(ENDS)
    return chance.choice((value + piece, value[:at] + piece + value[at:], value[:-1], value[1:], value.swapcase()))
