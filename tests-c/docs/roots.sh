#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# roots.sh DOCUMENT... - has run.py run the documents on three kinds of machine, and prints TAP:
#
#   nothing  has no uDAPL: neither dat.conf nor libraries
#   dapl2    has Debian's packages libdapl2 and dapl2-utils, with their dat.conf
#   ofed     has the dat.conf of an OFED for uDAPL 1.2: see ofed.conf
#
# Each is this machine with other files mounted over /etc and over the folders of programs and libraries, in a mount namespace
# of its own that ends with it: nothing changes for others. That needs root. Without it the documents are run once, on the
# machine as it is.
#
#   CARGO_TARGET_DIR  the build directory; the packages are kept there
set -u
here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}

# ---- In the mount namespace ----

# hide FILE...: what this machine has of uDAPL itself, and the other one has not. Such a device in the upper folder hides a file.
hide()
{
    for file in "$@"; do
        [ ! -e "$file" ] || [ -e "$work/files$file" ] || mknod "$work/files$file" c 0 0 || return
    done
}

# dress KIND WORK: makes this mount namespace a machine of that kind.
dress()
{
    work=$2
    mount -t tmpfs tmpfs "$work" && mkdir "$work/files" || return
    # A copy, since some files in /etc of a container are mounts of their own. Those that cannot be copied there are secrets.
    cp -a /etc "$work/etc" 2>/dev/null
    rm -f "$work/etc/dat.conf" "$work/etc/rdma/dat.conf" && [ -e "$work/etc/passwd" ] || return
    case $1 in
    dapl2)
        for package in libdapl2 dapl2-utils; do
            dpkg-deb -x "$target/dapl2/packages/$package"_*.deb "$work/files" || return
        done
        cp "$work/files/etc/dat.conf" "$work/etc" || return ;;
    ofed)
        cp "$here/ofed.conf" "$work/etc/dat.conf" || return ;;
    esac
    for folder in /usr/bin /usr/lib64 /usr/lib/*-linux-gnu*; do
        if [ -d "$folder" ] && [ ! -L "$folder" ]; then
            mkdir -p "$work/files$folder" &&
                hide "$folder"/libdat.so* "$folder"/libdat2.so* "$folder"/libdapl* "$folder"/dtest* "$folder"/dapltest &&
                mount -t overlay overlay -o "lowerdir=$work/files$folder:$folder" "$folder" || return
        fi
    done
    mount --bind "$work/etc" /etc
}

# is_dressed KIND: whether programs find what such a machine has.
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

# run KIND COMMAND...: the command prints the TAP of one machine. All are counted together, and each test names its machine.
# What no machine can run is skipped once.
run()
{
    kind=$1
    shift
    "$@" >"$work/tap" || failed=1
    grep -q '^1\.\.' "$work/tap" || echo 'not ok 0 - it comes to its end' >>"$work/tap"
    awk -v total="$total" -v kind="$kind" -v skipped="$work/skipped" '
        FILENAME == skipped { told[$0]; next }
        / # SKIP / {
            what = $0
            sub(/^ok [0-9]+ - /, "", what)
            if (what in told) next
            print what >>skipped
        }
        /^1\.\./ { next }
        /^(not )?ok [0-9]+ - / { sub(/[0-9]+ - /, ++total " - " kind ": ") }
        { print }' "$work/skipped" "$work/tap" | tee "$work/told"
    total=$((total + $(grep -c -e '^ok ' -e '^not ok ' "$work/told")))
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
        mount -t overlay overlay -o "lowerdir=$0/over:/usr/bin" /usr/bin' "$work" 2>"$work/told"; then
    why="mounts are refused: $(tail -n 1 "$work/told")"
fi
if [ -n "$why" ]; then
    skip 'machines with and without another uDAPL: the documents are run on this one alone' "$why"
    run this "$here/run.py" "$@"
else
    for kind in nothing dapl2 ofed; do
        if [ "$kind" = dapl2 ] && ! "$here/../verbs/dapl2.sh" "$target" >"$work/told" 2>&1; then
            skip "$kind" "$(tail -n 1 "$work/told")"
        else
            mkdir "$work/$kind"
            run "$kind" unshare --mount "$0" --inside "$kind" "$work/$kind" "$@"
        fi
    done
fi
echo "1..$total"
exit $failed
