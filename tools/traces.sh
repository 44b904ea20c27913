#!/usr/bin/env bash
# Says loudly which tests are skipped where the real traces are absent; they are no part of the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${FLASHWATT_TRACES:-../shared/traces}
[ -d "$folder" ] && exit 0
tests=$(grep -rho --include='*.rs' '= real_traces() else' crates | wc -l)
echo "flashwatt: REAL TRACES NOT FOUND at $folder: $tests tests that want them are SKIPPED (FLASHWATT_TRACES names another folder)" >&2
