"""What a setting is, as it is described once, and how a value is checked against that.

Which settings there are is in `srs.settings`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from srs.errors import SettingsError

# Groups, in the order of help texts.
COMMON, LIMITS, SAMPLES, METHOD, RUN = "common", "limits", "samples", "method", "run"
GROUPS = {
    COMMON: "Common",
    LIMITS: "Limits",
    SAMPLES: "Samples and features",
    METHOD: "Method, with the letters of the paper",
    RUN: "Where and how it runs",
}
# Who may set it: with a service, some are its operator's business, and some make no sense.
EVERYBODY, LOCAL, OPERATOR = "everybody", "local", "operator"


@dataclass(frozen=True)
class Setting:
    """One setting, described once.

    name       field of `Settings`, or argument
    type       of its values, as Python writes it
    default    its value if nothing is said
    help       one line
    group      one of `GROUPS`
    unset      what None, or an empty tuple, stands for
    symbol     its letter in the paper
    low, high  range of a number, with open_ends without its ends
    choices    values, if only some are possible
    installed  gives all of them, where packages may bring more; None: there are no others
    who        EVERYBODY, LOCAL (not through a service) or OPERATOR (of a service)
    argument   its name outside of `Settings`, if that is another
    """

    name: str
    type: str
    default: Any
    help: str
    group: str = COMMON
    unset: str = ""
    symbol: str = ""
    low: float | None = None
    high: float = math.inf
    open_ends: bool = False
    choices: tuple[Any, ...] = ()
    installed: Callable[[], Iterable[str]] | None = None
    who: str = EVERYBODY
    argument: str = ""

    @property
    def public_name(self) -> str:
        """What functions, commands and the service call it."""
        return self.argument or self.name

    @property
    def is_list(self) -> bool:
        return self.type.startswith("tuple[")

    @property
    def is_optional(self) -> bool:
        return self.type.endswith("| None")

    @property
    def span(self) -> str:
        """The range, in words."""
        at_least = "" if self.low is None else f"at least {self.low}"
        return at_least if self.high > 2**30 else f"between {self.low} and {self.high}"

    def check(self, value: Any) -> None:
        """SettingsError says what a value must be."""
        if value is None and self.is_optional:
            return
        if self.is_list:
            if self.choices and (not value or set(value) - set(self.all_choices)):
                raise SettingsError(f"{self.name} must name some of {self._named_choices}.")
            if self.choices and len(set(value)) < len(value):
                raise SettingsError(f"{self.name} must name each of its values once.")
        elif self.choices:
            if value not in self.choices:
                raise self._refusal(f"one of {self._named_choices}", value)
        elif self.low is not None:
            self._check_number(value)
        elif self.type == "bool" and not isinstance(value, bool):
            raise self._refusal("True or False", value)
        elif self.type.startswith("str") and not isinstance(value, str):
            raise self._refusal("a name", value)

    def _check_number(self, value: Any) -> None:
        whole = self.type.startswith("int")
        is_number = isinstance(value, (int,) if whole else (int, float))
        is_number = is_number and not isinstance(value, bool) and math.isfinite(value)
        good = is_number and self.low <= value <= self.high
        if not good or (self.open_ends and value in (self.low, self.high)):
            too_large = is_number and value > self.high > 2**30  # which `span` does not say
            span = f"at most {self.high}" if too_large else self.span
            raise self._refusal(f"{'a whole number' if whole else 'a number'} {span}", value)

    @property
    def _named_choices(self) -> str:
        return ", ".join(str(choice) for choice in self.all_choices)

    @property
    def all_choices(self) -> tuple[Any, ...]:
        """Its choices, with those that other packages bring."""
        return self.choices if self.installed is None else tuple(self.installed())

    def _refusal(self, wanted: str, value: Any) -> SettingsError:
        return SettingsError(f"{self.name} must be {wanted}, not {value!r}.")


def described(default: Any, help: str, group: str = COMMON, unset: str = "", **more: Any) -> Any:
    """A field of `Settings` with its description."""
    return field(default=default, metadata={"help": help, "group": group, "unset": unset, **more})
