# The vocabulary of the project. Needs make and Python 3.11 or newer, nothing else; `make help` lists the words.

PORT ?= 8000
LISTEN ?= 127.0.0.1
ARGS ?=
export PORT LISTEN

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$p; break; fi; done)
BIN := .venv/bin
INSTALL := -m pip install --quiet --disable-pip-version-check --no-input --require-hashes

.DEFAULT_GOAL := help
.PHONY: help demo test lint types bench messages lock clean

help: ## List the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

demo: .venv/.installed ## Make a small study to play with and serve it (PORT, LISTEN)
	@$(BIN)/python manage.py migrate --verbosity 0
	@$(BIN)/python manage.py seed_demo
	@$(BIN)/python manage.py serve --host $(LISTEN) --port $(PORT)

test: .venv/.installed-dev ## All tests on PostgreSQL and Redis, those marked `both` on SQLite too (ARGS)
	@status=0; \
	$(BIN)/python -m pytest -n auto --dist worksteal --database sqlite -m both -q $(ARGS) || status=1; \
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS) || status=1; \
	exit $$status

lint: .venv/.installed-dev ## Style, floors of the house, templates
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/djlint templates --lint --quiet

types: .venv/.installed-dev ## mypy, strict
	$(BIN)/mypy .

bench: .venv/.installed-dev ## Benchmarks, each a ratio against its anchor (ARGS: names)
	$(BIN)/python -m bench.run $(ARGS)

messages: .venv/.installed-dev ## Extract texts for translation (needs GNU gettext) and compile them
	$(BIN)/python manage.py makemessages --locale zh_Hans --no-obsolete --no-location \
		--ignore=.venv --ignore=var --ignore=static/vendor --ignore=tests --ignore=bench
	$(BIN)/pybabel --quiet compile --directory locale --domain django

lock: ## Write both lock files anew from pyproject.toml (needs uv; ARGS=--upgrade)
	uv lock --quiet $(ARGS)
	uv export --quiet --no-header --no-emit-project --no-dev -o requirements.lock
	uv export --quiet --no-header --no-emit-project -o requirements-dev.lock

clean: ## Remove what the tools leave behind; keeps var/ and .venv/
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.installed: requirements.lock | .venv/bin/python
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	$(BIN)/python $(INSTALL) -r requirements.lock
	@touch $@

.venv/.installed-dev: requirements-dev.lock requirements.lock | .venv/bin/python
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	$(BIN)/python $(INSTALL) -r requirements-dev.lock
	@touch .venv/.installed $@
