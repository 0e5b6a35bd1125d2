# Every target a newcomer guesses. `make` alone lists them.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=
ENGINE ?= simulator

.DEFAULT_GOAL := help
.PHONY: help setup setup-vllm demo test lint unit contract integration e2e bench clean lock generate testbed-build testbed-up testbed-down

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sort | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/.installed: requirements/dev.txt pyproject.toml simulator/pyproject.toml operator/specdec_operator/__about__.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e ./simulator
	@touch $@

setup: $(VENV)/.installed ## Make .venv with the package, its `specdec` command and the tools

lint: setup ## Style, types, layers, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: setup ## Fast tests of the pure code
	$(BIN)/pytest tests/unit $(PYTEST_ARGS)

contract: setup ## Adapters, simulator and CRDs against recordings and conventions
	$(BIN)/pytest tests/contract $(PYTEST_ARGS)

# With KUBECONFIG set, the tests run on that cluster; else on a test bed that lives as long as they do.
IN_BED = $(if $(KUBECONFIG),,$(BIN)/python -m hack.testbed run --)

integration: setup ## Operator parts against a real API server and Prometheus (root, or KUBECONFIG)
	$(IN_BED) $(BIN)/pytest tests/integration $(PYTEST_ARGS)

e2e: setup ## The operator as installed, with engines, on a real node (root, or KUBECONFIG)
	$(IN_BED) $(BIN)/pytest tests/e2e $(PYTEST_ARGS)

testbed-build: setup ## Make the test bed's binaries and images (once, minutes)
	$(BIN)/python -m hack.testbed build
	$(BIN)/python -m hack.images

testbed-up: setup ## Bring up a test bed that stays: then `.venv/bin/python -m hack.testbed exec -- kubectl get nodes`
	$(BIN)/python -m hack.testbed up

testbed-down: setup ## Take it down
	$(BIN)/python -m hack.testbed down

lock: ## Write requirements/*.txt anew from pyproject.toml (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header pyproject.toml -o requirements/runtime.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header simulator/pyproject.toml -o requirements/simulator.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header requirements/build.in -o requirements/build.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header pyproject.toml simulator/pyproject.toml requirements/build.in --group dev -o requirements/dev.txt

demo: setup ## The main job, narrated: load past break-even and back (ENGINE=simulator or vllm)
	@$(BIN)/python -m hack.demo --engine $(ENGINE)

bench: setup ## Report what things cost; nothing is asserted
	$(BIN)/python -m tests.bench.simulator_load

setup-vllm: setup ## Install a real vLLM for CPUs into the cache (4 minutes, 6 GB)
	$(BIN)/python -m hack.vllm

generate: setup ## Write the CRDs anew from the types
	$(BIN)/python -m hack.gen_crds

clean: ## Remove what the targets made here (not the caches)
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

test: lint ## Everything: style, types, layers, unit, contract, integration, end to end with the simulator
	$(IN_BED) $(BIN)/pytest -m "not vllm" tests/unit tests/contract tests/integration tests/e2e $(PYTEST_ARGS)
