#!/usr/bin/env bash
# Makes the virtual environment that the Makefile builds in: tools/venv.sh DIRECTORY
set -euo pipefail
venv=$1
python=${PYTHON:-python3}

die() { echo "flashwatt: $*" >&2; exit 1; }

command -v "$python" >/dev/null || die "$python is missing. Install Python 3.10 or newer, or say: make PYTHON=/path/to/python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    die "$("$python" --version) is too old: Python 3.10 or newer is needed. Another one: make PYTHON=/path/to/python3"

# Debian and Ubuntu ship Python without the part that fills a virtual environment.
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    command -v apt-get >/dev/null || die "$python lacks the venv module: install it with your system's package manager"
    sudo=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "$python lacks the venv module: as root, run: apt-get install python3-venv"
        sudo=sudo
    fi
    echo "$python lacks the venv module; installing python3-venv with ${sudo:+$sudo }apt-get ..." >&2
    $sudo apt-get install -y --no-install-recommends python3-venv >&2 ||
        { $sudo apt-get update >&2 && $sudo apt-get install -y --no-install-recommends python3-venv >&2; } ||
        die "python3-venv could not be installed"
fi

"$python" -m venv "$venv"
