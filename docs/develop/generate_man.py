"""Write the manual page srs/cli/srs.1 from the commands of the program: `make generate`.

    man -l srs/cli/srs.1

The page is installed to share/man/man1. tests/test_generated.py fails when it is stale.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

import srs
from srs.cli.app import app
from srs.cli.failures import EXIT_CODES

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "srs" / "cli" / "srs.1"
SUMMARY = "select and explain relevant features of data larger than memory"


def roff(text: str) -> str:
    """A text in which nothing is a command of roff.

    >>> roff(".TH a-b"), roff("a\\\\b")
    ('\\\\&.TH a\\\\-b', 'a\\\\eb')
    """
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", escaped, flags=re.M)


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs of a help text; those that begin with \\b keep their lines."""
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        kept = part.lstrip().startswith("\b")
        lines = [line for line in part.replace("\b", "").split("\n") if line.strip()]
        if not lines:
            continue
        yield ".PP"
        if kept:
            indent = min(len(line) - len(line.lstrip()) for line in lines)
            yield from (".nf", *(roff(line[indent:]) for line in lines), ".fi")
        else:
            yield roff(" ".join(line.strip() for line in lines))


def command_lines(name: str, command: Any) -> Iterator[str]:
    """The section of a command: usage, help, options."""
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f".SS {roff(f'srs {name}')}"
    yield f".B srs {roff(name)}"
    yield roff(usage)
    yield from paragraphs(command.help or "")
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and parameter.name != "help":
            yield ".TP"
            yield f".B {roff(record[0])}"
            yield roff(" ".join(record[1].split()))


def commands_of(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """All commands with their names, those of groups too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, f"{before}{name} ")
        if not hasattr(command, "commands") and not command.hidden:
            yield f"{before}{name}", command


def page() -> str:
    """The whole page."""
    program: Any = get_command(app)
    lines = [
        f'.TH SRS 1 "" "srs {srs.__version__}" "User commands"',
        ".SH NAME",
        f"srs \\- {SUMMARY}",
        ".SH SYNOPSIS",
        ".B srs",
        "[\\-\\-quiet | \\-\\-verbose] COMMAND [ARGS]...",
        ".SH DESCRIPTION",
        *paragraphs(program.help),
        ".SH COMMANDS",
    ]
    for name, command in commands_of(program):
        lines += command_lines(name, command)
    lines += [".SH EXIT STATUS"]
    for code, meaning in EXIT_CODES.items():
        lines += [".TP", f".B {code}", roff(meaning)]
    lines += [
        ".SH ENVIRONMENT",
        *(".TP", ".B SRS_URL, SRS_API_KEY", "Address and key of a service."),
        *(".TP", ".B SRS_DEBUG", "If set, errors show their traceback."),
        *(".TP", ".B TMPDIR", "Folder for temporary files, which may be as large as the data."),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page; with --check only say whether it is stale."""
    text = page()
    if "--check" in sys.argv:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
