# Every target sets up its own virtual environment; Python 3.11+, make and git are all it takes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-long lint kernels generate bench pictures dist clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)
	$(BIN)/python -m srs.cli.demo demo-output

# Kernels are compiled beside the checks; of three processes one waits for services most of the time.
test: $(READY)
	@$(MAKE) --no-print-directory -j2 lint kernels
	@tests/system-packages
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

test-long: $(READY)
	@tests/system-packages
	$(BIN)/python -m pytest -m long

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

kernels: $(READY)
	@$(BIN)/python -c "from srs.engine import kernels as runs; from srs.ingest import kernels; kernels.ensure_compiled(); runs.ensure_compiled()"

generate: $(READY)
	$(BIN)/python -m srs.explain.catalogue
	$(BIN)/python -m srs.ingest.formats.catalogue
	$(BIN)/python docs/develop/generate_signatures.py
	$(BIN)/python -m docs.develop.generate_schemas
	$(BIN)/python -m docs.develop.generate_man
	$(BIN)/python -m docs.develop.generate_licences

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks

pictures: $(READY)
	$(BIN)/python -m tests.page.pictures pictures

# Both distributions; what stands in build/ and dist/ already would get into them.
dist: $(READY)
	rm -rf build dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python deploy/client/make_project.py build/client
	$(BIN)/python -m build --no-isolation --outdir dist build/client

clean:
	rm -rf $(VENV) demo-output pictures build dist *.egg-info
