#!/usr/bin/env bash
# Sees to it that the tests of pages have a browser to open them in; without one they are skipped, and say so.
set -uo pipefail

say() { echo "flashwatt: $*" >&2; }

[ -n "${FLASHWATT_BROWSER:-}" ] && exit 0
for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
    command -v "$name" >/dev/null && exit 0
done

sudo=
[ "$(id -u)" -eq 0 ] || sudo="sudo -n"
if command -v apt-get >/dev/null && { [ -z "$sudo" ] || $sudo true 2>/dev/null; }; then
    say "no browser for the tests of pages; installing chromium with ${sudo:+$sudo }apt-get ..."
    $sudo apt-get install -y --no-install-recommends chromium >/dev/null 2>&1 ||
        { $sudo apt-get update && $sudo apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1
    command -v chromium >/dev/null && exit 0
fi
say "NO BROWSER: pages will not be tested. Install chromium, or name a browser in FLASHWATT_BROWSER."
