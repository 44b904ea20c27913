#!/usr/bin/env bash
# Builds a wheel whose machine code is laid out by a profile: tools/wheel.sh PYTHON DIRECTORY
# PYTHON has maturin and the package's dependencies. A build that counts how often each place is executed runs `tools/training.py`;
# the compiler then puts together what is executed together. The counts follow from the runs' seeds, and so the same compiler and the
# same sources give the same profile on any machine. Results do not depend on it (`make test` builds without).
set -euo pipefail
python=$1
wheels=$2
work=target/profile

die() { echo "flashwatt: $*" >&2; exit 1; }

profdata=$(find "$(rustc --print sysroot)/lib/rustlib" -name llvm-profdata | head -n 1)
[ -n "$profdata" ] || die "the compiler's llvm-profdata is missing. Install it (rustup component add llvm-tools), then run make again"

rm -rf "$work/counts" "$work/package"
mkdir -p "$work/package"
echo "Building the engine with counters ..."
RUSTFLAGS="-Cprofile-generate=$PWD/$work/counts" \
    cargo build --release --locked --quiet -p flashwatt-python --target-dir "$work/target"
cp -r python/flashwatt "$work/package/"
rm -f "$work"/package/flashwatt/*.so
cp "$work/target/release/lib_core.so" "$work/package/flashwatt/_core.abi3.so"
echo "Counting ..."
PYTHONPATH=$work/package "$python" tools/training.py
"$profdata" merge -o "$work/merged.profdata" "$work/counts"
echo "Building the wheel ..."
RUSTFLAGS="-Cprofile-use=$PWD/$work/merged.profdata" \
    "$python" -m maturin build --release --locked --quiet --target-dir "$work/target" --out "$wheels"
