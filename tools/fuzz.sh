#!/usr/bin/env bash
# What `make fuzz` runs: FUZZ_DRIVES drives of today, drawn at random, under `--check`; then configurations and every trace parser,
# FUZZ_SECONDS each. These are guided by coverage (cargo-fuzz on nightly) where that is installed, else by mutation from a seeded
# generator, for the same time; it says which ran.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
seconds=${FUZZ_SECONDS:-60}
seed=${FUZZ_SEED:-1}
drives=${FUZZ_DRIVES:-5000}

echo "fuzz: $drives drives of today (seed $seed)"
cargo run --release --locked --quiet --bin drives -- "$drives" "$seed"

if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
  echo "fuzz: cargo-fuzz on nightly is not installed: mutations with a seeded generator (seed $seed), $seconds s each"
  cargo build --release --locked --quiet --bin mutate
  exec cargo run --release --locked --quiet --bin mutate -- "$seconds" "$seed" "$@"
fi

echo "fuzz: cargo-fuzz on nightly, guided by coverage, $seconds s each"
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  listed=$(cargo run --release --locked --quiet --bin mutate -- --list) # a failure here ends the script, within < <() not
  mapfile -t names <<<"$listed"
fi
for name in "${names[@]}"; do
  corpus=corpus/$name
  mkdir -p "$corpus"
  cargo run --release --locked --quiet --bin mutate -- --seeds "$name" "$corpus"
  target=trace
  [ "$name" = config ] && target=config
  echo "fuzz: $name"
  FLASHWATT_FORMAT=$name cargo +nightly fuzz run --features libfuzzer "$target" "$corpus" -- \
    -max_total_time="$seconds" -timeout=10 -max_len=4096 -print_final_stats=1 -verbosity=0
done
