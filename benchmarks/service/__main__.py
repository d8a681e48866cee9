"""`python -m benchmarks.service overhead requests ...`: some parts alone."""

from __future__ import annotations

import sys

from benchmarks.service import PARTS

if __name__ == "__main__":
    for part in PARTS:
        if part.__name__.rpartition(".")[2] in sys.argv[1:]:
            for line in part.run():
                line.show()
