#!/usr/bin/env bash
# Builds the engine and says what is done: tools/build.sh COMMAND WORDS...
# On a terminal one line counts the crates that are compiled; elsewhere it appears once a quarter of a minute at most. All output is in
# target/build.log, and on standard error if the build fails.
set -uo pipefail
log=target/build.log
crates=$(grep -c '^\[\[package\]\]' Cargo.lock)
echo "Building the engine: two to five minutes the first time, on two processors ($log has the compiler's output) ..."
"$@" > "$log" 2>&1 &
build=$!
shown=0
while kill -0 $build 2>/dev/null; do
    sleep 0.5
    last=$(grep -o 'Compiling [^ ]*' "$log" | tail -n 1)
    done=$(grep -c 'Compiling ' "$log")
    line="  ${last:-Fetching crates} ($done of $crates crates begun, ${SECONDS} s)"
    if [ -t 1 ]; then
        printf '\r\033[K%s' "$line"
    elif [ $((SECONDS - shown)) -ge 15 ]; then
        shown=$SECONDS
        echo "$line"
    fi
done
wait $build
status=$?
[ ! -t 1 ] || printf '\r\033[K'
[ $status -eq 0 ] || cat "$log" >&2
exit $status
