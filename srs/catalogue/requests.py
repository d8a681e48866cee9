"""How an analysis is asked for: "name", "name=value", (name, options), and the shell's --option."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from srs.catalogue.analysis import Analysis
from srs.catalogue.index import find_analyses
from srs.catalogue.option import Option
from srs.errors import SettingsError

Request = str | tuple[str, Mapping[str, Any]]


def split_request(request: Request) -> tuple[str, str, dict[str, Any]]:
    """The name of the analysis, its value ("" if none), and its options; nothing is checked.

    >>> split_request("context=sex"), split_request(("vote_shift", {"method": "ks"}))
    (('context', 'sex', {}), ('vote-shift', '', {'method': 'ks'}))
    """
    if isinstance(request, str):
        text, options = request, {}
    elif isinstance(request, tuple) and len(request) == 2 and isinstance(request[0], str):
        text, options = request[0], dict(request[1])
    else:
        raise SettingsError(f"an analysis is a name or (name, options), not {request!r}.")
    name, _, value = text.partition("=")
    return name.strip().replace("_", "-"), value.strip(), options


def parse_requests(requests: Sequence[Request]) -> list[tuple[Analysis, dict[str, Any]]]:
    """The analyses that are asked for, each with its options, or a SettingsError.

    >>> [(a.name, options) for a, options in parse_requests(["mda", "vote-shift=ks"])]
    [('mda', {}), ('vote-shift', {'method': 'ks'})]
    """
    parsed = [_parse(request) for request in requests or ()]
    if not parsed:
        raise SettingsError(
            "there is no analysis to run: name at least one, e.g. analyses=['mdi']."
        )
    twice = [name for name, n in Counter(a.name for a, _ in parsed).items() if n > 1]
    if twice:
        raise SettingsError(f"the analysis {twice[0]} is named twice: name it once per call.")
    return parsed


def _parse(request: Request) -> tuple[Analysis, dict[str, Any]]:
    name, value, options = split_request(request)
    analysis = _find(name)
    if value:
        option = analysis.value_option
        if option is None:
            raise SettingsError(f"the analysis {name} takes no value, and was given {value!r}.")
        if option.name in options:
            raise SettingsError(f"the {option.name} of the analysis {name} is given twice.")
        options[option.name] = option.parse(value, name)
    analysis.check(options)
    return analysis, options


def _find(name: str) -> Analysis:
    offered = find_analyses()
    if name not in offered:
        raise SettingsError(f"there is no analysis {name!r}; there are {', '.join(offered)}.")
    return offered[name]


def find_option(analysis: str, option: str) -> Option:
    """An option by the names of its analysis and its own, or a SettingsError."""
    return _find(analysis).option(option)


def add_options(
    requests: Sequence[str], texts: Sequence[str], find: Callable[[str, str], Option]
) -> list[Request]:
    """Requests with what --option says of them.

    texts  "ANALYSIS.OPTION=VALUE" each
    find   the option of an analysis by both names, or a SettingsError

    >>> add_options(["mda", "umfi=linear"], ["umfi.n_repeats=5"], find_option)
    ['mda', ('umfi=linear', {'n_repeats': 5})]
    """
    given: dict[str, dict[str, Any]] = {split_request(request)[0]: {} for request in requests}
    for text in texts:
        path, equals, value = text.partition("=")
        name, dot, option = path.strip().partition(".")
        if not (equals and dot):
            raise SettingsError(
                f"--option is written ANALYSIS.OPTION=VALUE, e.g. umfi.n_repeats=5, not {text!r}."
            )
        name = name.replace("_", "-")
        if name not in given:
            raise SettingsError(f"--option {path}: the analysis {name} is not run (--analysis).")
        if option in given[name]:
            raise SettingsError(f"--option {path} is given twice.")
        given[name][option] = find(name, option).parse(value, name)
    joined: list[Request] = []
    for request in requests:
        options = given[split_request(request)[0]]
        joined.append((request, options) if options else request)
    return joined
