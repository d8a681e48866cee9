"""Write the project of srs-select-client: the files of `srs` that a client needs.

    python deploy/client/make_project.py FOLDER
    python -m build --outdir dist FOLDER        # or: pip install FOLDER

All files are those of srs-select, byte for byte, so that both distributions can share a folder.
What is listed here imports nothing that is not, but inside functions that need the rest of `srs`;
tests/client/test_light.py compares the list with the imports, and runs the client by itself.
"""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import copyfile

ROOT = Path(__file__).resolve().parents[2]
BESIDE = ("deploy/client/README.md", "deploy/client/pyproject.toml", "LICENSE")
FILES = (
    "srs/__init__.py",
    "srs/py.typed",
    "srs/errors.py",
    "srs/memory.py",
    "srs/catalogue/*.json",
    "srs/catalogue/*.py",
    "srs/cli/__init__.py",
    "srs/cli/__main__.py",
    "srs/cli/app.py",
    "srs/cli/failures.py",
    "srs/cli/kinds.py",
    "srs/cli/missing.py",
    "srs/cli/options.py",
    "srs/cli/panels.py",
    "srs/cli/progress.py",
    "srs/cli/remote.py",
    "srs/cli/setting_options.py",
    "srs/cli/source_options.py",
    "srs/cli/commands/__init__.py",
    "srs/cli/commands/jobs.py",
    "srs/cli/commands/report.py",
    "srs/cli/commands/submit.py",
    "srs/cli/commands/watch.py",
    "srs/client/*.py",
    "srs/display/*.py",
    "srs/evidence/__init__.py",
    "srs/evidence/kinds.py",
    "srs/evidence/pairs/__init__.py",
    "srs/evidence/pairs/kind.py",
    "srs/evidence/peak.py",
    "srs/evidence/registry.py",
    "srs/evidence/screened.py",
    "srs/evidence/told.py",
    "srs/evidence/univariate/__init__.py",
    "srs/evidence/univariate/kind.py",
    "srs/evidence/used.py",
    "srs/ingest/__init__.py",
    "srs/ingest/formats/__init__.py",
    "srs/ingest/formats/folders.py",
    "srs/ingest/formats/format.py",
    "srs/ingest/formats/formats.json",
    "srs/ingest/formats/registry.py",
    "srs/plots/*.py",
    "srs/plugins/*.py",
    "srs/report/**/*.py",
    "srs/results/__init__.py",
    "srs/results/analysis.py",
    "srs/results/effect_tables.py",
    "srs/results/explanation.py",
    "srs/results/feature_table.py",
    "srs/results/listing.py",
    "srs/results/many.py",
    "srs/results/pair_table.py",
    "srs/results/record.py",
    "srs/results/result.py",
    "srs/results/upgrade.py",
    "srs/results/voxels.py",
    "srs/results/documents/__init__.py",
    "srs/results/documents/effects.py",
    "srs/results/documents/explanation.py",
    "srs/selection/__init__.py",
    "srs/selection/set_files.py",
    "srs/targets/__init__.py",
    "srs/targets/classes.py",
    "srs/targets/concordance.py",
    "srs/targets/counts.py",
    "srs/targets/kinds.py",
    "srs/targets/numbers.py",
    "srs/targets/ordinal.py",
    "srs/targets/registry.py",
    "srs/targets/survival.py",
    "srs/targets/target.py",
    "srs/targets/values.py",
)


def files() -> list[Path]:
    """What a client needs of the package, relative to the root of the project."""
    found: set[Path] = set()
    for pattern in FILES:
        matching = list(ROOT.glob(pattern))
        if not matching:
            raise SystemExit(f"make_project.py: nothing is called {pattern}: mend FILES.")
        found.update(path.relative_to(ROOT) for path in matching)
    return sorted(found)


def make_project(folder: Path) -> None:
    """Copy into a new folder all that builds srs-select-client."""
    folder.mkdir(parents=True)
    for name in BESIDE:
        copyfile(ROOT / name, folder / Path(name).name)
    for path in files():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        copyfile(ROOT / path, target)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("python deploy/client/make_project.py FOLDER")
    make_project(Path(sys.argv[1]))
