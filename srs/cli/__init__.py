"""The command line: `srs ingest`, `srs info`, `srs select`, `srs report`, `srs serve`, ...

`app` holds the commands together, each has its module, `failures` turns errors into messages and
exit codes. Modules that take long to import are imported inside commands, so that `srs --help`
answers at once.
"""

from srs.cli.app import main

__all__ = ["main"]
