#!/usr/bin/env bash
# Makes the virtual environment that the Makefile builds in: tools/venv.sh DIRECTORY
# It installs nothing outside DIRECTORY, with one exception: python3-venv, where Python lacks that module (Debian and Ubuntu
# ship it apart). It asks first. Where nobody can be asked, it goes on only for root, as in a container, or with
# FLASHWATT_APT=yes; the command is printed before it runs.
set -euo pipefail
venv=$1
python=${PYTHON:-python3}

die() { echo "flashwatt: $*" >&2; exit 1; }

command -v "$python" >/dev/null || die "$python is missing. Install Python 3.10 or newer, or say: make PYTHON=/path/to/python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    die "$("$python" --version) is too old: Python 3.10 or newer is needed. Another one: make PYTHON=/path/to/python3"

# Whether a system package may be installed with the command $1.
allowed() {
    [ "${FLASHWATT_APT:-}" = yes ] && return
    if ! { [ -t 0 ] && [ -t 2 ]; }; then
        [ "$(id -u)" -eq 0 ]
        return
    fi
    read -r -p "flashwatt: $python lacks the venv module. Install it on this system ($1)? [y/N] " answer
    [[ $answer == [yY]* ]]
}

if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    # pip of the system fills an environment as well as ensurepip does.
    if "$python" -c 'import pip, venv' 2>/dev/null && "$python" -m venv --without-pip "$venv" &&
        "$python" -m pip --python "$venv/bin/python" install --quiet --disable-pip-version-check pip; then
        exit
    fi
    command -v apt-get >/dev/null || die "$python lacks the venv module: install it with your system's package manager"
    sudo=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "$python lacks the venv module: as root, run: apt-get install python3-venv"
        sudo="sudo "
    fi
    install="${sudo}apt-get install -y --no-install-recommends python3-venv"
    allowed "$install" || die "$python lacks the venv module. Install it: $install (or say: make FLASHWATT_APT=yes)"
    echo "flashwatt: $install" >&2
    $install >&2 || { ${sudo}apt-get update >&2 && $install >&2; } || die "python3-venv could not be installed"
fi

"$python" -m venv "$venv"
