#!/usr/bin/env bash
# Builds the engine and says what is done: tools/build.sh COMMAND WORDS...
# On a terminal one line says how far it is; elsewhere such a line appears each quarter of a minute. All output is in target/build.log;
# if the build fails, its last lines are printed.
set -uo pipefail
log=target/build.log
echo "Building the engine: two to five minutes the first time, on two processors ($log has the compiler's output) ..."
"$@" > "$log" 2>&1 &
build=$!
shown=0
while kill -0 $build 2>/dev/null; do
    sleep 0.5
    if grep -q 'Compiling flashwatt' "$log"; then
        line="  compiling and optimising the engine, the longest step ($SECONDS s)"
    else
        line="  compiling the libraries it uses: $(grep -c 'Compiling ' "$log") begun ($SECONDS s)"
    fi
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
if [ $status -eq 0 ]; then
    echo "  built in $SECONDS s"
else
    tail -n 60 "$log" >&2
    echo "The build failed; all of its output is in $log." >&2
fi
exit $status
