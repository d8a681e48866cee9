"""Logs for machines: one JSON object a line, with the request's or job's id where there is one."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {
    "message",
    "asctime",
    "taskName",
}


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "log": record.name,
            "message": record.getMessage(),
            **_extras(record),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class TextLines(logging.Formatter):
    """The same for people: control characters from outside are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="seconds")
        extras = " ".join(f"{name}={value}" for name, value in _extras(record).items())
        line = f"{at} {record.levelname.lower()} {record.getMessage()} {extras}".rstrip()
        shown = line.encode("unicode_escape").decode()
        return f"{shown}\n{self.formatException(record.exc_info)}" if record.exc_info else shown


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in record.__dict__.items() if name not in STANDARD}


def start_logging(log_format: str) -> None:
    """Log the service and uvicorn's own notices to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if log_format == "json" else TextLines())
    for name in ("srs_service", "uvicorn", "srs"):
        log = logging.getLogger(name)
        log.handlers = [handler]
        log.propagate = False
    logging.getLogger("srs_service").setLevel(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
