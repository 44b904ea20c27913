#!/usr/bin/env bash
# Builds a wheel whose machine code is laid out by a profile: tools/wheel.sh PYTHON DIRECTORY
# PYTHON has maturin and the package's dependencies. A build that counts how often each place is executed runs `tools/training.py`;
# the compiler then puts together what is executed together. The counts follow from the runs' seeds, and so the same compiler and the
# same sources give the same profile on any machine. Results do not depend on it (`make test` builds without).
# With ziglang (requirements-wheel.txt) the wheel runs on every Linux with glibc 2.28 or later; without, on those whose
# glibc is not older than this machine's, which its name then says.
set -euo pipefail
python=$1
wheels=$2
work=target/profile
largest_bytes=8000000

die() { echo "flashwatt: $*" >&2; exit 1; }

profdata=$(find "$(rustc --print sysroot)/lib/rustlib" -name llvm-profdata | head -n 1)
[ -n "$profdata" ] || die "the compiler's llvm-profdata is missing. Install it (rustup component add llvm-tools), then run make again"

rm -rf "$work/counts" "$work/package" "$work/wheel"
mkdir -p "$work/package"
echo "Building the engine with counters ..."
RUSTFLAGS="-Cprofile-generate=$PWD/$work/counts" \
    cargo build --profile dist --locked --quiet -p flashwatt-python --target-dir "$work/target"
cp -r python/flashwatt "$work/package/"
rm -f "$work"/package/flashwatt/*.so
cp "$work/target/dist/lib_core.so" "$work/package/flashwatt/_core.abi3.so"
echo "Counting ..."
PYTHONPATH=$work/package "$python" tools/training.py
"$profdata" merge -o "$work/merged.profdata" "$work/counts"

glibc=()
if "$python" -c "import ziglang" 2>/dev/null; then
    glibc=(--zig --compatibility manylinux_2_28)
else
    echo "flashwatt: ziglang is missing: the wheel needs a glibc as new as this machine's (pip install -r requirements-wheel.txt)" >&2
fi
echo "Building the wheel ..."
# The path: maturin calls `python3 -m ziglang`.
PATH=$(cd "$(dirname "$python")" && pwd):$PATH RUSTFLAGS="-Cprofile-use=$PWD/$work/merged.profdata" \
    "$python" -m maturin build --profile dist --locked --quiet "${glibc[@]}" --target-dir "$work/target" --out "$work/wheel"
wheel=$(echo "$work"/wheel/*.whl)
bytes=$(wc -c < "$wheel")
[ "$bytes" -le "$largest_bytes" ] || die "$wheel: too large; found $bytes bytes; expected $largest_bytes at most"
mkdir -p "$wheels"
mv "$wheel" "$wheels/"
echo "$wheels/$(basename "$wheel"): $bytes bytes"
