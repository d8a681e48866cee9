"""The kernels are compiled by a child, so that a first run stays within its memory."""

import os
import subprocess
import sys

import pytest

CODE = """
import sys
from srs import kernels
before = kernels.is_compiled()
kernels.ensure_compiled()
from srs.tree import TreeTarget, grow
import numpy as np
grow(np.eye(4, dtype=np.uint8), TreeTarget.of_classes(np.arange(4) % 2, 2), 1)
from srs.tree.kernel import grow_tree
print(before, kernels.is_compiled(), sum(grow_tree.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_a_child_compiles_into_the_cache(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout.split() == ["False", "True", "1"]
