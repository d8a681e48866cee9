"""What is known of an analysis before it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, Literal, Self

from srs.catalogue.option import Option
from srs.errors import SettingsError

USUAL = ("mdi", "mda", "label-permutation")  # what is run where nothing is named
Chart = Literal["bars", "groups", "heat-map", "links", "pairs", "changed-links"]


@dataclass(frozen=True)
class Section:
    """The section of an analysis in the report.

    meaning  what its chart and numbers show, in sentences
    chart    "bars": a bar a feature; "groups": a group of bars a feature, one for each part;
             "heat-map": features x parts; "links": arrows from feature to part; "pairs": the same
             without direction; "changed-links": links that a context makes stronger or weaker
    columns  columns of its own that the numbers show, after the common ones; empty: all
    nothing  what is said where there is nothing above 0 to draw; empty: the chart is drawn
    """

    meaning: str = ""
    chart: Chart = "bars"
    columns: tuple[str, ...] = ()
    nothing: str = ""


@dataclass(frozen=True)
class Analysis:
    """An analysis that may be asked for.

    name            how it is asked for, and what its files are called
    title           heading of its section in the report
    question        what it answers, in a few words
    run             the function, or where it is: "module:function". It is called with a forest
                    (`forest`) or a matrix and seed, threads, on_progress (and executor, if
                    `remote`), then the options, and returns an `AnalysisResult`
    section         how the report shows it
    options         what may be set
    value           which option VALUE of NAME=VALUE is, a "str" or "column"; None: it takes none
    target          whether it needs a target
    forest          whether it uses the forest that analyses share
    remote          whether it can run on an executor
    whole_subjects  whether it can keep samples of a subject together
    """

    name: str
    title: str
    question: str
    run: Callable[..., Any] | str
    section: Section = Section()
    options: tuple[Option, ...] = ()
    value: str | None = None
    target: bool = True
    forest: bool = False
    remote: bool = False
    whole_subjects: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", self.name):
            raise ValueError(
                f"{self.name!r} must be a name of lower-case letters, digits and hyphens"
            )
        if self.name == "features":
            raise ValueError("its table would replace features.parquet of a run: name it otherwise")
        names = [option.name for option in self.options]
        if len(set(names)) < len(names):
            raise ValueError(f"{self.name} has two options of one name")
        texts = [option.name for option in self.options if option.type in ("str", "column")]
        if self.value is not None and self.value not in texts:
            raise ValueError(f"{self.name} has no option {self.value} of text to be its value")

    @property
    def usual(self) -> bool:
        """Whether it is run where nothing is named."""
        return self.name in USUAL

    @property
    def value_option(self) -> Option | None:
        """The option that VALUE of NAME=VALUE is."""
        return None if self.value is None else self.option(self.value)

    @property
    def usage(self) -> str:
        """How it is asked for in the shell, e.g. "vote-shift[=chi2|ks]"."""
        value = self.value_option
        if value is None:
            return self.name
        shown = "|".join(value.choices) or "NAME"
        return f"{self.name}={shown}" if value.required else f"{self.name}[={shown}]"

    def option(self, name: str) -> Option:
        """The option of a name, or a SettingsError that names those that there are."""
        for option in self.options:
            if option.name == name:
                return option
        if name == "n_trees" and self.forest:
            raise SettingsError(
                f"{self.name} shares its forest with other analyses: give n_trees to explain "
                f"itself (--trees)."
            )
        known = ", ".join(sorted(option.name for option in self.options))
        offered = f"it has {known}" if known else "it has none"
        raise SettingsError(f"the analysis {self.name} has no option {name!r}; {offered}.")

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that it does not have, wrong values, and the lack of required ones."""
        for name, value in options.items():
            option = self.option(name)
            if not option.fits(value):
                shown = repr(value)[:60]
                raise SettingsError(
                    f"{name} of the analysis {self.name} must be {option.expected}, not {shown}."
                )
        for option in self.options:
            if option.required and option.name not in options:
                how = f"write {self.name}=NAME" if option.name == self.value else "give it"
                raise SettingsError(f"the analysis {self.name} needs a {option.name}: {how}.")

    @property
    def function(self) -> Callable[..., Any]:
        """What runs it; its module is imported when it is asked for."""
        if not isinstance(self.run, str):
            return self.run
        module, _, name = self.run.partition(":")
        found: Callable[..., Any] = getattr(import_module(module), name)
        return found

    def to_json(self) -> dict[str, Any]:
        """As JSON values; its function by name."""
        run = self.run
        text = run if isinstance(run, str) else f"{run.__module__}:{run.__qualname__}"
        return {**asdict(self), "run": text}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        section = {**document["section"], "columns": tuple(document["section"]["columns"])}
        options = tuple(
            Option(**{**option, "choices": tuple(option["choices"])})
            for option in document["options"]
        )
        return cls(**{**document, "section": Section(**section), "options": options})
