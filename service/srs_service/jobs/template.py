"""What children start with: imported by the template process, which they are forked from.

Importing this module is what it is for. Nothing here starts a thread: a fork would lose it.
"""

from __future__ import annotations

import srs
from srs_service.jobs.work import WORK

# Names of `srs` are imported when they are first used, which is now.
READY = (srs.select, srs.explain, srs.plan, srs.check, srs.open_store, srs.load_result, WORK)

srs.load_kernels()
