# `make` sets up and opens the tutor; `make test` runs what CI runs. Variables: PYTHON=, TORCH_INDEX= (see README.md).
ifeq ($(OS),Windows_NT)
$(error tutor runs on Linux, macOS and WSL: open a WSL terminal and run make there. tutor 可在 Linux、macOS 与 WSL 上运行：请在 WSL 终端里执行 make)
endif

BIN := .venv/bin

# Steps share .venv and the terminal: -j must not run two at once.
.NOTPARALLEL:
.PHONY: open run-setup dev-setup test test-all lint types bench clean

open: run-setup
	@$(BIN)/tutor

run-setup:
	@.ci/setup run

dev-setup:
	@.ci/setup dev

lint: dev-setup
	$(BIN)/python -m ruff format --check
	$(BIN)/python -m ruff check
	$(BIN)/lint-imports
	$(BIN)/tutor lint

types: dev-setup
	$(BIN)/python -m mypy
	$(BIN)/python -m mypy .ci/install.py

test test-all: export OMP_NUM_THREADS := 1
test: lint types
	$(BIN)/python -m pytest -m "not extreme and not benchmark"

test-all: lint types
	$(BIN)/python -m pytest -m "not benchmark" --hypothesis-profile=thorough

bench: dev-setup
	$(BIN)/python -m tests.benchmarks

# .venv stays: it is gigabytes. Remove it by hand to install anew.
clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .grimp_cache
	find tutor engine tests -name __pycache__ -type d -prune -exec rm -rf {} +
