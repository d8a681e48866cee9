"""A run as a Research Object Crate: a folder or .zip of its files, with what made them.

It follows the Process Run Crate, the profile of the Workflow Run collection for one program that
was run: the files of the run are results of an action, whose instrument is srs in its version, and
whose objects are the store and the settings.
"""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from srs.errors import InputError
from srs.results.export.write import refuse_existing
from srs.results.record import NAME as RECORD_NAME
from srs.results.result import Result, load_result

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
METADATA_NAME = "ro-crate-metadata.json"
KINDS = {
    "result.json": ("application/json", "Result: settings, data, outcome, measurements"),
    "features.parquet": ("application/vnd.apache.parquet", "Table of all features"),
    "effects.parquet": ("application/vnd.apache.parquet", "Effects of relevant features"),
    "profiles.parquet": ("application/vnd.apache.parquet", "Target by levels of features"),
    "pairs.parquet": ("application/vnd.apache.parquet", "Pairs of features that matter together"),
    "report.html": ("text/html", "Report"),
    "explain.json": ("application/json", "Explanation: results of analyses"),
    RECORD_NAME: ("application/toml", "Options of the command"),
}


def write_crate(run: str | os.PathLike[str], path: str | os.PathLike[str] | None) -> Path:
    """Write the crate of a run: a .zip, a folder, or (None) the metadata into the run's folder."""
    try:
        from rocrate.rocrate import ROCrate
    except ModuleNotFoundError:
        raise InputError("a crate needs rocrate: pip install 'srs-select[crate]'.") from None
    if isinstance(run, Result):
        raise InputError("a crate is made of the folder of a run: save the result, and give that.")
    folder = Path(run)
    result = load_result(folder)
    destination = folder if path is None else Path(path)
    if path is None:
        refuse_existing(folder / METADATA_NAME)
    else:
        refuse_existing(destination)
    crate = ROCrate(version="1.1")  # which the profile is written for
    _describe(crate, folder, result)
    if path is None:
        crate.metadata.write(folder)
        return folder / METADATA_NAME
    if destination.suffix == ".zip":
        crate.write_zip(destination)
    else:
        crate.write(destination)
    return destination


def _describe(crate: Any, folder: Path, result: Result) -> None:
    from rocrate.model.contextentity import ContextEntity

    def add(at: str, **properties: Any) -> Any:
        return crate.add(ContextEntity(crate, at, properties=properties))

    data, measured = result.document["data"], result.document["measured"]
    crate.name = f"Features relevant to {data['target']}"
    crate.description = f"{len(result.relevant_ids)} of {data['n_features']} features are relevant."
    crate.root_dataset["datePublished"] = measured["finished_at"]
    crate.root_dataset["license"] = "The terms of the data apply: none are stated here."
    crate.root_dataset["conformsTo"] = add(
        PROFILE, **{"@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    )
    files = [_add_file(crate, folder / name) for name in KINDS if (folder / name).exists()]
    program = add(
        "#srs",
        **{
            "@type": "SoftwareApplication",
            "name": "srs",
            "softwareVersion": measured["versions"]["srs"],
            "softwareRequirements": [
                f"{name} {number}" for name, number in measured["versions"].items() if name != "srs"
            ],
        },
    )
    store = add(
        f"#store-{data['fingerprint']}",
        **{
            "@type": "Dataset",
            "name": Path(measured["store"] or "memory").name,
            "description": f"{data['n_features']} features x {data['n_samples']} samples",
            "identifier": data["fingerprint"],
        },
    )
    settings = [
        add(
            f"#setting-{name}",
            **{"@type": "PropertyValue", "name": name, "value": _value(value)},
        )
        for name, value in result.document["settings"].items()
        if value is not None
    ]
    record = [one for one in files if one.id == RECORD_NAME]
    action = add(
        "#run",
        **{
            "@type": "CreateAction",
            "name": "Selection of relevant features",
            "description": _command(folder) or result.stop_reason,
            "startTime": _started(measured),
            "endTime": measured["finished_at"],
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    action["instrument"] = program
    action["object"] = [store, *record, *settings]
    action["result"] = [one for one in files if one.id != RECORD_NAME]
    crate.root_dataset["mentions"] = [action]


def _add_file(crate: Any, path: Path) -> Any:
    kind, title = KINDS[path.name]
    properties = {"name": title, "encodingFormat": kind, "contentSize": str(path.stat().st_size)}
    return crate.add_file(path, path.name, properties=properties)


def _value(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else json.dumps(value)


def _command(folder: Path) -> str:
    """The command line, from the head of run.toml."""
    path = folder / RECORD_NAME
    if not path.exists():
        return ""
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines[1].removeprefix("# ") if len(lines) > 1 else ""


def _started(measured: Any) -> str:
    ended = datetime.fromisoformat(measured["finished_at"])
    return (ended - timedelta(seconds=measured["seconds"])).isoformat(timespec="seconds")
