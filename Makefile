# Each target works in a fresh clone: the first one makes a virtual environment and installs the project with its tools.
#   make run     the main job on real input: play a long conversation, show what a model would be given, then start
#                the service with its panel on it (until Ctrl-C; with CI set, it ends after the play)
#   make test    all tests
#   make check   format, lint, types
#   make bench   the benchmarks of docs/benchmarks.md
#   make PYTHON=python3.12 test    the same with another Python (3.10 or newer)

PYTHON ?= python3
VENV ?= .venv
# What the tests and the type checker want to see beside what is required.
EXTRAS ?= anthropic,openai,server,mcp,otel,tokens,vectors
BIN := $(VENV)/bin
READY := $(VENV)/.ready-$(notdir $(PYTHON))

.PHONY: run test smoke check format bench install clean

run: $(READY)
	@$(BIN)/wellkept demo
	@mkdir -p build
	@[ -n "$$CI" ] || exec $(BIN)/wellkept serve --store build/sample.db --sample --fake-upstream

test: $(READY)
	$(BIN)/python -m pytest -n 2

smoke: $(READY)
	$(BIN)/python -m pytest -n 2 $(wildcard tests/unit tests/contract)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	$(BIN)/python -m benchmarks

install: $(READY)

$(READY): pyproject.toml Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "wellkept needs Python 3.10 or newer. Name one: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@echo "Installing into $(VENV) (once) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -qq --upgrade pip
	@$(BIN)/python -m pip install -qq --editable ".[$(EXTRAS)]" --group dev
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
