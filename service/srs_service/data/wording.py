"""Sentences of the library for users of the service: options by name, not as the shell has them,
and no paths of the server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from srs_service.schemas.datasets import SourceRequest
from srs_service.schemas.select_settings import SelectSettings

# Where the shell gives one value at a time, requests have a list.
LISTS = {
    "sample_column": "sample_columns",
    "covariate": "covariates",
    "confounder": "confounders",
}
KNOWN = {*SourceRequest.model_fields, *SelectSettings.model_fields, *LISTS}


def name_options(text: str) -> str:
    """A sentence with the options of requests in the place of the shell's.

    >>> name_options("give it in a table (--table), or with --sample-column site.")
    'give it in a table (`table`), or with `sample_columns` site.'
    """

    def name(match: re.Match[str]) -> str:
        option = match[1].replace("-", "_")
        return f"`{LISTS.get(option, option)}`" if option in KNOWN else match[0]

    return re.sub(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)", name, text)


def hide_paths(text: str, order: Mapping[str, Any]) -> str:
    """The text with names in the place of the server's paths and of the shell's options.

    >>> hide_paths("/data/d_1.zarr has no target (--target).", {"location": "/data/d_1.zarr"})
    'the dataset has no target (`target`).'
    """
    hidden = {
        str(order.get("location") or ""): "the dataset",
        str(order.get("folder") or ""): "the job",
    }
    for files in order.get("files", {}).values():
        for path in (Path(file["path"]) for file in files if file["path"] is not None):
            what = "the " + files[0]["as"].replace("_", " ")
            hidden |= {str(path): what, str(path.with_suffix("")): what}  # and what is beside it
    for known, shown in sorted(hidden.items(), key=lambda entry: -len(entry[0])):
        text = text.replace(known, shown) if known else text
    return name_options(text)
