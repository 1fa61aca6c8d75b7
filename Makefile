# The two commands: `make qualify` and `make test`. `make help` lists the rest. BACKEND is auto, process or docker.
TARGET ?= kafka:4.3.1
BACKEND ?= auto
BUDGET ?=
SEED ?=
N ?= 10
ARGS ?=
PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tests that start a broker, an engine, a browser or Spark. Each folder is a target and a session of pytest of its own.
# A round of chaos on a machine that is busy with other tests has too little traffic to show anything, and waits half of
# the time: beside it run the tests without a cluster, at the lowest priority, and then what mostly waits for
# its cluster. What needs the engine to itself is one folder.
CHAOS := suites/selfcheck/live/chaos
SPARK := $(addprefix suites/selfcheck/,judge spark)
REST := $(addprefix suites/selfcheck/live/,clusters containers pages)
WALKS := suites/selfcheck/live/exploring
LIVE := $(CHAOS) $(SPARK) $(REST) $(WALKS)
# The longest takes half of this where nothing is downloaded yet. One that hangs ends its session, which shows where every thread stands.
PYTEST := $(BIN)/python -m pytest -ra -q -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true

.DEFAULT_GOAL := help
.PHONY: help qualify chaos check test falsify bench targets flakes model lint types laws live beside offline list up clean
.PHONY: $(LIVE)

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12
	@echo "variables:  TARGET=$(TARGET) BACKEND=$(BACKEND) ARGS='--select VERIFY --seed 7'"

qualify: $(READY) ## judge TARGET and say which promises hold
	@$(BIN)/fencepost qualify $(TARGET) --backend $(BACKEND) $(ARGS)

chaos: $(READY) ## search TARGET for anomalies under faults, for BUDGET (90s, 10m, 2h) from SEED
	@$(BIN)/fencepost chaos $(TARGET) --backend $(BACKEND) $(if $(BUDGET),--budget $(BUDGET)) $(if $(SEED),--seed $(SEED)) $(ARGS)

check: lint types laws offline ## the part of the tests that needs no broker, engine, browser or Spark; a minute or so

test: $(READY) ## all tests of Fencepost itself, whatever is red; those with clusters beside those without
	@red=0; \
	$(MAKE) --no-print-directory -k -j2 -O lint types laws || red=1; \
	$(MAKE) --no-print-directory -k -j3 -O live beside || red=1; \
	exit $$red

falsify: $(READY) ## prove on broken Kafkas that every requirement can fail, two parts beside each other
	@$(MAKE) --no-print-directory -k -j2 falsify.1 falsify.2

falsify.%: $(READY)
	@$(BIN)/fencepost falsify --backend $(BACKEND) --part $*/2 $(ARGS)

bench: $(READY) ## measure start-up and requirements, as ratios in one run
	@$(BIN)/python -m pytest suites/bench -p no:randomly --benchmark-only --benchmark-columns=min,median,max,rounds $(ARGS)

flakes: $(READY) ## judge TARGET N times on a busy machine; no verdict may differ
	@$(BIN)/python -m suites.flakes $(TARGET) --backend $(BACKEND) --runs $(N) $(ARGS)

model: $(READY) ## explore the model of the protocol by itself; where a promise breaks, the shortest way there
	@$(BIN)/python -m suites.model $(ARGS)

targets: $(READY) ## judge clusters of every shape, kfake and librdkafka's mock; makes reports/TARGETS.md
	@$(BIN)/python -m suites.targets $(ARGS)

lint: $(READY)
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --quiet --check . || \
	  { echo "make test: style; try: $(BIN)/ruff check --fix . && $(BIN)/ruff format ."; exit 1; }

types: $(READY)
	@$(BIN)/mypy --no-error-summary

laws: $(READY)
	@$(BIN)/lint-imports --no-logo > $(VENV)/laws.log || { cat $(VENV)/laws.log; exit 1; }

offline: $(READY)
	@$(PYTEST) suites $(LIVE:%=--ignore=%) $(ARGS)

live: $(READY)
	@red=0; for part in "$(CHAOS)" "$(REST)"; do $(MAKE) --no-print-directory -k $$part || red=1; done; exit $$red

beside: $(READY)
	@red=0; for part in offline $(SPARK); do nice -n 19 $(MAKE) --no-print-directory -k $$part || red=1; done; \
	$(MAKE) --no-print-directory -k $(WALKS) || red=1; exit $$red

$(LIVE): $(READY)
	@echo "$@"
	@$(PYTEST) $@ --durations=12 $(ARGS)

list: $(READY) ## the catalogue
	@$(BIN)/fencepost list

up: $(READY) ## bring TARGET's topology up for a person; Ctrl-C takes it down
	@$(BIN)/fencepost up $(TARGET) --backend $(BACKEND)

clean: ## remove the environment and the runs; downloads stay in the cache
	rm -rf $(VENV) reports/runs .mypy_cache .ruff_cache .pytest_cache

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Fencepost needs Python 3.11 or newer as '$(PYTHON)': install it, or say make PYTHON=python3.12 …" >&2; exit 10; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv module is missing: apt-get install python3-venv" >&2; exit 10; }
	@echo "creating the environment in $(VENV) (once; a minute or two) …" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)
