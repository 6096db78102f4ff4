# Each command makes its own environment in .venv; running it again does no harm.
PYTHON ?= python3
BIN := .venv/bin
OUT ?= demo-output
REPRODUCTION ?= reproduction
TEST_GROUPS ?= test

.PHONY: help demo test lint format bench bench-scale reproduce clean

help:
	@echo "make demo       a small run of the paper's experiments, with a page in $(OUT)/"
	@echo "make test       run the whole test suite"
	@echo "make lint       style, types and architecture"
	@echo "make format     let ruff rewrite what it can"
	@echo "make bench      this package and its peers, on the same data: benchmarks/results/summary.md"
	@echo "make bench-scale  files beside memory, a cluster beside threads; writes 8 GB for a while"
	@echo "make reproduce  all of the paper's experiments into $(REPRODUCTION)/; can be stopped and taken up"
	@echo "make clean      remove .venv and everything that was generated"

.venv/pip.stamp:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

.venv/demo.stamp: .venv/pip.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[reproduce]'
	touch $@

.venv/test.stamp: .venv/pip.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[reproduce]' $(TEST_GROUPS:%=--group %)
	touch $@

.venv/lint.stamp: .venv/pip.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[reproduce]' --group lint
	touch $@

demo: .venv/demo.stamp
	$(BIN)/sphericalpca reproduce all --quick --out "$(OUT)"

# Wants the data files: see `sphericalpca datasets`.  Into a folder of its own: what is committed in
# results/ counts as done.  Copy it there to publish a new run.
reproduce: .venv/demo.stamp
	$(BIN)/sphericalpca reproduce all --out "$(REPRODUCTION)"

# One BLAS thread per test process: with two of each the threads wait for one another.
# SCIPY_ARRAY_API: without it scikit-learn skips one of its common checks.
test: .venv/test.stamp
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 SCIPY_ARRAY_API=1 $(BIN)/python -m pytest --numprocesses auto --cov --cov-report term

lint: .venv/lint.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/lint.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Wants the data files for its real cases, and skips them, visibly, where there are none.
bench: .venv/test.stamp
	$(BIN)/python -m benchmarks
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/bench_baselines.py

# Writes 8 GB to the temporary folder, and removes them.
bench-scale: .venv/test.stamp
	$(BIN)/python -m benchmarks.outofcore --cold
	$(BIN)/python -m benchmarks.cluster
	$(BIN)/python -m benchmarks.scaling

clean:
	rm -rf .venv "$(OUT)" "$(REPRODUCTION)" build dist .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
