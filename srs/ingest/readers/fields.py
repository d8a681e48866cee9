"""One field of a text file: missing, a number with a decimal point or a decimal comma, or text.

The rule of commas stands here: where fields are not parted by commas, values are numbers with
decimal commas if all that are known look like that and they are not numbers otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

MISSING_TEXTS = frozenset(
    (
        "",
        "NA",
        "N/A",
        "na",
        "n/a",
        "<NA>",
        "#N/A",
        "#NA",
        "NaN",
        "nan",
        "NAN",
        "Nan",
        "-nan",
        "-NaN",
        "null",
        "NULL",
        "None",
        "?",
    )
)
# What numpy itself reads as missing needs no mark.
MARKED_TEXTS = sorted(text for text in MISSING_TEXTS if "nan" not in text.lower())
MANY_NUMBERS = 10  # a few numbers among texts are names of categories
NEARLY_ALL = 0.9


def is_number(text: str, comma: bool = False) -> bool:
    """Whether a field is a number or missing.

    comma  whether numbers have decimal commas; then a point makes a field text

    >>> is_number("1,5"), is_number("1,5", comma=True), is_number("1.5", comma=True)
    (False, True, False)
    """
    text = text.strip()
    if text in MISSING_TEXTS:
        return True
    try:
        parse_number(text, comma)
    except ValueError:
        return False
    return "_" not in text and not (comma and "." in text)  # Python reads 1_000, files do not


def parse_number(text: str, comma: bool = False) -> float:
    text = text.strip()
    if text in MISSING_TEXTS:
        return np.nan
    return float(text.replace(",", ".") if comma else text)


def parse_numbers(texts: Sequence[str], delimiter: str) -> np.ndarray | None:
    """Texts as numbers, with decimal commas if they must be; None if one is text.

    >>> parse_numbers(["1", "2,5"], ";"), parse_numbers(["1", "2,5"], ",")
    (array([1. , 2.5]), None)
    """
    for comma in (False, True) if delimiter != "," else (False,):
        if all(is_number(text, comma) for text in texts):
            return np.array([parse_number(text, comma) for text in texts], np.float64)
    return None


def parse_texts(texts: Sequence[str], delimiter: str) -> np.ndarray:
    """Texts as numbers if all are, else as text; missing markers become NaN or None."""
    numbers = parse_numbers(texts, delimiter)
    if numbers is not None:
        return numbers
    stripped = [text.strip() for text in texts]
    return np.array([None if t in MISSING_TEXTS else t for t in stripped], dtype=object)


def find_comma_columns(
    rows: Iterable[Sequence[str]], texts: Iterable[int], numbers: Iterable[int]
) -> list[int]:
    """Columns with decimal commas.

    texts    columns that are text where commas are
    numbers  columns that are numbers without them: whole ones go with the others, if there are any
    """
    commas, whole = set(texts), set(numbers)
    for row in rows:
        commas = {column for column in commas if is_number(row[column], comma=True)}
        if not commas:
            return []
        whole = {column for column in whole if "." not in row[column]}
    return sorted(commas | whole)


def find_odd_text(counts: Mapping[str, int]) -> str | None:
    """The first text of a column that is numbers else; None if it has many texts or few numbers.

    counts  how often each text occurs
    """
    odd = [text for text in counts if not is_number(text)]
    n_odd = sum(counts[text] for text in odd)
    if not odd or len(counts) - len(odd) <= MANY_NUMBERS:
        return None
    return odd[0] if n_odd <= (1 - NEARLY_ALL) * sum(counts.values()) else None
