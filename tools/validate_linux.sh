#!/usr/bin/env bash
# Runs fio jobs in a real Linux kernel and in FlashWatt, and compares: tools/validate_linux.sh PYTHON linux|files [FOLDER]
# `linux` is the block layer, `files` are file systems. The captured runs go to FOLDER (target/linux or target/files unless
# given). The packages are installed where that is allowed, as in tools/venv.sh: for root where nobody can be asked, with
# FLASHWATT_APT=yes, or when the question is answered with y. Where they cannot be had, nothing is compared but the runs that
# the tests have, and the last line says so.
set -euo pipefail
python=$1
what=$2
folder=${3:-target/$what}
here=$(dirname "$0")/linux
packages="user-mode-linux fio kmod"
commands="linux.uml fio"
suffix=
if [ "$what" = files ]; then
    packages="$packages e2fsprogs nilfs-tools f2fs-tools"
    commands="$commands mkfs.ext2 mkfs.ext3 mkfs.nilfs2 mkfs.f2fs filefrag"
    suffix=_files
    PATH=$PATH:/usr/sbin:/sbin
fi

find_missing() {
    missing=
    for command in $commands; do
        command -v "$command" >/dev/null || missing="$missing $command"
    done
}
find_missing

allowed() {
    [ "${FLASHWATT_APT:-}" = yes ] && return
    if ! { [ -t 0 ] && [ -t 2 ]; }; then
        [ "$(id -u)" -eq 0 ]
        return
    fi
    read -r -p "flashwatt:$missing missing. Install on this system ($1)? [y/N] " answer
    [[ $answer == [yY]* ]]
}

if [ -n "$missing" ] && command -v apt-get >/dev/null; then
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo="sudo "
    install="${sudo}apt-get install -y --no-install-recommends $packages"
    if allowed "$install"; then
        echo "flashwatt: $install" >&2
        $install >&2 || { ${sudo}apt-get update >&2 && $install >&2; } || true
        find_missing
    fi
fi

if [ -n "$missing" ]; then
    "$python" "$here/compare$suffix.py" "tests/python/data/$what"
    printf '\n%s\n' "************ SKIPPED: no real kernel was run.$missing missing (packages: $packages)." \
        "************ The figures above are those of the captured runs in tests/python/data/$what." >&2
    exit 0
fi
"$python" "$here/capture$suffix.py" "$folder"
[ "$what" != files ] || "$python" "$here/capture_journal.py" "$folder"
"$python" "$here/compare$suffix.py" "$folder"
