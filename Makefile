# Every target sets up its own virtual environment; Python 3.11+, make and git are all it takes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-long lint bench pictures clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)
	$(BIN)/python -m srs.demo demo-output

test: $(READY)
	@tests/system-packages
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-long: $(READY)
	@tests/system-packages
	$(BIN)/python -m pytest -m long

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks

pictures: $(READY)
	$(BIN)/python -m tests.page.pictures pictures

clean:
	rm -rf $(VENV) demo-output pictures build *.egg-info
