#!/usr/bin/env bash
# Builds the package from its archives, away from the clone: tools/archives.sh PYTHON
# PYTHON has maturin. The source archive becomes a wheel, the crate's package is compiled, and the wheel runs in a new environment
# where no compiler is on the path. It takes the time of a release build, and fetches the package's dependencies;
# tests/python/test_archives.py compares the archives' contents in seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
clone=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/elsewhere" "$work/nothing"

die() { echo "flashwatt: $*" >&2; exit 1; }

echo "Packing the crates, and compiling what was packed ..."
cargo package --workspace --exclude flashwatt-live --exclude flashwatt-python --locked --allow-dirty --target-dir "$work/crate" 2> "$work/crate.log" || { cat "$work/crate.log" >&2; exit 1; }
# That tests and benchmarks are left out is meant (crates/flashwatt/Cargo.toml).
warned=$(grep '^warning' "$work/crate.log" | grep -Ev '^warning: ignoring (test|benchmark) ' || true)
[ -z "$warned" ] || die "cargo package warns; found $warned; expected no warning but of tests and benchmarks that are left out"

echo "Building a wheel from the source archive ..."
"$python" -m maturin sdist --out "$work/archive" > "$work/archive.log" 2>&1 || { cat "$work/archive.log" >&2; exit 1; }
cd "$work/elsewhere"
# Without isolation pip takes the maturin that is pinned, and no other one from the network.
PATH=$(dirname "$python"):$PATH "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --wheel-dir "$work/wheels" "$work"/archive/flashwatt-*.tar.gz
wheel=$(echo "$work"/wheels/flashwatt-*.whl)
ls -l "$wheel"

echo "Running it without a compiler ..."
"$python" -m venv "$work/venv"
PATH=$work/nothing "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
env -i HOME="$work" PATH="$work/nothing" "$work/venv/bin/flashwatt" run --preset x25m --requests 2000 > "$work/run.txt"
grep -q "NAND program" "$work/run.txt" || die "the run printed no energies; found: $(cat "$work/run.txt")"
built=$("$work/venv/bin/python" -c "from flashwatt import _core; print(_core.BUILD_ID)")
sources=$(cd "$clone" && PYTHONPATH=tests/python "$python" -c "from building import ROOT, build_id; print(build_id(ROOT))")
[ "$built" = "$sources" ] || die "BUILD_ID of the wheel is $built; expected $sources, that of the clone"
echo "The crates compile; the wheel of the source archive runs and has the clone's BUILD_ID, $built"
