"""The template that children are forked from: it has what they need, and no thread."""

from __future__ import annotations

import subprocess
import sys

from srs.engine.kernels import ensure_compiled
from tests.service.server import ROOT

LOOK = """
import sys, threading
import srs_service.jobs.template
from srs.trees.kernel import grow_tree
print(threading.active_count(), len(grow_tree.signatures), "srs.selection.select" in sys.modules)
"""


def test_the_template_has_loaded_kernels_and_started_no_thread():
    ensure_compiled()
    found = subprocess.run(
        [sys.executable, "-c", LOOK], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert found.split() == ["1", "1", "True"]
