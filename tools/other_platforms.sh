#!/usr/bin/env bash
# Checks that engine and bindings compile on platforms that are not at hand: tools/other_platforms.sh [TARGET ...]
# A type check for another target needs its standard library and nothing else: no linker, no system. If rustup cannot get the
# library (no rustup, no network), the target is passed over, and a line says so.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then set -- x86_64-pc-windows-gnu; fi
status=0
for target in "$@"; do
    libraries=$(rustc --print sysroot)/lib/rustlib/$target/lib
    if [ ! -d "$libraries" ] && ! rustup target add "$target"; then
        echo "flashwatt: NOT CHECKED: $target: its standard library is not there, and rustup cannot get it; nothing was compiled" >&2
        continue
    fi
    echo "Checking $target ..."
    flags="-D warnings"
    case $target in *-musl) flags+=" -C target-feature=-crt-static" ;; esac # as maturin does: Python loads shared libraries only
    # There is no interpreter of that platform to ask, and none to link against: abi3 needs neither.
    RUSTFLAGS="$flags" PYO3_NO_PYTHON=1 PYO3_BUILD_EXTENSION_MODULE=1 \
        CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 cargo check --locked --quiet \
        --target "$target" --target-dir target/other-platforms -p flashwatt -p flashwatt-live -p flashwatt-python || status=1
done
exit $status
