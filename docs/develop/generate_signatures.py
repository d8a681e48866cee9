"""Write signatures, options, schema and tables of settings from `srs.settings`: `make generate`.

Each file below has regions that are rewritten, between a line "generated: NAME" and a line "end
generated"; in docstrings, from a line that names `make generate` to the next empty line. The rest
of a file is written by hand. tests/test_generated.py fails when a region is stale.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from srs.catalogue.option import label_of
from srs.setting import EVERYBODY, GROUPS, Setting
from srs.settings import OF_RESULTS, SETTINGS

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 100
Lines = Iterator[str]

# A selector has scikit-learn's random_state and n_jobs for seed and threads, and X and y say what
# the target, the samples and the features are. It keeps no files.
NOT_OF_A_SELECTOR = {
    "seed",
    "threads",
    "target",
    "samples",
    "features",
    "keep_trees",
    "folder",
    "resume",
    "on_progress",
    "finish",
}
# Limits of the service alone: what JSON numbers hold, and what is sensible from strangers.
MOST = {"seed": 2**53, "max_seconds": 1e9, "max_carried": 10_000}
MOST_ITEMS = {"pinned": 1_000, "confounders": 100, "covariates": 1_000}
# Options that had another name, which is still taken.
OTHER_OPTIONS = {"confounders": "--confounder", "covariates": "--covariate"}


def quoted(text: str) -> str:
    """A literal as ruff writes it."""
    return repr(text) if '"' in text and "'" not in text else json.dumps(text, ensure_ascii=False)


def keyword(name: str, text: str, indent: str) -> Lines:
    """name="...", on as many lines as it takes."""
    whole = f"{indent}{name}={quoted(text)},"
    if len(whole) <= WIDTH:
        yield whole
        return
    parts = textwrap.wrap(text, WIDTH - len(indent) - len(name) - 5, drop_whitespace=False)
    for i, part in enumerate(parts):
        start = f"{name}=" if i == 0 else ""
        yield f"{indent}{start}{quoted(part)}{',' if i == len(parts) - 1 else ''}"


def literal(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else repr(value)


def words(setting: Setting) -> str:
    """The help with letter, and range or choices: "Share of ... (alpha): between 0 and 1"."""
    letter = f" ({setting.symbol})" if setting.symbol else ""
    values = setting.span if setting.span.startswith("between") else ""
    if not any(f'"{choice}"' in setting.help for choice in setting.choices):
        values = values or ", ".join(map(str, setting.choices))
    return f"{setting.help.removesuffix('.')}{letter}{f': {values}' if values else ''}"


# -- Python ---------------------------------------------------------------------------------------


def python_type(setting: Setting) -> tuple[str, str]:
    """Type and default of an argument; a list that is not given is None."""
    if setting.public_name == "memory":
        return "str | int | None", "None"
    if setting.is_list:
        inner = setting.type.removeprefix("tuple[").removesuffix(", ...]")
        return f"Sequence[{inner}] | None", "None"
    return setting.type, literal(setting.default)


def arguments() -> Lines:
    for setting in SETTINGS:
        kind, default = python_type(setting)
        yield f"    {setting.public_name}: {kind} = {default},"


def selector_fields() -> Lines:
    for setting in SETTINGS:
        if setting.name not in NOT_OF_A_SELECTOR:
            kind, default = python_type(setting)
            yield f"    {setting.public_name}: {kind} = {default}"


def described(setting: Setting) -> str:
    """What a docstring says of it."""
    unset = f"; None: {setting.unset}" if setting.unset else ""
    return words(setting) + unset


def argument_docs() -> Lines:
    longest = max(len(setting.public_name) for setting in SETTINGS)
    for setting in SETTINGS:
        yield from textwrap.wrap(
            described(setting),
            WIDTH,
            initial_indent=f"    {setting.public_name:<{longest}}  ",
            subsequent_indent=" " * (longest + 6),
        )


def selector_docs() -> Lines:
    for setting in SETTINGS:
        if setting.name not in NOT_OF_A_SELECTOR:
            text = f"{setting.public_name} : {described(setting)}."
            yield from textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent=" " * 8)


# -- command line ---------------------------------------------------------------------------------


def alias(setting: Setting) -> str:
    return setting.public_name.title().replace("_", "")


def option_type(setting: Setting) -> tuple[str, str]:
    if setting.public_name == "memory":
        return "str | None", "None"
    if setting.is_list:
        return "list[str] | None", "None"
    return setting.type, literal(setting.default)


def option_names(setting: Setting) -> list[str]:
    name = "--" + setting.public_name.replace("_", "-")
    if setting.type == "bool" and not setting.default:
        return [name]  # without --no-...
    return [name, OTHER_OPTIONS[setting.name]] if setting.name in OTHER_OPTIONS else []


def metavar(setting: Setting) -> str:
    if setting.choices:
        return "|".join(map(str, setting.choices))
    if setting.public_name == "memory":
        return "AMOUNT"
    return "NAME" if setting.is_list or setting.type.startswith("str") else ""


def panels() -> Lines:
    for group, title in GROUPS.items():
        yield f"{group.upper()} = {quoted(title)}"
    yield f"PANELS = ({', '.join(group.upper() for group in GROUPS)})"


def options() -> Lines:
    for setting in OF_RESULTS:
        text = words(setting) + "."
        text += " Repeat for more." if setting.is_list else ""
        text += f" Default: {setting.unset}." if setting.unset else ""
        yield f"{alias(setting)} = Annotated["
        yield f"    {option_type(setting)[0]},"
        yield "    typer.Option("
        for name in option_names(setting):
            yield f"        {quoted(name)},"
        if metavar(setting):
            yield f"        metavar={quoted(metavar(setting))},"
        yield from keyword("help", text, "        ")
        yield f"        rich_help_panel={setting.group.upper()},"
        yield "    ),"
        yield "]"


def option_arguments(without: tuple[str, ...] = (), remote: bool = False) -> Lines:
    for setting in OF_RESULTS:
        if setting.name not in without and not (remote and setting.who != EVERYBODY):
            default = option_type(setting)[1]
            yield f"    {setting.public_name}: setting_options.{alias(setting)} = {default},"


# -- service --------------------------------------------------------------------------------------


def schema_type(setting: Setting) -> str:
    if setting.public_name == "memory":
        return "Memory"
    if setting.public_name == "feature_sets":
        return "FeatureSets | None"
    none = " | None" if setting.is_optional else ""
    if setting.installed is not None:
        return f"list[{setting.name.capitalize()}Name] | None"
    if setting.is_list and setting.choices:
        return f"list[Literal[{', '.join(map(literal, setting.choices))}]] | None"
    if setting.is_list:
        return "list[Label | FeatureId]" if "int" in setting.type else "list[Label]"
    if setting.choices:
        return f"Literal[{', '.join(map(literal, setting.choices))}]{none}"
    if setting.low is not None:
        return schema_number(setting) + none
    return ("Label" if setting.type.startswith("str") else setting.type.split(" ")[0]) + none


def schema_number(setting: Setting) -> str:
    high = MOST.get(setting.name, setting.high)
    whole = setting.type.startswith("int")
    if whole and (setting.low, high) == (1, 2**31 - 1):
        return "Count"
    if not whole and (setting.low, high, setting.open_ends) == (0, 1, False):
        return "Share"
    low_name, high_name = ("gt", "lt") if setting.open_ends else ("ge", "le")
    bounds = f"Field({low_name}={setting.low!r}, {high_name}={high!r})"
    return f"Annotated[{'int' if whole else 'float'}, {bounds}{', WHOLE' if whole else ''}]"


def schema_default(setting: Setting) -> str:
    if setting.public_name == "memory":
        return quoted(setting.unset)
    if setting.is_list:
        return "None" if setting.default else "[]"
    return literal(setting.default)


def schema_fields() -> Lines:
    for setting in SETTINGS:
        if setting.who != EVERYBODY:
            continue
        extra = {"x-group": GROUPS[setting.group]}
        if setting.symbol:
            extra["x-symbol"] = setting.symbol
        text = setting.help
        if setting.unset and schema_default(setting) == "None":
            text += f" null: {setting.unset}."
        yield f"    {setting.public_name}: {schema_type(setting)} = Field("
        yield f"        {schema_default(setting)},"
        yield f"        title={quoted(label_of(setting.public_name))},"
        if setting.is_list and setting.choices:
            yield "        min_length=1,"
            if setting.installed is None:
                yield f"        max_length={len(setting.choices)},"
        if setting.name in MOST_ITEMS:
            yield f"        max_length={MOST_ITEMS[setting.name]},"
        yield from keyword("description", text, "        ")
        members = [f"{quoted(k)}: {quoted(v)}" for k, v in extra.items()]
        if setting.is_list and setting.choices:
            members.append('"uniqueItems": True')
        yield f"        json_schema_extra={{{', '.join(members)}}},"
        yield "    )"


def refusals() -> Lines:
    sentence = {
        "operator": "is set by the operator of the service, not by a job",
        "local": "is for runs on your own machine, not for jobs of a service",
    }
    for setting in SETTINGS:
        if setting.who != EVERYBODY:
            text = f"{setting.public_name} {sentence[setting.who]}."
            yield f"    {quoted(setting.public_name)}: {quoted(text)},"


def client_fields() -> Lines:
    for setting in SETTINGS:
        if setting.who == EVERYBODY:
            kind = "str" if setting.public_name == "memory" else python_type(setting)[0]
            yield f"    {setting.public_name}: {kind}"


# -- documents ------------------------------------------------------------------------------------


WORDS_FOR_TYPES = {
    "float": "number",
    "int": "whole number",
    "str": "name",
    "bool": "true or false",
    "str | int": "amount, or bytes",
    "Sequence[str | int]": "names or ids",
    "Sequence[str]": "names",
    "Chosen": "names, ids or numbers",
    "str | os.PathLike[str]": "path",
    "Any": "see there",
    "Callable[[Progress], None]": "function",
}


def table() -> Lines:
    whose = {"everybody": "everybody", "local": "locally", "operator": "operator of a service"}
    for group, title in GROUPS.items():
        yield f"## {title}"
        yield ""
        yield "| setting | letter | values | default | who may set it | what it is |"
        yield "|---|---|---|---|---|---|"
        for setting in SETTINGS:
            if setting.group == group:
                kind = python_type(setting)[0].removesuffix(" | None")
                kind = WORDS_FOR_TYPES.get(kind, kind)
                values = ", ".join(f"`{c}`" for c in setting.choices) or f"{kind} {setting.span}"
                default = setting.unset or f"`{literal(setting.default)}`"
                cells = [f"`{setting.public_name}`", setting.symbol, values.strip(), default]
                yield f"| {' | '.join([*cells, whose[setting.who], setting.help])} |"
        yield ""


SELECTION, COMMANDS = "srs/selection/", "srs/cli/commands/"
SCHEMA = "service/srs_service/schemas/select_settings.py"
# File and region -> what writes it; None is the region of a docstring.
REGIONS: dict[tuple[str, str | None], Callable[[], Lines]] = {
    (SELECTION + "select.py", "settings"): arguments,
    (SELECTION + "select.py", None): argument_docs,
    (SELECTION + "plan.py", "settings"): arguments,
    (SELECTION + "selector.py", "settings"): selector_fields,
    (SELECTION + "selector.py", None): selector_docs,
    ("srs/cli/setting_options.py", "panels"): panels,
    ("srs/cli/setting_options.py", "settings"): options,
    (COMMANDS + "select.py", "settings"): option_arguments,
    (COMMANDS + "plan.py", "settings"): option_arguments,
    (COMMANDS + "submit.py", "settings"): lambda: option_arguments(("target",), remote=True),
    ("srs/client/settings.py", "settings"): client_fields,
    (SCHEMA, "settings"): schema_fields,
    (SCHEMA, "refusals"): refusals,
    ("docs/settings.md", "settings"): table,
}


def rewritten(path: str, text: str) -> str:
    """The text of a file with its regions as they should be."""
    for (file, name), write in REGIONS.items():
        if file != path:
            continue
        if name is None:
            pattern = r"(^    [^\n]*`make generate`[^\n]*\n)(.*?)(?=^\s*$|^    \"\"\")"
        else:
            pattern = rf"(^[^\n]*generated: {name}\b[^\n]*\n)(.*?)(?=^[^\n]*end generated)"
        body = "".join(f"{line}\n" for line in write())
        text, n = re.subn(pattern, lambda found, b=body: found[1] + b, text, flags=re.M | re.S)
        if not n:
            raise SystemExit(f"{path} has no region {name or 'of a docstring'}")
    return text


def main() -> int:
    """Rewrite all files; with --check only say which are stale."""
    stale = []
    for path in dict.fromkeys(file for file, _ in REGIONS):
        file = ROOT / path
        before = file.read_text(encoding="utf-8")
        after = rewritten(path, before)
        if after != before:
            stale.append(path)
            if "--check" not in sys.argv:
                file.write_text(after, encoding="utf-8")
    for path in stale:
        print(path)
    return len(stale) if "--check" in sys.argv else 0


if __name__ == "__main__":
    raise SystemExit(main())
