#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# roots.sh DOCUMENT... - runs run.py on three kinds of machine. Prints TAP.
#
#   nothing  without dat.conf and libraries of uDAPL
#   dapl2    with Debian's packages libdapl2 and dapl2-utils, and their dat.conf
#   ofed     with the dat.conf of an OFED for uDAPL 1.2: see ofed.conf
#
# Each is this machine in a mount namespace, with other files mounted over /etc and over the directories of programs and
# libraries. This requires root. Otherwise run.py runs once, on this machine.
#
#   CARGO_TARGET_DIR  build directory, which also stores the packages
set -u
here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}

# ---- In the mount namespace ----

# hide FILE...: hides files of uDAPL that the other kind of machine lacks. A 0:0 device in an upper layer hides a file.
hide()
{
    for file in "$@"; do
        [ ! -e "$file" ] || [ -e "$work/files$file" ] || mknod "$work/files$file" c 0 0 || return
    done
}

# dress KIND WORK: turns this mount namespace into that kind of machine.
dress()
{
    work=$2
    mount -t tmpfs tmpfs "$work" && mkdir "$work/files" || return
    # A copy, because some files in the /etc of a container are mounts. Files that cannot be copied are secrets.
    cp -a /etc "$work/etc" 2>/dev/null
    rm -f "$work/etc/dat.conf" "$work/etc/rdma/dat.conf" && [ -e "$work/etc/passwd" ] || return
    # Use another rendezvous directory, so that the programs of the pages do not meet programs of other tests.
    rendezvous=/tmp/dat-shm-$(id -u)
    mkdir -m 700 "$work/rendezvous" && mkdir -p -m 700 "$rendezvous" && mount --bind "$work/rendezvous" "$rendezvous" || return
    case $1 in
    dapl2)
        for package in libdapl2 dapl2-utils; do
            dpkg-deb -x "$target/dapl2/packages/$package"_*.deb "$work/files" || return
        done
        cp "$work/files/etc/dat.conf" "$work/etc" || return ;;
    ofed)
        cp "$here/ofed.conf" "$work/etc/dat.conf" || return ;;
    esac
    for directory in /usr/bin /usr/lib64 /usr/lib/*-linux-gnu*; do
        if [ -d "$directory" ] && [ ! -L "$directory" ]; then
            mkdir -p "$work/files$directory" &&
                hide "$directory"/libdat.so* "$directory"/libdat2.so* "$directory"/libdapl* "$directory"/dtest* "$directory"/dapltest &&
                mount -t overlay overlay -o "lowerdir=$work/files$directory:$directory" "$directory" || return
        fi
    done
    mount --bind "$work/etc" /etc
}

# is_dressed KIND: succeeds if programs find the files of that kind of machine.
is_dressed()
{
    case $1 in
    nothing) [ ! -e /etc/dat.conf ] && ! command -v dtest ;;
    dapl2) grep -q '^ofa-v2-ib0 u2\.0 ' /etc/dat.conf && ldd /usr/bin/dtest | grep 'libdat2\.so\.2 => /' ;;
    ofed) grep -q '^OpenIB-cma u1\.2 ' /etc/dat.conf && ! command -v dtest ;;
    esac
}

if [ "${1:-}" = --inside ]; then
    kind=$2 dir=$3
    shift 3
    if dress "$kind" "$dir" && is_dressed "$kind" >/dev/null; then
        echo 'ok 0 - it is such a machine'
        exec "$here/run.py" "$@"
    fi
    exit 1
fi

# ---- Outside ----

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
total=0 failed=0
: >"$work/skipped"

# run KIND COMMAND...: prints the TAP of the command with the kind in each name, and counts the tests. A test that all
# machines skip is printed once.
run()
{
    kind=$1
    shift
    "$@" >"$work/tap" || failed=1
    grep -q '^1\.\.' "$work/tap" || echo 'not ok 0 - it comes to its end' >>"$work/tap"
    awk -v total="$total" -v kind="$kind" -v skipped="$work/skipped" '
        FILENAME == skipped { reported[$0]; next }
        / # SKIP / {
            what = $0
            sub(/^ok [0-9]+ - /, "", what)
            if (what in reported) next
            print what >>skipped
        }
        /^1\.\./ { next }
        /^(not )?ok [0-9]+ - / { sub(/[0-9]+ - /, ++total " - " kind ": ") }
        { print }' "$work/skipped" "$work/tap" | tee "$work/log"
    total=$((total + $(grep -c -e '^ok ' -e '^not ok ' "$work/log")))
}

skip()
{
    total=$((total + 1))
    echo "ok $total - $1 # SKIP $2"
}

why=
if [ "$(id -u)" -ne 0 ]; then
    why='needs root'
elif ! unshare --mount sh -c 'mount -t tmpfs tmpfs "$0" && mkdir "$0/over" && mknod "$0/device" c 0 0 &&
        mount -t overlay overlay -o "lowerdir=$0/over:/usr/bin" /usr/bin' "$work" 2>"$work/log"; then
    why="mounts are refused: $(tail -n 1 "$work/log")"
fi
if [ -n "$why" ]; then
    skip 'machines with and without another uDAPL: the documents are run on this one alone' "$why"
    run this "$here/run.py" "$@"
else
    for kind in nothing dapl2 ofed; do
        if [ "$kind" = dapl2 ] && ! "$here/../verbs/dapl2.sh" "$target" >"$work/log" 2>&1; then
            skip "$kind" "$(tail -n 1 "$work/log")"
        else
            mkdir "$work/$kind"
            run "$kind" unshare --mount "$0" --inside "$kind" "$work/$kind" "$@"
        fi
    done
fi
echo "1..$total"
exit $failed
