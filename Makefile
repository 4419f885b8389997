# Each command sets up what it needs in .venv: `make lab` and grading the packages of requirements.txt, tests and what is
# made for contributors those of tests/requirements.txt, too. Only `make test` may touch more: where there is no
# PostgreSQL server for it to start, no Chromium to look with, or no npm to fetch axe-core and JupyterHub's proxy by, and
# it may, it installs Debian's.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready
TOOLS  := $(VENV)/ready-for-tests
AXE    := tests/support/axe/node_modules
PROXY  := tests/support/proxy/node_modules
LESSON ?= 00_orientation
UPSTREAM ?= upstream
EXAMPLES ?= 2000
SEED ?= $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')

# Two processes; the tests of a file, and the cells of a notebook, stay together, in the order of tests/conftest.py.
PARALLEL := --numprocesses 2 --dist loadfile --no-loadscope-reorder
# The proofs that a run makes: those of which something has changed and a tenth of the others, or all.
PROOFS   := changed
PROVING  := tests/test_answers.py tests/test_spoiled_answers.py tests/tools/test_mutants.py tests/grading/rpc/test_verdicts.py \
            tests/attacks
NBVAL    := --nbval
STEPS    := NBGRADER_EXECUTION=autograde# long demonstrations take 2 steps; `make lessons STEPS=` has them take all
MERGING  := git rev-parse --quiet --verify MERGE_HEAD > /dev/null

.PHONY: help setup test-setup lab test lessons all-tests prove fuzz quick lint server hub browser outputs release update demo doctor exercise mistakes mutants pairs attacks gallery pictures site benchmarks clean

help:
	@echo "make lab         open JupyterLab on lesson 0 (LESSON=02_multi_head_attention for another);"
	@echo "                 INSTRUCTOR=1 for formgrader and the rest of nbgrader"
	@echo "make quick       what to run after each change: lint, types and the tests that it is most likely to break"
	@echo "make test        run the tests: of the proofs those of which something has changed, and a tenth of the others;"
	@echo "                 an hour on two cores where all have"
	@echo "make prove       make every proof anew, and the pages that say what came of them: two hours"
	@echo "make lessons     run every cell of the lessons; STEPS= for trainings of full length"
	@echo "make fuzz        random hand-ins and messages, 2,000 of each kind; EXAMPLES=100000 for more, SEED=7 for those again"
	@echo "make demo        grade a sample class and print its points"
	@echo "make doctor      try what the sandbox of grading promises on this machine"
	@echo "make release     make notebooks/ from solutions/"
	@echo "make update      merge a new version of the course, from the git remote upstream, and release"
	@echo "make outputs     run the lessons in solutions/ and store their outputs, then release;"
	@echo "                 LESSON=02_multi_head_attention for one of them"
	@echo "make exercise    say all that one exercise lacks, in a minute: EXERCISE=split_heads"
	@echo "make mistakes    grade all known wrong and right answers, and say what each check catches;"
	@echo "                 EXERCISE=split_heads for one of them, with what is missing"
	@echo "make mutants     change the reference answers in one place at a time, and say what no check sees"
	@echo "make pairs       make every two mistakes in one answer, and say where a third is named"
	@echo "make attacks     grade all hostile submissions in every way, as root and as an ordinary user: an hour"
	@echo "make gallery     write build/gallery.html: every figure and every kind of failing check"
	@echo "make site        write build/site/: the lessons and all documents, to be read in a browser; open index.html there"
	@echo "make pictures    make the pictures of the README anew, in docs/pictures/"
	@echo "make benchmarks  train with 20 seeds as lessons 1 to 4, 6, 8 and 9 do, compare speeds, time checks and grading"
	@echo "make clean       remove what these commands made, your answers and gradebook excepted"

setup: $(READY)

$(READY): requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; say which: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	@touch $@

test-setup: $(TOOLS)

$(TOOLS): tests/requirements.txt $(READY)
	$(BIN)/python -m pip install --quiet --requirement $<
	@touch $@

# Learners see nothing of nbgrader's, and no news; `make lab INSTRUCTOR=1` shows all of it. JupyterLab refuses to run as
# root, who in many containers is the only user.
lab: $(READY)
	@as_root=; if [ "$$(id -u)" = 0 ]; then \
	  echo "You are root: JupyterLab runs with --allow-root, and only this machine can reach it."; \
	  as_root="--allow-root --ServerApp.ip=127.0.0.1"; \
	fi; \
	exec env $(if $(INSTRUCTOR),,JUPYTER_CONFIG_PATH=tools/learner) $(BIN)/jupyter lab $$as_root $(LAB_FLAGS) --LabApp.default_url=/lab/tree/notebooks/$(LESSON)/$(LESSON).ipynb

test: lint lessons all-tests

# Every cell of the lessons, against its stored output.
lessons: $(TOOLS)
	$(STEPS) OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(PARALLEL) $(NBVAL) solutions

all-tests: $(TOOLS) server browser hub
	PROOFS=$(PROOFS) $(BIN)/python -m pytest $(PARALLEL) --durations 25 tests

# Every proof anew, and the pages that say what came of them.
prove: mistakes mutants attacks
	PROOFS=all $(BIN)/python -m pytest $(PARALLEL) $(PROVING)

# Two processes; with the same seed and number the same cases come again.
fuzz: SEED := $(SEED)
fuzz: $(TOOLS)
	@FUZZ_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest $(PARALLEL) --hypothesis-seed=$(SEED) tests/fuzz; status=$$?; \
	echo "These cases again: make fuzz SEED=$(SEED) EXAMPLES=$(EXAMPLES)"; exit $$status

quick: lint
	$(BIN)/python -m pytest $(PARALLEL) $$(PYTHONPATH=tests $(BIN)/python tools/likely_broken.py)

lint: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/autograder release --check
	$(BIN)/mypy

server:
	@ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || $(call debian,postgresql)

hub: $(PROXY)

browser: $(AXE)
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null \
	  || $(call debian,chromium)

# axe-core and JupyterHub's proxy, in the versions and with the checksums of the lock files; without them, their tests
# say what is missing.
$(AXE) $(PROXY): %/node_modules: %/package-lock.json
	-@command -v npm > /dev/null || $(call debian,npm)
	-@npm ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel error > /dev/null && touch $@

# Installs a package of Debian's, and nothing where that is not allowed.
debian = sh -c '\
	  if [ "$$(id -u)" = 0 ]; then run=; elif sudo -n true 2> /dev/null; then run=sudo; else exit 0; fi; \
	  $$run apt-get update -qq && $$run env DEBIAN_FRONTEND=noninteractive \
	  apt-get install -qq -y --no-install-recommends $(1) > /dev/null'

release: $(READY)
	$(BIN)/autograder release

# What both sides generated is made again, not merged. Where both changed the same lines elsewhere, git refuses the commit
# and says where: mend that, `git add` it, and run this again. Other checks of a lesson that was handed in are held back.
update: $(READY)
	@$(MERGING) || git diff --quiet HEAD -- . ':!notebooks' || { \
	  echo "Not committed yet, and the merge would take it for its own:"; git diff --name-only HEAD -- . ':!notebooks'; \
	  echo 'Commit it (git commit -am "…"), or put it aside (git stash; afterwards git stash pop), then make update again.'; \
	  exit 1; \
	} >&2
	@$(MERGING) || git pull --no-rebase --no-ff --no-commit $(UPSTREAM) main || $(MERGING)
	@! $(MERGING) || echo "What conflicts in notebooks/ and the README's table is settled now: it is made again."
	@$(BIN)/autograder release --merged
	@if $(MERGING); then \
	  git add notebooks; \
	  test -n "$$(git ls-files --unmerged solutions)" || git add solutions; \
	  grep -q '^<<<<<<< ' README.md || git add README.md; \
	  git commit --no-edit; \
	fi

outputs: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/jupyter nbconvert --to notebook --inplace --execute \
	  $(if $(filter file,$(origin LESSON)),solutions/*/*.ipynb,solutions/$(LESSON)/$(LESSON).ipynb)
	$(BIN)/autograder release

demo: $(READY)
	$(BIN)/autograder demo

doctor: $(READY)
	$(BIN)/autograder doctor

exercise: $(TOOLS)
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python tools/exercise.py $(EXERCISE)

mistakes: $(TOOLS)
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python tools/matrix.py $(EXERCISE)

mutants: $(TOOLS)
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python tools/mutants.py $(EXERCISE)

pairs: $(TOOLS)
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python tools/two_slips.py $(EXERCISE)

attacks: $(TOOLS)
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python tools/attack_table.py

gallery: $(TOOLS)
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python tools/gallery.py

site: $(TOOLS)
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python tools/make_site.py

pictures: $(TOOLS) browser
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python tools/pictures.py

benchmarks: $(TOOLS)
	$(BIN)/python benchmarks/calibrate.py
	$(BIN)/python benchmarks/reader.py
	$(BIN)/python benchmarks/translation.py
	$(BIN)/python benchmarks/since_2017.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/checks.py
	$(BIN)/python benchmarks/grading.py
	$(BIN)/python benchmarks/report.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/similar.py

clean:
	rm -rf $(VENV) $(AXE) $(PROXY) build *.egg-info .hypothesis .pytest_cache .ruff_cache
	test ! -e demo/.made-by-autograder-demo || rm -rf demo
