"""Every door takes the settings that `srs.settings` describes, with the same names and defaults."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from typer.main import get_command

import srs
from srs.cli.app import app
from srs.client.settings import SelectSettings as ClientSettings
from srs.setting import EVERYBODY, GROUPS, Setting
from srs.settings import OF_RESULTS, SETTINGS, Settings
from srs_service.schemas.select_settings import REFUSED, SelectSettings

ROOT = Path(__file__).resolve().parents[1]
BY_NAME = {setting.public_name: setting for setting in SETTINGS}
# Of scikit-learn: its own names, and what X and y say; a selector keeps no files.
OF_A_SELECTOR = {"random_state", "n_jobs", "target_kind"}
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
# On the command line: an executor has three forms, a folder is --out, progress is shown, and a
# signal asks to finish.
OTHERWISE = {"executor", "folder", "on_progress", "finish"}
NOT_PLANNED = OTHERWISE | {"tls", "task_timeout", "resume"}


def default(setting: Setting) -> Any:
    """What functions and commands have as default: what is not given is None."""
    return None if setting.is_list or setting.public_name == "memory" else setting.default


def test_no_region_is_stale():
    program = ROOT / "docs" / "develop" / "generate_signatures.py"
    done = subprocess.run(
        [sys.executable, program, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"run `make generate`: {done.stdout}{done.stderr}"


def test_every_setting_is_described():
    for setting in SETTINGS:
        assert re.fullmatch(r"[A-Z\"].+\.", setting.help), setting.name
        assert setting.group in GROUPS, setting.name
        if setting.default is None and setting.name != "on_progress":
            assert setting.unset, f"say what None stands for: {setting.name}"
    letters = {s.symbol: s.name for s in SETTINGS if s.symbol}
    assert letters == {
        "alpha": "carry_fraction",
        "K": "max_features",
        "L": "probe_draws",
        "beta": "probe_share",
        "q": "subspace_size",
    }


@pytest.mark.parametrize("function", [srs.select, srs.plan, srs.check])
def test_functions(function):
    parameters = dict(inspect.signature(function).parameters)
    del parameters["store"]
    assert {name: p.default for name, p in parameters.items()} == {
        name: default(setting) for name, setting in BY_NAME.items()
    }
    assert all(p.kind is p.KEYWORD_ONLY and p.annotation for p in parameters.values())
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        function("no.zarr", nonsense=1)


def test_the_docstring_of_select_names_all():
    for name in BY_NAME:
        assert re.search(rf"^ +{name} +\S", srs.select.__doc__ or "", re.M), name


def test_the_selector():
    parameters = inspect.signature(srs.SRSSelector).parameters
    assert {n: p.default for n, p in parameters.items() if n not in OF_A_SELECTOR} == {
        name: default(setting) for name, setting in BY_NAME.items() if name not in NOT_OF_A_SELECTOR
    }
    assert set(parameters) >= OF_A_SELECTOR
    for name in parameters:
        assert re.search(rf"^ +{name} : \S", srs.SRSSelector.__doc__ or "", re.M), name
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        srs.SRSSelector(nonsense=1)


def options_of(command: str) -> dict[str, Any]:
    found = get_command(app).commands[command]  # type: ignore[attr-defined]
    return {parameter.name: parameter for parameter in found.params}


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("select", BY_NAME.keys() - OTHERWISE),
        ("plan", BY_NAME.keys() - NOT_PLANNED),
        ("submit", {name for name, s in BY_NAME.items() if s.who == EVERYBODY}),
    ],
)
def test_commands(command, names):
    options = options_of(command)
    assert BY_NAME.keys() & options.keys() == names
    for name in names:
        setting, option = BY_NAME[name], options[name]
        assert "--" + name.replace("_", "-") in option.opts
        assert option.default == default(setting), name
        if setting in OF_RESULTS and (command, name) != ("submit", "target"):
            assert setting.help.removesuffix(".") in option.help, name
            assert option.rich_help_panel == GROUPS[setting.group], name
            assert setting.symbol in option.help
        for choice in setting.choices:
            assert str(choice) in f"{option.metavar} {option.help}"


def test_jobs():
    fields = SelectSettings.model_fields
    assert set(fields) == {name for name, s in BY_NAME.items() if s.who == EVERYBODY}
    properties = SelectSettings.model_json_schema()["properties"]
    for name, field in fields.items():
        setting = BY_NAME[name]
        expected = [] if setting.is_list and not setting.default else default(setting)
        assert field.default == ("2GB" if name == "memory" else expected), name
        assert properties[name]["description"].startswith(setting.help), name
        assert properties[name]["x-group"] == GROUPS[setting.group]
        assert properties[name].get("x-symbol", "") == setting.symbol
        if setting.choices:
            assert set(choices_of(field.annotation)) == {*setting.choices}, name
    assert set(REFUSED) == BY_NAME.keys() - fields.keys()
    assert REFUSED["threads"] == "threads is set by the operator of the service, not by a job."


def choices_of(annotation: Any) -> list[Any]:
    """Values of the `Literal` in a type."""
    if get_origin(annotation) is None:
        return [] if isinstance(annotation, type) else [annotation]
    return [value for part in get_args(annotation) for value in choices_of(part)]


def test_the_client():
    assert set(ClientSettings.__annotations__) == set(SelectSettings.model_fields)


def test_the_page_of_settings():
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "settings.md").read_text(), re.M)
    assert sorted(rows) == sorted(BY_NAME)


def test_ranges_of_jobs_are_those_of_runs():
    """What the schema takes at its ends, `Settings` takes; the service may be narrower."""
    for name, schema in SelectSettings.model_json_schema()["properties"].items():
        setting = BY_NAME[name]
        number = next((s for s in [schema, *schema.get("anyOf", ())] if "minimum" in s), None)
        if number is not None:
            for value in (number["minimum"], number["maximum"]):
                Settings(**{setting.name: int(value) if "int" in setting.type else value})
