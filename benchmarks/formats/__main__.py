"""`python -m benchmarks.formats reading packing [bed csv.gz ...]`: some parts or formats alone."""

from __future__ import annotations

import sys

from benchmarks.formats import packing, reading

if __name__ == "__main__":
    names = sys.argv[1:]
    if "packing" in names:
        for line in packing.run():
            line.show()
    if "reading" in names:
        for line in reading.run([n for n in names if n in reading.FORMATS] or None):
            line.show()
