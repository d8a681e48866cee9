"""Sentences of the library for users of the service: options by name, not as the shell has them."""

from __future__ import annotations

import re

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
