# FlashWatt. `make help` lists the targets. Everything is built in .venv and target/. Nothing is installed elsewhere, with two
# exceptions: python3-venv where Python lacks it (tools/venv.sh asks first), and a browser for the tests of pages (tools/browser.sh).

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUST   := Cargo.toml Cargo.lock $(shell find crates/*/src crates/*/Cargo.toml crates/*/build.rs crates/*/presets crates/*/standins crates/*/personalities -type f 2>/dev/null)

# Processes of Python tests: one more than processors, because some tests wait for browsers, signals and pauses.
WORKERS := $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

# Stamps: each is newer than everything it was made from, so that a second `make demo` goes straight to the demo.
TOOLS := $(VENV)/.stamp-tools
DEV   := $(VENV)/.stamp-dev
DOCS  := $(VENV)/.stamp-docs
WHEEL := $(VENV)/.stamp-wheel
CLI   := $(VENV)/.stamp-cli

.DEFAULT_GOAL := help
.PHONY: help demo test lowest lint bench wheel reproduce soak soak-words fuzz validate-linux validate-files docs clean
.DELETE_ON_ERROR:

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(CLI) ## simulate a drive and draw its power over time; the command line is then at .venv/bin/flashwatt
	@$(BIN)/python -m flashwatt.demo

test: $(CLI) $(DEV) ## run all tests in their small form: engine (Rust), then package and command line (Python); installs chromium if there is no browser
	@bash tools/traces.sh
	PROPTEST_CASES=64 cargo test --workspace --locked --no-fail-fast --features flashwatt/internals
	@bash tools/browser.sh
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
	@bash tools/traces.sh

lowest: $(CLI) ## test the package with the lowest versions of its dependencies, in .venv-lowest
	@PYTHON="$(PYTHON)" bash tools/venv.sh .venv-lowest
	@.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-lowest.txt
	PYTHONPATH=$(CURDIR)/python .venv-lowest/bin/python -m pytest -n auto $(addprefix tests/python/test_,\
	  api.py calibrate.py cli.py compare.py frames.py plot.py price.py statistics.py sweep.py table.py)

lint: $(DEV) ## check formatting, lints, types, lengths of functions and duplicated lines; a warning is an error
	git ls-files '*.rs' | xargs rustfmt --check --edition 2024
	$(BIN)/ruff check python tests/python tools examples
	$(BIN)/ruff format --check python tests/python tools examples
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs crates/*/src crates/flashwatt/README.md crates/*/presets crates/*/standins \
	  python packaging examples tools
	$(BIN)/mypy --strict python/flashwatt
	$(BIN)/python tools/structure.py
	cargo clippy --workspace --all-targets --features flashwatt/internals --locked -- -D warnings
	cargo check --quiet --locked --manifest-path fuzz/Cargo.toml --target-dir target --bins
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --workspace --exclude flashwatt-python --exclude flashwatt-live --no-deps --features flashwatt/internals --document-private-items
	@bash tools/other_platforms.sh

bench: $(CLI) ## measure the speed of the command line and the engine against their goals
	@$(BIN)/python tools/bench.py
	@$(BIN)/python tools/growth.py
	@$(BIN)/python tools/instructions.py
	@$(BIN)/python tools/startup.py
	@cargo bench --quiet --locked -p flashwatt --bench speed -- push
	@cargo bench --quiet --locked -p flashwatt --bench ftls
	@cargo bench --quiet --locked -p flashwatt --bench traces
	@cargo bench --quiet --locked -p flashwatt --bench hosts
	@cargo bench --quiet --locked -p flashwatt --bench files
	@cargo bench --quiet --locked -p flashwatt --bench hdd
	@cargo bench --quiet --locked -p flashwatt --bench arrays

wheel: $(TOOLS) $(WHEEL) ## build the wheel of a release in dist/, laid out by a profile of what the engine executes
	@bash tools/wheel.sh $(BIN)/python dist

reproduce: $(CLI) ## rerun the papers' experiments, with a page for each paper in reproduction/ (takes minutes)
	@$(BIN)/python -m flashwatt reproduce --all

PART   ?=
FACTOR ?= 1
soak: soak-words $(CLI) $(DEV) ## run all tests at their full size times FACTOR=1, or PART=contracts,cuts,… alone, with random numbers of the day; it resumes
	@bash tools/browser.sh
	@$(BIN)/python tools/soak.py --part "$(PART)" --factor $(FACTOR)

soak-words: # a misspelt PART or FACTOR ends here, before anything is installed or built
	@$(PYTHON) tools/soak.py --part "$(PART)" --factor $(FACTOR) --check

fuzz: ## run FUZZ_DRIVES (5,000) random drives; fuzz configurations and trace parsers, FUZZ_SECONDS (60) each, with cargo-fuzz if installed, or by mutations
	@bash tools/fuzz.sh

validate-linux: $(CLI) ## run fio jobs in a real Linux kernel and in FlashWatt, and compare (20 minutes; installs packages)
	@bash tools/validate_linux.sh $(BIN)/python linux

validate-files: $(CLI) ## run fio's job on file systems of a real Linux kernel, and print what their disk saw (25 minutes; installs packages)
	@bash tools/validate_linux.sh $(BIN)/python files

docs: $(CLI) $(DOCS) ## build the site in site/index.html; a warning is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -W error::SyntaxWarning -m mkdocs build --strict --quiet

clean: ## remove everything that was built
	rm -rf $(VENV) .venv-lowest target fuzz/target fuzz/corpus fuzz/artifacts demo dist reproduction site python/flashwatt/*.so

$(TOOLS): requirements.txt tools/venv.sh
	@echo "Installing the packages of requirements.txt into $(VENV) ..."
	@PYTHON="$(PYTHON)" bash tools/venv.sh $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(DEV): requirements-dev.txt $(TOOLS)
	@echo "Installing the packages of requirements-dev.txt into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

$(DOCS): requirements-docs.txt $(TOOLS)
	@echo "Installing the packages of requirements-docs.txt into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	@touch $@

$(WHEEL): requirements-wheel.txt $(TOOLS)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-wheel.txt
	@touch $@

$(CLI): $(RUST) pyproject.toml $(TOOLS)
	@command -v cargo >/dev/null || { \
	  echo "flashwatt: cargo is missing. Install Rust (https://rustup.rs), then run make again." >&2; exit 1; }
	@mkdir -p target
	@env -u CONDA_PREFIX VIRTUAL_ENV="$(abspath $(VENV))" bash tools/build.sh $(BIN)/maturin develop --release
	@touch $@
