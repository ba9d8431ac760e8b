# Each target sets up the virtual environment it needs; nothing else has to be installed first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Two workers on two cores; a debugger wants `make test WORKERS=0`.
WORKERS ?= auto

# What a wrong decision could hide in: at least 95 % of lines and branches are tested.
comma := ,
GUARDED := $(subst $() $(),$(comma),$(foreach part,model stats analysis engine store,src/fairtrial/$(part)/*))

# The real programs that subscription providers run, at the versions that the tests know.
CLAUDE_CODE := 2.1.332
CODEX := 0.171.0
AGENTS := .agents/.installed-$(CLAUDE_CODE)-$(CODEX)

.PHONY: demo test test-slow agents lint format bench clean

demo: $(VENV)/.installed
	$(BIN)/fairtrial demo
	@echo
	@echo "To type fairtrial as above:  . $(BIN)/activate"

test: $(VENV)/.installed-dev lint
	$(BIN)/pytest -n $(WORKERS) -m "not slow" --cov --cov-report=
	$(BIN)/coverage report --include '$(GUARDED)' --fail-under 95 --skip-covered

test-slow: $(VENV)/.installed-dev
	$(BIN)/pytest -n $(WORKERS) -m slow

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

clean:
	rm -rf $(VENV) .agents .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage*

$(VENV)/.installed: pyproject.toml
	@echo "Installing into $(VENV); this takes about a minute and says nothing meanwhile."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[test,lint]'
	touch $@
