"""`make demo` and `srs demo`: the main job end to end, on data made here whose truth is known.

120,000 features x 800 samples are written as a .npy file, ingested into a feature store, and
selected from under a memory budget. Seven features matter: six by themselves, and a seventh only
given one of the six, which turns its effect around; by itself it says nothing of the target, so
that no test of one feature at a time can find it.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

N_SAMPLES, N_FEATURES, SEED = 800, 120_000, 7
MEMORY = "512MB"


def make_data(folder: Path, n_features: int = N_FEATURES) -> tuple[Path, Path, dict[int, str]]:
    """Write X.npy and y.npy; returns their paths and what was planted where."""
    rng = np.random.default_rng(SEED)
    places = rng.choice(n_features, 7, replace=False)
    X = np.lib.format.open_memmap(
        folder / "X.npy", mode="w+", dtype=np.float32, shape=(N_SAMPLES, n_features)
    )
    for i in range(N_SAMPLES):
        X[i] = rng.standard_normal(n_features, dtype=np.float32)
    by_itself, gate, turned = X[:, places[:5]], X[:, places[5]], X[:, places[6]]
    score = by_itself.sum(1) + gate + 2.0 * np.where(gate > 0, turned, -turned)
    y = np.where(score + rng.normal(0, 0.5, N_SAMPLES) > 0, "case", "control")
    X.flush()
    np.save(folder / "y.npy", y)
    truth = {int(f): "by itself" for f in places[:6]}
    truth[int(places[6])] = f"only given f{places[5]}"
    return folder / "X.npy", folder / "y.npy", truth


def main(folder: str = "demo-output", n_features: int = N_FEATURES) -> int:
    """Run the demo in a folder; returns the number of planted features that were not found."""
    from srs.results.result import load_result

    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    store, run = home / "wide.zarr", home / "run"
    print(f"1. Making {n_features:,} features x {N_SAMPLES} samples, 7 of them relevant ...")
    x_path, y_path, truth = make_data(home, n_features)
    started = time.monotonic()
    for title, command in (
        (
            "2. Ingesting",
            [
                "ingest",
                str(x_path),
                str(store),
                "--target",
                str(y_path),
                "--memory",
                MEMORY,
                "--overwrite",
            ],
        ),
        (
            f"3. Selecting within {MEMORY}",
            [
                "select",
                str(store),
                "--memory",
                MEMORY,
                "--seed",
                "0",
                "--out",
                str(run),
                "--overwrite",
            ],
        ),
    ):
        print(f"\n{title}:  srs {' '.join(command)}", flush=True)
        subprocess.run([sys.executable, "-m", "srs.cli", *command], check=True)
    result = load_result(run)
    found = set(result.relevant_ids.tolist())
    print("\n4. Against the truth")
    for feature, how in truth.items():
        mark = "found " if feature in found else "MISSED"
        print(f"   {mark}  f{feature:<7} matters {how}")
    print(f"   false: {len(found - set(truth))}")
    print(
        f"   peak memory {result.peak_mem / 1e6:.0f} MB, {time.monotonic() - started:.0f} s in all"
    )
    print(f"   report: {run / 'report.html'}")
    return len(set(truth) - found)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1] if len(sys.argv) > 1 else "demo-output") else 0)
