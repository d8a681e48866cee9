"""The commands that srs-select-client lacks: each says what to install.

The other side is `srs.cli.local`, which srs-select has.
"""

from __future__ import annotations

import typer

from srs.cli.failures import reported
from srs.errors import InputError

NAMES = (
    "ingest",
    "info",
    "plan",
    "select",
    "explain",
    "results",
    "export",
    "evaluate",
    "compare",
    "verify",
    "doctor",
    "demo",
    "serve",
    "keys",
)
EXAMPLES = f"""This is srs-select-client, which only uses a service. srs-select also runs locally:
it adds the commands {", ".join(NAMES)}.

\b
Read the report of a result:
  srs report run3
"""
# Whatever stands behind the name, --help too: the answer is the same.
_ANYTHING = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "allow_interspersed_args": False,
    "help_option_names": [],
}


def add_commands(app: typer.Typer) -> None:
    """Add commands that only refuse, and that the help does not list."""
    for name in NAMES:
        app.command(name, hidden=True, context_settings=_ANYTHING)(_refuse)


def _refuse(context: typer.Context) -> None:
    with reported(as_json=False):
        raise InputError(
            f"`srs {context.info_name}` needs srs-select, and only srs-select-client is installed: "
            "pip uninstall srs-select-client, then pip install srs-select."
        )
