# FlashWatt. `make help` lists the targets. Everything is built in .venv and target/, nothing is installed elsewhere.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUST   := Cargo.toml Cargo.lock $(shell find crates presets -name '*.rs' -o -name '*.toml' 2>/dev/null)

# Stamps: each is newer than everything it was made from, so that a second `make demo` goes straight to the demo.
TOOLS := $(VENV)/.stamp-tools
DEV   := $(VENV)/.stamp-dev
DOCS  := $(VENV)/.stamp-docs
CLI   := $(VENV)/.stamp-cli

.DEFAULT_GOAL := help
.PHONY: help demo test lowest lint bench wheel reproduce soak fuzz validate-linux validate-files docs clean
.DELETE_ON_ERROR:

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(CLI) ## simulate a drive and draw its power over time; the command line is then at .venv/bin/flashwatt
	@$(BIN)/python -m flashwatt.demo

test: $(CLI) $(DEV) ## run all tests: engine (Rust), then package and command line (Python)
	@bash tools/traces.sh
	cargo test --workspace --locked --no-fail-fast --features flashwatt/internals
	cargo test --profile dev --locked -p flashwatt --doc
	@bash tools/browser.sh
	$(BIN)/python -m pytest -n auto
	@bash tools/traces.sh

lowest: $(CLI) ## test the package with the lowest versions of its dependencies, in .venv-lowest
	@PYTHON="$(PYTHON)" bash tools/venv.sh .venv-lowest
	@.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-lowest.txt
	PYTHONPATH=$(CURDIR)/python .venv-lowest/bin/python -m pytest -n auto $(addprefix tests/python/test_,\
	  api.py calibrate.py cli.py compare.py frames.py plot.py price.py statistics.py sweep.py table.py)

lint: $(CLI) $(DEV) ## check formatting, lints, types, lengths of functions and duplicated lines; a warning is an error
	cargo fmt --all --check
	git ls-files '*.rs' | xargs rustfmt --check --edition 2024
	cargo clippy --workspace --locked -- -D warnings
	cargo clippy --workspace --all-targets --features flashwatt/internals --locked -- -D warnings
	cargo metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml >/dev/null
	$(BIN)/ruff check python tests/python tools examples
	$(BIN)/ruff format --check python tests/python tools examples
	$(BIN)/mypy --strict python/flashwatt
	$(BIN)/python tools/structure.py
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs crates/*/src python presets examples tools
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked -p flashwatt --no-deps
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked -p flashwatt --no-deps --features internals --document-private-items

bench: $(CLI) ## measure the speed of the command line and the engine against their goals
	@$(BIN)/python tools/bench.py
	@$(BIN)/python tools/growth.py
	@$(BIN)/python tools/instructions.py
	@cargo bench --quiet --locked -p flashwatt --bench speed -- push
	@cargo bench --quiet --locked -p flashwatt --bench ftls
	@cargo bench --quiet --locked -p flashwatt --bench traces
	@cargo bench --quiet --locked -p flashwatt --bench hosts
	@cargo bench --quiet --locked -p flashwatt --bench files
	@cargo bench --quiet --locked -p flashwatt --bench hdd
	@cargo bench --quiet --locked -p flashwatt --bench arrays

wheel: $(TOOLS) ## build the wheel of a release in dist/, laid out by a profile of what the engine executes
	@bash tools/wheel.sh $(BIN)/python dist

reproduce: $(CLI) ## rerun the papers' experiments, with a page for each paper in reproduction/ (takes minutes)
	@$(BIN)/python -m flashwatt reproduce --all

soak: $(CLI) $(DEV) ## test every translation layer with 10^8 requests and 10^4 power cuts, every file system with 10^8 operations, and every hostile input (takes hours)
	FLASHWATT_SOAK=100 cargo test --locked -p flashwatt --features internals --test contracts --test cuts --test files -- --nocapture
	FLASHWATT_SOAK=100 $(BIN)/python -m pytest -n auto

fuzz: ## fuzz configurations and trace parsers, FUZZ_SECONDS (60) each; with cargo-fuzz if installed, or by mutations
	@bash tools/fuzz.sh

validate-linux: $(CLI) ## run fio jobs in a real Linux kernel and in FlashWatt, and compare (20 minutes; installs packages)
	@bash tools/validate_linux.sh $(BIN)/python linux

validate-files: $(CLI) ## run fio's job on file systems of a real Linux kernel, and print what their disk saw (10 minutes; installs packages)
	@bash tools/validate_linux.sh $(BIN)/python files

docs: $(CLI) $(DOCS) ## build the site in site/index.html; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -W error::SyntaxWarning -m mkdocs build --strict --quiet

clean: ## remove everything that was built
	rm -rf $(VENV) .venv-lowest target fuzz/target fuzz/corpus fuzz/artifacts demo dist reproduction site python/flashwatt/*.so

$(TOOLS): requirements.txt tools/venv.sh
	@PYTHON="$(PYTHON)" bash tools/venv.sh $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(DEV): requirements-dev.txt $(TOOLS)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

$(DOCS): requirements-docs.txt $(TOOLS)
	@echo "Installing what builds the site ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	@touch $@

$(CLI): $(RUST) pyproject.toml $(TOOLS)
	@command -v cargo >/dev/null || { \
	  echo "flashwatt: cargo is missing. Install Rust (https://rustup.rs), then run make again." >&2; exit 1; }
	@echo "Building the engine (four minutes the first time, on two processors) ..."
	@mkdir -p target
	@env -u CONDA_PREFIX VIRTUAL_ENV="$(abspath $(VENV))" PIP_QUIET=1 $(BIN)/maturin develop --release --quiet \
	  > target/build.log 2>&1 || { cat target/build.log >&2; exit 1; }
	@touch $@
