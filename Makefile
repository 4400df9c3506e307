# Every target makes its own environment in .venv, from the lock files and PyPI alone.
#
#   make demo    see it work            make lint    ruff, pyright, import-linter
#   make test    all tests              make bench   side by side with the alternatives
#   make warm    compile the kernels    make lock    resolve the requirements anew
#   make deep    the laws, for long     make bounds  the laws, with every index in the kernels checked
#   make cluster the tests on a Spark master with workers
#   make clean   remove what was made
#
# A pip that prefers another index or proxy is obeyed: nothing here names one.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?= -n auto --dist worksteal
BENCH ?=
BENCH_ARGS ?=
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint bench warm lock clean deep bounds cluster

demo: $(VENV)/.installed
	$(BIN)/graphtide demo

# The kernels are compiled once, before the workers of pytest would each compile them.
test: warm
	$(BIN)/pytest $(PYTEST_ARGS)

# A process has one Spark, and this one's is a cluster.
cluster: warm
	$(BIN)/pytest tests/cluster

# Kernels that check their indices are kept apart from those that do not.
deep: warm
	$(BIN)/pytest --hypothesis-profile=deep tests/laws tests/oracle $(PYTEST_ARGS)

bounds: $(VENV)/.tested
	NUMBA_BOUNDSCHECK=1 $(BIN)/graphtide warm
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest tests/laws $(PYTEST_ARGS)

lint: $(VENV)/.tested
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: $(VENV)/.measured
	$(BIN)/graphtide bench $(BENCH) $(BENCH_ARGS)

warm: $(VENV)/.tested
	$(BIN)/graphtide warm

# The peers of the benches hold some shared packages down, so they are resolved first
# and the tests run on the very versions that are measured.
UV_COMPILE = $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command "make lock" pyproject.toml

lock: $(VENV)/bin/python
	$(PIP_INSTALL) uv
	mkdir -p requirements
	$(UV_COMPILE) --extra build --extra test --extra bench --output-file requirements/bench.lock
	$(UV_COMPILE) --extra build --extra test --constraint requirements/bench.lock --output-file requirements/test.lock
	$(UV_COMPILE) --extra build --constraint requirements/bench.lock --output-file requirements/run.lock
	! grep -nE '://|file:|^ */|^-|@ ' requirements/*.lock || { echo "an address or a path is in a lock file" >&2; exit 1; }

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -type d -name __pycache__ -prune -exec rm -rf {} +

# What it takes to run, which a demonstration does not wait longer for.
$(VENV)/.installed: requirements/run.lock pyproject.toml | $(VENV)/bin/python
	$(PIP_INSTALL) --require-hashes --requirement requirements/run.lock
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.tested: requirements/test.lock $(VENV)/.installed
	$(PIP_INSTALL) --require-hashes --requirement requirements/test.lock
	touch $@

$(VENV)/.measured: requirements/bench.lock $(VENV)/.tested
	$(PIP_INSTALL) --require-hashes --requirement requirements/bench.lock
	touch $@

# A name may be found and still not run (a pyenv shim without its version), so each is tried.
$(VENV)/bin/python:
	@for python in "$${PYTHON:-python3}" python3 python3.14 python3.13 python3.12 python3.11; do \
		if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			exec "$$python" -m venv $(VENV); \
		fi; \
	done; \
	echo "no Python 3.11 or later with the venv module was found" >&2; \
	echo "hint: install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; \
	exit 1
