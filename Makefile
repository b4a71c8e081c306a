# Two commands matter: `make book` and `make test`. Both start from a bare checkout.
PYTHON ?= python3
JOBS   ?= 2
BIN    := .venv/bin
# Where bytecode may not be kept, every process would compile every module it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help book test chapters lint reuse coverage verify browser lowest newest onwards constraints dist \
	execute lab bench clean FORCE

# What takes longest comes first: the solutions, then what is large.
NOTEBOOKS := $(shell ls book/solutions.ipynb; ls -S book/*.ipynb | grep -v solutions)
# Whether anything that a page can show is newer than the built book.
STALE := $(shell find _config.yml _toc.yml book rlsvi_core rlsvi_study results -type f -newer _build/.executed \
	-not -path '*/.*' -not -path '*/__pycache__/*' 2>/dev/null | head -n 1)

help:  ## list what can be made
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

# The file .done stands for a finished environment. With it, a change of dependencies is installed in place;
# without it (first time, or an install that was cut short) the environment is made anew, because a
# half-installed package looks installed to pip. Bytecode is made of what is imported, when it is.
.venv/.done: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "This needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make PYTHON=python3.12 ..." >&2; exit 1; }
	@if [ -e $@ ]; then echo "== environment: dependencies have changed, updating .venv"; rm $@; \
	else echo "== environment: making .venv (a few minutes, about 1 GB)"; $(PYTHON) -m venv --clear .venv; fi
	@$(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check -c constraints.txt -e ".[study,proofs,gym,dask,book,test]"
	@# Kernels here talk over the loopback only; their warning about it would read like one of ours.
	@mkdir -p .venv/etc/ipython && echo 'c.IPKernelApp.log_level = 40' > .venv/etc/ipython/ipython_kernel_config.py
	@touch $@

book: _build/.done  ## execute every chapter and build the HTML, warnings being errors
	@echo "The book: _build/html/index.html"
	@echo "or serve: $(BIN)/python -m http.server -d _build/html 8000"

# From scratch each time: an interrupted or older build leaves nothing behind that could be reused.
# The chapters are executed into a cache, of which the pages are made.
_build/.executed: .venv/.done $(if $(STALE),FORCE)
	@rm -rf _build
	@$(BIN)/python -m book._ext.execute --jobs $(JOBS)
	@touch $@

FORCE:

_build/.done: _build/.executed
	@echo "== book: rendering the pages (a minute)"
	@$(BIN)/jupyter-book build . --all -W --keep-going -n -q > /dev/null  # warnings go to stderr
	@touch $@

# Cheapest first. The browser looks at the built book; if that is stale, the pages are made anew of
# what nbval has just executed and compared.
test: .venv/.done  ## lint, tests, every chapter against its stored output, the site in a browser
	@echo "== 1/4 lint"
	@$(MAKE) --no-print-directory lint
	@echo "== 2/4 tests"
	$(BIN)/pytest rlsvi_core rlsvi_study tests -m "" -n $(JOBS) --dist worksteal
	@echo "== 3/4 chapters: run again, their text and pictures compared with what is stored"
	@$(MAKE) --no-print-directory chapters
	@echo "== 4/4 the rendered book, in a browser"
	@$(MAKE) -q _build/.done || $(MAKE) --no-print-directory reuse
	@$(MAKE) --no-print-directory _build/.done
	@if [ "$$CI" = true ]; then $(MAKE) --no-print-directory browser; fi
	$(BIN)/pytest tests/site -rs -n $(JOBS)
	@echo "== make test: passed (anything skipped is named above)"

chapters: .venv/.done  ## run every chapter and compare its text and pictures with what is stored
	@rm -rf .cache/executed
	$(BIN)/pytest --nbval --nbval-current-env --nbval-cell-timeout=600 -n $(JOBS) --dist loadscope \
		--no-loadscope-reorder $(NOTEBOOKS)

lint: .venv/.done  ## style, layout and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy

# Compiled lines are not traced, so nothing is compiled here: only the tests that bear it, with few examples.
TRACED := $(patsubst %,tests/core/test_%.py,chain features mdp regression rlsvi)
coverage: .venv/.done  ## lines of the library that some of its tests reach, with numba off (minutes)
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run --source rlsvi_core -m pytest -q --hypothesis-profile=few \
		-k "not for_ever" $(TRACED)
	$(BIN)/coverage report

# The pages of what nbval has just executed.
reuse: .venv/.done
	@rm -rf _build
	@$(BIN)/python -m book._ext.execute --reuse
	@touch _build/.executed

MINUTES ?= 30
verify: .venv/.done  ## recompute MINUTES=30 of CPU time of the stored tables, and compare to the bit
	$(BIN)/rlsvi verify --minutes $(MINUTES) --jobs $(JOBS)

browser: .venv/.done  ## install a Chromium for the last part of `make test`, if there is none
	@sh tests/site/get_chromium.sh

# The floors of pyproject.toml are promises; this is how they are kept. uv can resolve downwards.
# One test compares with what newer versions stored, and is left out: up to matplotlib 3.10 a picture's text is laid
# out otherwise.
NEWER := tests/study/test_plots.py::test_a_stored_picture_is_todays_drawing[none]
UV = .venv/$@/bin/uv pip install --python .venv/$@
lowest:  ## run the tests with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear .venv/$@
	.venv/$@/bin/python -m pip install --disable-pip-version-check uv
	$(UV) --resolution lowest-direct -e ".[study,gym,dask,test]"
	.venv/$@/bin/pytest rlsvi_core rlsvi_study tests -m "" -n $(JOBS) $(NEWER:%=--deselect '%')

newest:  ## run the tests with the newest versions of everything
	$(PYTHON) -m venv --clear .venv/$@
	.venv/$@/bin/python -m pip install --disable-pip-version-check uv
	$(UV) -e ".[study,proofs,gym,dask,book,test]"
	.venv/$@/bin/pytest rlsvi_core rlsvi_study tests -m "" -n $(JOBS)

# The way out of Jupyter Book 1: the same pages, on a Sphinx that it does not allow.
onwards:  ## build the book on the newest Sphinx, myst-parser and theme
	$(PYTHON) -m venv --clear .venv/$@
	.venv/$@/bin/python -m pip install --disable-pip-version-check uv
	printf '%s\n' 'sphinx>=9' 'myst-parser>=5' 'myst-nb>=1.3' 'sphinx-book-theme>=1.1.4' 'docutils>=0.22' > .venv/$@/override.txt
	$(UV) --override .venv/$@/override.txt -e ".[study,proofs,gym,dask,book]"
	rm -rf _build
	.venv/$@/bin/python -m book._ext.execute --jobs $(JOBS)
	.venv/$@/bin/jupyter-book build . --all --keep-going -n -q > /dev/null

constraints: .venv/.done  ## renew constraints.txt: the newest versions that pyproject.toml allows
	$(BIN)/python -m pip install -q --disable-pip-version-check uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --upgrade \
		--no-annotate --no-header -o constraints.txt

# The wheel is made of the sdist, and tried where nothing else is: bare, then with the studies.
TRIED := .venv/dist
dist:  ## build wheel and sdist in dist/, and try them in an environment of their own
	@rm -rf dist build *.egg-info
	$(PYTHON) -m venv --clear $(TRIED)
	$(TRIED)/bin/python -m pip install --disable-pip-version-check build twine
	$(TRIED)/bin/python -W error::UserWarning -m build
	$(TRIED)/bin/twine check --strict dist/*
	@! ls -d build *.egg-info 2>/dev/null || { echo "The build has left that behind." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(TRIED)
	$(TRIED)/bin/python -m pip install --disable-pip-version-check dist/*.whl
	cd dist && ../$(TRIED)/bin/python -c "import rlsvi_core, importlib.resources as r; rlsvi_core.rlsvi; \
		assert r.files('rlsvi_core').joinpath('py.typed').is_file()"
	@# The first example of the README needs nothing but the library.
	sed -n '/^```python/,/^```/{/^```python/d;/^```/q;p}' README.md | (cd dist && ../$(TRIED)/bin/python -)
	$(TRIED)/bin/python -m pip install --disable-pip-version-check "$$(ls dist/*.whl)[study]"
	cd dist && ../$(TRIED)/bin/rlsvi list > /dev/null

execute: .venv/.done  ## run every chapter and store its output (same code, same bytes)
	$(BIN)/jupyter nbconvert --to notebook --execute --inplace \
		--ExecutePreprocessor.record_timing=False --ExecutePreprocessor.timeout=600 $(NOTEBOOKS)
	@# How output was cut into pieces depends on timing; joined, it does not.
	$(BIN)/jupyter nbconvert --to notebook --inplace --coalesce-streams $(NOTEBOOKS)
	$(BIN)/python -m book._ext.pictures

# Apart: with what JupyterLab brings, each process that reads a notebook starts two seconds later.
lab: .venv/.done  ## open the chapters in JupyterLab, which it installs
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt jupyterlab
	$(BIN)/jupyter lab book

bench: .venv/.done  ## run the benchmarks, one table
	$(BIN)/python -m benchmarks

clean:  ## remove what was built, keeping the environment
	rm -rf _build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
