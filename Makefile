# Everything a person or CI does with this checkout. `make` alone prints what there is.

PYTHON := $(shell for python in python3.11 python3.12 python3.13 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
ASSAY := $(BIN)/assay
READY := .venv/share/assay/setup.stamp
MANIFESTS := requirements.lock scripts/setup.py \
	$(wildcard libs/*/pyproject.toml services/*/pyproject.toml cli/pyproject.toml cli/src/assay_cli/stack/kafka_jars*.toml)
PROCESSES := intake extract normalize identity resolver relay-events relay-jobs relay-prune relay-api apply product

.DEFAULT_GOAL := help
.PHONY: help setup lock demo up down status $(PROCESSES:%=run-%) test contracts-long races lint types imports verify reference ci \
	bench bench-contracts bench-decide bench-relay model fuzz-contracts vectors

help: ## this list
	@printf 'Assay: evidence in, a catalog that can be questioned out.\n\n'
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'
	@printf '  make %-14s %s\n' 'run-PROCESS' 'one process alone, with settings from the environment:'
	@printf '       %s\n' '$(wordlist 1,5,$(PROCESSES))' '$(wordlist 6,11,$(PROCESSES))'
	@printf '\nThe operator'"'"'s command is %s (after make setup).\n' '$(ASSAY)'

setup: $(READY) ## fetch everything needed into this checkout (other targets do it by themselves)

$(READY): $(MANIFESTS)
	@test -n '$(PYTHON)' || { echo 'Python 3.11 or newer is needed: install python3, python3-pip and python3-venv' >&2; exit 1; }
	@$(PYTHON) scripts/setup.py

lock: $(READY) ## resolve anew and write requirements.lock (UPGRADE=1: newest versions of everything)
	$(BIN)/uv lock $(if $(UPGRADE),--upgrade)
	$(BIN)/uv export --quiet --all-packages --all-groups --no-emit-workspace --no-header -o requirements.lock

demo: $(READY) ## real pages become a catalog you can question (ONCE=1: stop everything afterwards)
	@$(ASSAY) demo $(if $(ONCE),--once)

up: $(READY) ## start Kafka, Postgres, S3 and every process
	@$(ASSAY) up

down: $(READY) ## stop them; data is kept
	@$(ASSAY) down

status: $(READY) ## what runs, and how far each hop is
	@$(ASSAY) status

$(PROCESSES:%=run-%): run-%: $(READY)
	@$(ASSAY) run $*

test: $(READY) ## every test but the long ones (ARGS= goes to pytest)
	@$(BIN)/pytest -n 2 --dist loadgroup $(ARGS)

races: $(READY) ## pruning against leases, registrations and progress, N times (N=10000)
	@ASSAY_TEST_RACES=$(or $(N),10000) $(BIN)/pytest -q -k test_prune_raced services/relay/tests/test_races.py

contracts-long: $(READY) ## 20,000 documents a seed by the seeds' verdict and by ours (N=20000)
	@ASSAY_SEED_INSTANCES=$(or $(N),20000) $(BIN)/pytest -q -n 2 --dist loadgroup libs/contracts/tests/test_seeds.py

model: $(READY) ## random histories of decisions against their model (STEPS=100000)
	@STEPS=$(or $(STEPS),100000) $(BIN)/pytest libs/resolver/tests/test_model.py

lint: $(READY) ## style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(READY) ## strict types
	@$(BIN)/basedpyright

imports: $(READY) ## who may import whom
	@$(BIN)/lint-imports

verify: $(READY) ## the lock fits the packages and names no address; generated pages and promised contracts hold
	@$(BIN)/uv pip check
	@! grep -nE 'https?:' requirements.lock cli/src/assay_cli/stack/kafka_jars.lock.toml
	@$(ASSAY) contracts reference --check
	@$(ASSAY) contracts diff

reference: $(READY) ## write docs/reference anew from schemas and topics
	@$(ASSAY) contracts reference

ci: lint types imports verify test ## the whole gate, the demo included
	@$(MAKE) --no-print-directory demo ONCE=1

bench: bench-contracts bench-decide bench-relay ## every measurement, one after another

bench-contracts: $(READY) ## the decoder against plain parsers and against jsonschema (ROUNDS=)
	@$(BIN)/python tests/bench/bench_contracts.py

bench-decide: $(READY) ## decisions against pgbench with the same statements (DECISIONS=, ROUNDS=)
	@$(BIN)/python tests/bench/bench_decide.py

bench-relay: $(READY) ## the relay against raw reads and raw produces (EVENTS=, ROUNDS=, ROWS=)
	@$(BIN)/python tests/bench/bench_relay.py

vectors: $(READY) ## write schemas/vectors anew from what the tests state
	@ASSAY_WRITE_VECTORS=1 $(BIN)/pytest -q -k says_what_is_stated libs/contracts/tests/test_vectors.py

fuzz-contracts: $(READY) ## look for what the decoder does wrong, going on where the last run stopped (RUNS=, STATE=)
	@$(BIN)/python tests/fuzz/fuzz_contracts.py --runs $(or $(RUNS),100000) --state $(or $(STATE),.assay/fuzz)
