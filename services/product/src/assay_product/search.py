"""⑧ what a person typed, as patterns that the folded values of the catalog can match."""

from typing import Final

from assay_product.projection import folded

MAX_WORDS: Final = 8
GTIN_LENGTHS: Final = frozenset({8, 12, 13, 14})


def patterns(query: str) -> list[list[str]]:
    """For each word of the query the LIKE patterns of which one must match; words beyond MAX_WORDS are left out."""
    return [_of_word(word) for word in folded(query).split()[:MAX_WORDS]]


def _of_word(word: str) -> list[str]:
    if word.isascii() and word.isdigit() and len(word) in GTIN_LENGTHS:
        return [_anywhere(word), _anywhere(word.zfill(14))]
    return [_anywhere(word)]


def _anywhere(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
