"""One option of an analysis: its type, default and range, and what is said of a wrong value."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any, Literal

from srs.errors import SettingsError

OptionType = Literal["int", "float", "bool", "str", "names", "column"]
WORDS = {"true": True, "yes": True, "false": False, "no": False}
MOST = 1_000_000  # of trees, permutations and the like: more is a slip of the pen
NONE = "none"  # how None is written in the shell


def label_of(name: str) -> str:
    """The name of a setting or an option for people.

    >>> label_of("n_trees"), label_of("max_depth"), label_of("best_cuts")
    ('Trees', 'Maximum depth', 'Best cuts')
    """
    for prefix, word in (("n_", ""), ("max_", "maximum "), ("min_", "minimum ")):
        if name.startswith(prefix):
            name = word + name.removeprefix(prefix)
            break
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Option:
    """An option that whoever asks for an analysis may set.

    name      keyword of the function
    type      "int", "float", "bool" and "str" as in Python; "names": a list of names or ids of
              features; "column": the name of a feature or target, in Python also one value a sample
    help      what it does, in one line
    default   as in the signature of the function
    low, high smallest and largest value; None: no bound
    choices   the values of a "str"; empty: any text
    none      what None means, in a few words; empty: None may not be given
    required  whether it must be given; its default is then None
    label     what forms call it; empty: made of its name

    >>> depth = Option("depth", "int", "deepest level of a leaf", 3, low=1, none="no limit")
    >>> depth.fits(4), depth.fits(0), depth.fits(None), depth.fits(2.5)
    (True, False, True, False)
    >>> depth.expected, depth.parse("5"), depth.parse("none")
    ('a whole number from 1 on, or none', 5, None)
    """

    name: str
    type: OptionType
    help: str
    default: bool | int | float | str | None = None
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    none: str = ""
    required: bool = False
    label: str = ""

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or not self.help:
            raise ValueError(
                f"the option {self.name!r} needs a valid Python name and a line of help"
            )
        if not self.required and not self.fits(self.default):
            raise ValueError(f"the default of {self.name} is not {self.expected}")

    @property
    def title(self) -> str:
        """What forms call it, e.g. "Trees"."""
        return self.label or label_of(self.name)

    @property
    def expected(self) -> str:
        """What a value must be, as in "must be ..."."""
        return self._kind() + (f", or {NONE}" if self.none else "")

    def _kind(self) -> str:
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.type in ("int", "float"):
            word = "a whole number" if self.type == "int" else "a number"
            if self.low is not None and self.high is not None:
                return f"{word} from {self.low:,} to {self.high:,}"
            return word if self.low is None else f"{word} from {self.low:,} on"
        return {
            "bool": "true or false",
            "names": "a list of features",
            "column": "the name of a feature or target",
        }.get(self.type, "a text")

    def fits(self, value: Any) -> bool:
        """Whether a value has the type and is in the range."""
        if value is None:
            return bool(self.none)
        if self.type in ("int", "float"):
            return self._is_number(value) and self._in_range(value)
        if self.type == "bool":
            return isinstance(value, bool)
        if self.type == "str":
            return isinstance(value, str) and (not self.choices or value in self.choices)
        if self.type == "names":
            return not isinstance(value, (str, bytes)) and hasattr(value, "__iter__")
        return isinstance(value, str) or hasattr(value, "__len__")  # a column, or its values

    def _is_number(self, value: Any) -> bool:
        kind = numbers.Integral if self.type == "int" else numbers.Real
        return isinstance(value, kind) and not isinstance(value, bool)

    def _in_range(self, value: Any) -> bool:
        if value != value or abs(value) == math.inf:  # of a long int, too
            return False
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def parse(self, text: str, analysis: str = "") -> Any:
        """The value that a text of the shell means; SettingsError if it means none.

        analysis  whose option it is, for the error
        """
        value: Any = text.strip()
        if self.none and value.lower() == NONE:
            return None
        try:
            if self.type == "int":
                value = int(value)
            elif self.type == "float":
                value = float(value)
            elif self.type == "bool":
                value = WORDS[value.lower()]
            elif self.type == "names":
                value = [name.strip() for name in value.split(",") if name.strip()]
        except (ValueError, KeyError):
            value = None
        if value is None or not self.fits(value):
            whose = f"{self.name} of the analysis {analysis}" if analysis else self.name
            raise SettingsError(f"{whose} must be {self.expected}, not {text!r}.")
        return value
