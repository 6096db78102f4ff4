# Each command creates the environment .venv if needed, and can be run again.
PYTHON ?= python3
BIN := .venv/bin
OUT ?= demo-output
REPRODUCTION ?= reproduction
TEST_GROUPS ?= test
# Versions to test with: `make test CONSTRAINTS=constraints/minimal.txt`, in a clone without a .venv.
CONSTRAINTS ?=
INSTALL = $(BIN)/python -m pip install --quiet $(CONSTRAINTS:%=--constraint %)
WHEEL_TEST ?= build/from-wheel
# What an installation is made of: it compiles the kernels, if there is a compiler.
PARTS := pyproject.toml hatch_build.py $(wildcard src/sphericalpca/kernels/*.[ch])

.PHONY: help demo check test test-slow test-kernels lint audit format docs bench bench-scale reproduce release-check dist test-wheel clean

help:
	@echo "make demo       a small run of the paper's experiments, and groups of texts, with pages in $(OUT)/"
	@echo "make check      lint, and the tests that belong to the files you changed: under a minute"
	@echo "make test       the test suite, without what takes long: four minutes on two cores"
	@echo "make test-slow  the rest: browser, cluster of processes, killed programs, built site, whole experiments"
	@echo "make test-kernels  tests of sparse products with the other instruction sets, and with scipy's products"
	@echo "make lint       style, types and architecture"
	@echo "make audit      known vulnerabilities of the packages used; needs the network"
	@echo "make format     let ruff rewrite what it can"
	@echo "make docs       the documentation, with its gallery, in build/docs/index.html"
	@echo "make bench      this package and alternatives, on the same data: benchmarks/results/summary.md"
	@echo "make bench-scale  files against memory, a cluster against threads, embeddings; needs 8 GB of disk"
	@echo "make reproduce  all of the paper's experiments into $(REPRODUCTION)/; can be interrupted and resumed"
	@echo "make release-check  check that committed rows belong to this code and docs/claims.md is up to date"
	@echo "make dist       an sdist and a wheel in dist/"
	@echo "make test-wheel the suite against the wheel, in its own environment"
	@echo "make clean      remove .venv and everything that was generated"

.venv/pip.stamp:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

.venv/demo.stamp: .venv/pip.stamp $(PARTS)
	$(INSTALL) --editable '.[cli,pages]' --group paper
	touch $@

.venv/test.stamp: .venv/pip.stamp $(PARTS)
	$(INSTALL) --editable '.[cli,pages]' $(TEST_GROUPS:%=--group %)
	touch $@

.venv/lint.stamp: .venv/pip.stamp $(PARTS)
	$(INSTALL) --editable '.[cli,pages]' --group lint
	touch $@

.venv/docs.stamp: .venv/pip.stamp $(PARTS)
	$(INSTALL) --editable '.[cli,pages]' --group docs
	touch $@

demo: .venv/demo.stamp
	$(BIN)/python -m paper reproduce all --quick --out "$(OUT)"
	$(BIN)/python examples/docstrings_csv.py "$(OUT)/docstrings.csv"
	$(BIN)/sphericalpca cluster "$(OUT)/docstrings.csv" --text text --id name -k 8 --out "$(OUT)/groups" --force

# Needs the data files: see `python -m paper datasets`.  Writes to a new folder, because rows
# committed in paper/results/ would count as done.  Copy it there to publish a new run.
reproduce: .venv/demo.stamp
	$(BIN)/python -m paper reproduce all --out "$(REPRODUCTION)"

# One BLAS thread per test process, because more would compete for the cores.
# SCIPY_ARRAY_API: without it scikit-learn skips one of its common checks.
PYTEST = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 SCIPY_ARRAY_API=1 $(BIN)/python -m pytest --numprocesses auto
# `make test COVERAGE=--cov` and then `make test-slow COVERAGE='--cov --cov-append'` add up.
COVERAGE ?=

test: .venv/test.stamp
	$(PYTEST) -m "not slow" $(COVERAGE)

test-slow: .venv/test.stamp
	$(PYTEST) -m slow $(COVERAGE)

# Tests that depend on sparse products: a few with each instruction set except the best, which all
# other tests use (tests/kernels covers all of them), and more without compiled kernels.
SPARSE_TESTS = tests/rows/test_rows.py tests/test_problem.py tests/hostile/test_layouts.py
MORE_SPARSE_TESTS = tests/solvers tests/hostile/test_spherical_pca.py tests/estimators/test_sparse_frames.py

test-kernels: .venv/test.stamp
	sets="$$($(BIN)/python -c 'import sphericalpca.kernels as k; print(*k.instruction_sets()[1:-1])')"; \
	    for set in $$sets; do SPHERICALPCA_KERNELS=$$set $(PYTEST) -q -m "not slow" $(SPARSE_TESTS) || exit 1; done
	SPHERICALPCA_KERNELS=scipy $(PYTEST) -q -m "not slow" $(SPARSE_TESTS) $(MORE_SPARSE_TESTS)

# 5: all tests that belong to the change are slow ones.
check: lint
	tests="$$($(BIN)/python -m reliability.mirror)"; \
	    if [ -n "$$tests" ]; then $(PYTEST) -m "not slow" $$tests || [ $$? -eq 5 ]; fi

lint: .venv/lint.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m reliability.phrases
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive src paper benchmarks reliability
	$(BIN)/python -m pip check

# Not part of `lint`, because it queries a server about every package.
audit: .venv/lint.stamp
	$(BIN)/pip-audit --skip-editable

format: .venv/lint.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Needs no network; a warning is an error.
docs: .venv/docs.stamp
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs build/docs
	@echo "The documentation: build/docs/index.html"

# Needs the data files for its real cases; without them these are skipped, with a message.
bench: .venv/test.stamp
	$(BIN)/python -m benchmarks
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/bench_baselines.py

# The last part needs the MiniLM vectors; without them it is skipped, with a message.
# Writes 8 GB to the temporary folder and removes them.
bench-scale: .venv/test.stamp
	$(BIN)/python -m benchmarks.outofcore --cold
	$(BIN)/python -m benchmarks.cluster
	$(BIN)/python -m benchmarks.scaling
	$(BIN)/python -m benchmarks.embeddings

# Rows of former code must be measured again, or marked as older: see reliability/release.py.
release-check: .venv/test.stamp
	$(BIN)/python -m reliability.release
	$(BIN)/python -m reliability.claims --check

.venv/dist.stamp: .venv/pip.stamp
	$(INSTALL) build
	touch $@

dist: .venv/dist.stamp
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

# The tests and their files come from the sdist, the package itself from the wheel.
test-wheel: dist
	rm -rf "$(WHEEL_TEST)"
	mkdir -p "$(WHEEL_TEST)"
	tar --extract --gzip --file dist/*.tar.gz --directory "$(WHEEL_TEST)" --strip-components 1
	rm -rf "$(WHEEL_TEST)/src"
	$(PYTHON) -m venv "$(WHEEL_TEST)/.venv"
	cd "$(WHEEL_TEST)" && .venv/bin/python -m pip install --quiet --upgrade pip
	wheel="$$(ls "$$PWD"/dist/*.whl)" && cd "$(WHEEL_TEST)" \
	    && .venv/bin/python -m pip install --quiet $(CONSTRAINTS:%=--constraint %) "$$wheel[cli,pages]" $(TEST_GROUPS:%=--group %) \
	    && OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 SCIPY_ARRAY_API=1 .venv/bin/python -m pytest --numprocesses auto tests

clean:
	rm -rf .venv "$(OUT)" "$(REPRODUCTION)" build dist docs/api docs/drawn docs/gallery .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f src/sphericalpca/kernels/libkernels.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
