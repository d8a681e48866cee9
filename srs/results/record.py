"""run.toml: the options that a command resolved to, which `srs select --config run.toml` repeats.

What a result says of itself (settings, seed, fingerprint, versions) is in result.json. This file
adds what only the command knew: files, places, and the command line.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from srs.errors import InputError, SettingsError, near

NAME = "run.toml"


def write_record(folder: Path, options: Mapping[str, Any], command: str, version: str) -> Path:
    """Write the options of a run; those that are not set are left out, as TOML has no null."""
    lines = [f"# srs {version}", f"# {' '.join(command.split())}"]
    for name, value in options.items():
        if value is not None and not (isinstance(value, Sequence) and len(value) == 0):
            lines.append(f"{name} = {_written(value)}")
    from srs.results.result import write_text  # pyarrow, which no other part of this needs

    path = folder / NAME
    write_text(path, "\n".join(lines) + "\n")
    return path


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_written(one) for one in value)}]"
    return json.dumps(str(value))


def read_record(folder: Path) -> dict[str, Any]:
    """The options in the folder of a run; empty if it has no run.toml."""
    path = folder / NAME
    return read_options(path, None) if path.exists() else {}


def read_options(path: Path, known: Sequence[str] | None) -> dict[str, Any]:
    """Options from a TOML file, by name; dashes and underscores are alike.

    known  names that there are; None: all
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read as TOML: {error}") from None
    options = {name.replace("-", "_"): value for name, value in raw.items()}
    for name, value in options.items():
        if known is not None and name not in known:
            raise SettingsError(f"{path}: there is no option {name!r}{near(name, list(known))}")
        if isinstance(value, dict):
            raise SettingsError(
                f"{path}: {name!r} is a table; options stand at the top, one a line."
            )
    return options
