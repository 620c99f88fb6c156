# One command each; `.ci/run` calls the same ones.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# What is installed: a stamp for each set. `run` needs the core alone, `app` two small packages more.
CORE   := $(VENV)/.installed-core
APP    := $(VENV)/.installed-app
TEST   := $(VENV)/.installed-test
BENCH  := $(VENV)/.installed-bench
DOCS   := $(VENV)/.installed-docs

# Files with kernels, and what compiles them; a change of one builds them again, in seconds.
KERNELS := $(shell grep -rlE "^@(compiled|inlined)$$" src) $(wildcard packaging/kernels/*)

.PHONY: setup run app quick test matrix lint format reproduce bench docs links messages screenshots clean kernels

setup: $(TEST)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(CORE): $(VENV)/bin/python pyproject.toml constraints.txt $(KERNELS)
	$(PIP) -e .
	touch $@

$(APP): $(CORE)
	$(PIP) -e ".[app]"
	touch $@

# torch, and all that tests and linters need.
$(TEST): $(CORE)
	$(PIP) -e ".[torch,test]"
	touch $@

# Other people's tools, to be measured against; nothing else needs them.
$(BENCH): $(TEST)
	$(PIP) -e ".[torch,test,bench]"
	touch $@

$(DOCS): $(TEST)
	$(PIP) -e ".[torch,test,docs]"
	touch $@

# After editing a function that is @compiled; without a C++ compiler they run by numba, or as Python.
kernels: $(CORE)

# make run: the embedded example. make run DATA=my.csv: your own file.
run: $(CORE)
	$(BIN)/robustfourier fit "$(or $(DATA),example:double_mode_cepheid)" --out $(or $(OUT),out/run) --overwrite

# make app: a local page for dropping files on, and the paper's laboratory.
app: $(APP)
	$(BIN)/robustfourier app --folder $(or $(OUT),out/app)

test: $(TEST)
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The wheel in a clean environment of every Python found, and with the oldest packages it admits.
matrix: $(CORE)
	$(BIN)/python tools/matrix.py

# Everyday: without browsers, programs and servers, and counts over many draws.
quick: $(TEST)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal tests -m "not browser and not end_to_end and not statistical"

lint: $(TEST)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(TEST)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The site, executed and with warnings as errors: out/site/index.html. Pages whose code has not
# changed since are not executed again, unless the package has. `make links` asks the web, too.
docs: $(DOCS)
	$(BIN)/python -m sphinx -W --keep-going -q -E -d out/doctrees docs out/site

links: $(DOCS)
	$(BIN)/python -m sphinx -b linkcheck -q -d out/doctrees docs out/links

# docs/messages.md, from the source: every error and sentence.
messages: $(DOCS)
	$(BIN)/python docs/messages.py

# The pictures of reports, app and site, by headless Chromium.
screenshots: $(DOCS)
	$(BIN)/python -m docs.screenshots

# The paper again. Interrupt it as you like: it goes on where it was, and from the rows in paper/rows.
# make reproduce QUICK=1: two seeds and few steps, within 5 minutes on 2 cores.
reproduce: $(TEST)
	$(BIN)/python -m paper --out $(or $(OUT),out/paper) $(if $(QUICK),--quick)

# The first line ends in 1 if a bar is missed; the comparison with others then still runs.
# make bench QUICK=1: few seeds, small sizes, both side by side; within 3 minutes on 2 cores.
bench: $(BENCH)
ifdef QUICK
	@mkdir -p out
	@$(BIN)/python -m benchmarks.peers --quick > out/bench-peers.log 2>&1 & peers=$$!; \
	$(BIN)/python -m benchmarks --quick; wait $$peers; status=$$?; \
	cat out/bench-peers.log; exit $$status
else
	-$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.peers
endif

clean:
	rm -rf $(VENV) build dist out .pytest_cache .ruff_cache .mypy_cache src/robustfourier/_kernels*
