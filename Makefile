# make demo   the main job on the bundled reports, in an environment of its own; pages in build/demo/
# make check  the fast checks, while working
# make test   every check a contributor needs before a commit; make test-all  what takes long
# make help   the other targets

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup setup-dev neo4j explorer lightrag graphrag ray demo check test test-all lint types imports fast-tests tests extended-tests doctests goldens questions notebooks wheel another-python pyright bench clean

VENV := .venv
BIN := $(VENV)/bin
# The constraints hold for what builds the package too (pip reads them from the environment there).
INSTALL := PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input
CANDIDATES := python3.13 python3.12 python3.11 python3
LINTED := liantu.py hatch_build.py kg extraction communities viz notebooks tests benchmarks
DOCTESTED := kg extraction communities viz
# Tests of modules without processes, models or stores on disk, and of the rules for source files.
FAST := tests/architecture/test_budgets.py tests/architecture/test_repository.py tests/architecture/test_rules.py \
    tests/architecture/test_structure.py $(wildcard tests/kg/test_*.py) tests/kg/dating tests/kg/query tests/kg/securities \
    tests/kg/store/rules tests/kg/text tests/extraction/certainty tests/extraction/facts tests/extraction/quantities \
    tests/extraction/text

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' Makefile

setup: $(VENV)/.default ## an environment in .venv/ with what the liantu command needs
	@echo "ready: $(BIN)/liantu"

setup-dev: $(VENV)/.dev ## the same, with what the checks need

neo4j: build/neo4j/.ready ## the Neo4j server that tests ask, from Maven into build/neo4j/ (needs Java 17 or 21)

lightrag: build/lightrag/.ready ## LightRAG in an environment of its own (330 MB), for the tests of its format and benchmarks.peers

graphrag: build/graphrag/.ready ## the same for GraphRAG (1.3 GB)

ray: $(VENV)/.dev ## Ray beside the checks (250 MB), for the tests of `liantu ingest --ray`
	$(INSTALL) --editable '.[ray]'

demo: $(VENV)/.default ## read the bundled reports, answer three questions, draw pages into build/demo/
	@$(BIN)/python notebooks/demo/run.py

check: $(VENV)/.dev ## ruff, mypy, import contracts and the unit tests of pure modules; under a minute
	@$(call run_checks,lint types imports fast-tests)

test: $(VENV)/.dev ## the checks of make check, then the tests and doctests; five minutes on two cores
	@$(call run_checks,lint types imports tests doctests)

test-all: $(VENV)/.dev ## what make test leaves out: browser, notebooks, kill and Neo4j tests, properties on more cases
	@$(call run_checks,extended-tests)

# One line a check: the first that fails stops the rest, and its name stands last on the screen.
define run_checks
began=$$SECONDS
for check in $(1); do
    echo "== $$check"
    $(MAKE) --no-print-directory $$check || { echo "make $@: $$check failed"; exit 1; }
done
echo "make $@: $(1) passed in $$((SECONDS - began)) s"
endef

lint: $(VENV)/.dev
	@$(BIN)/ruff check $(LINTED)
	@$(BIN)/ruff format --check $(LINTED)

types: $(VENV)/.dev
	@$(BIN)/mypy

imports: $(VENV)/.dev
	@$(BIN)/lint-imports

fast-tests: $(VENV)/.dev
	@$(BIN)/pytest -q --numprocesses auto --maxprocesses 4 --dist worksteal --ignore tests/kg/query/ask $(FAST)

tests: $(VENV)/.dev
	@$(BIN)/pytest -m "not extended and not neo4j" --numprocesses auto --maxprocesses 4 --dist worksteal

extended-tests: $(VENV)/.dev
	@$(BIN)/pytest -m "extended or neo4j or hypothesis" --hypothesis-profile=all --numprocesses auto --maxprocesses 4 --dist worksteal

doctests: $(VENV)/.dev
	@$(BIN)/pytest --doctest-modules $(DOCTESTED)

explorer: ## install the explorer's packages, type-check it, build it, and compare the bundle with the committed one (node 18 or later)
	@command -v npm >/dev/null || { echo "make: no npm; on Debian: apt-get install nodejs npm" >&2; exit 1; }
	cd viz/explorer
	npm ci --silent
	npm run --silent check
	npm run --silent build -- "$$OLDPWD/build/explorer"
	cd "$$OLDPWD"
	diff -r build/explorer viz/static/explorer || { echo "make: viz/static/explorer is not built from these sources; run npm run build in viz/explorer" >&2; exit 1; }

goldens: $(VENV)/.dev ## refresh the figures of the bundled reports that tests/goldens compares; look at the difference
	@$(BIN)/python -m tests.goldens.demo_corpus

questions: $(VENV)/.dev ## write what is made from the registry of questions: types, examples, forms of JSON, tables of the docs
	@for part in stub examples wire table; do $(BIN)/python -m tests.kg.service.$$part || exit 1; done

notebooks: $(VENV)/.dev ## execute notebooks/ and fail when one raises or shows something else than before
	@$(BIN)/python notebooks/execute.py

wheel: $(VENV)/.dev ## build the wheel into dist/, install it in an environment of its own, and try it there, with a user's script
	@rm -rf dist build/wheel-env
	$(BIN)/python -m hatchling build -t wheel -d dist >/dev/null
	$(BIN)/python -m venv build/wheel-env
	build/wheel-env/bin/python -m pip install --quiet --disable-pip-version-check --no-input -c constraints.txt dist/*.whl
	cp tests/wheel/*.py notebooks/demo/reports/2024-05-27_*光伏*.md build/wheel-env/
	build/wheel-env/bin/python -P build/wheel-env/smoke.py notebooks/demo/reports/2024-05-27_*.md README.md docs/*.md
	cd build/wheel-env
	bin/liantu doctor | tail -1
	bin/python -m pip install --quiet --disable-pip-version-check --no-input -c ../../constraints.txt 'liantu[pyvis]' pandas
	bin/liantu ingest 2024-05-27_*.md --kb user.liantu >/dev/null
	bin/python -P quant.py user.liantu . 隆基绿能 光伏 >/dev/null
	echo "a user's script ran on $$(bin/python --version)"

another-python: ## the unit tests of pure modules and `make wheel` on another Python: make another-python PYTHON=python3.13
	@$(MAKE) --no-print-directory fast-tests VENV=build/$(PYTHON) CANDIDATES=$(PYTHON)
	$(MAKE) --no-print-directory wheel VENV=build/$(PYTHON) CANDIDATES=$(PYTHON)

pyright: build/pyright/.ready ## pyright, from npm into build/pyright, which checks a user's script beside mypy

bench: $(VENV)/.default ## characters and facts per second of every stage
	@$(BIN)/python -m benchmarks.speed

clean: ## remove the environment and everything that was made
	rm -rf viz/explorer/node_modules
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A candidate may exist and not start (a pyenv shim), be too old, or lack the venv module (Debian packs it apart).
$(BIN)/python:
	@found=""
	for python in $(CANDIDATES); do
	    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
	    found="$$python"
	    "$$python" -c 'import ensurepip, venv' 2>/dev/null || continue
	    echo "making $(VENV) with $$("$$python" --version)"
	    exec "$$python" -m venv --clear $(VENV)
	done
	if [ -n "$$found" ]; then
	    echo "make: $$found has no venv module; on Debian and Ubuntu: apt-get install python3-venv" >&2
	else
	    echo "make: no Python 3.11 or later among: $(CANDIDATES)" >&2
	fi
	exit 1

# Stamps: pip runs again only when the dependencies or their pins change. The dev install holds the default one.
$(VENV)/.default: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing what liantu needs (about a minute)"
	$(INSTALL) --editable .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing what liantu and its checks need (about a minute)"
	$(INSTALL) --editable '.[dev]'
	touch $@ $(VENV)/.default

# The jars alone, in a folder of their own: nothing is built and nothing is installed. tests/neo4j/server.py starts them.
build/neo4j/.ready: tests/neo4j/pom.xml
	@for needed in java mvn; do
	    command -v $$needed >/dev/null || { echo "make: no $$needed; on Debian: apt-get install maven" >&2; exit 1; }
	done
	rm -rf build/neo4j
	mvn --quiet --batch-mode --file tests/neo4j/pom.xml dependency:copy-dependencies \
	    -DincludeScope=runtime -DoutputDirectory="$$PWD/build/neo4j/lib"
	touch $@

build/pyright/.ready: PYRIGHT := pyright@1.1.414
build/pyright/.ready:
	@rm -rf $(@D)
	mkdir -p $(@D)
	npm install --silent --no-fund --no-audit --prefix $(@D) $(PYRIGHT)
	touch $@

# Peers are heavy and pin other versions than ours: each in its own environment, tested as installed.
build/lightrag/.ready: PEER := lightrag-hku==1.5.7
build/graphrag/.ready: PEER := graphrag==3.3.0
build/lightrag/.ready build/graphrag/.ready: Makefile
	@rm -rf $(@D)
	python3 -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-input $(PEER)
	touch $@

.ONESHELL:
