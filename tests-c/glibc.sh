#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# glibc.sh LIBDIR DIR - checks the libc symbols that the libraries in LIBDIR need, and runs programs of Debian 11
# (glibc 2.31) with these libraries. Fetches files of Debian 11 into DIR/debian11. Prints TAP.
set -u
LC_ALL=C
export LC_ALL

newest=2.28
suite=bullseye
packages='libc6 libc6-dev linux-libc-dev libgcc-s1 dapl2-utils libibverbs1 librdmacm1 libnl-3-200 libnl-route-3-200'

libdir=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" || exit 2
old=$(cd "$2" && pwd)/debian11
root=$(cd "$(dirname "$0")/.." && pwd)
cc=${CC:-cc}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. "$root/tests-c/common/tap.sh"

# ---- Symbols ----

# versions LIBRARY: fails if the library needs libc versions after $newest, and prints them.
versions()
{
    readelf --version-info --wide "$1" |
        sed -n 's/.*Name: \(GLIBC_[^ ]*\) .*/\1/p' | sort -u >"$work/versions"
    grep -q . "$work/versions" || { echo "no versions of libc in $1"; return 1; }
    awk -v newest="$newest" '
        BEGIN { split(newest, limit, ".") }
        {
            number = $1
            sub(/^GLIBC_/, "", number)
            split(number, part, ".")
            if (number !~ /^[0-9.]+$/ || part[1] > limit[1] || (part[1] == limit[1] && part[2] > limit[2])) {
                print
                bad = 1
            }
        }
        END { exit bad }' "$work/versions"
}

# versionless LIBRARY: fails if the library needs symbols without a version, and prints them. A symbol that libc lacked
# until $newest would have no version. The three allowed symbols are in the loader and in libdat.
versionless()
{
    ! readelf --dyn-syms --wide "$1" |
        awk '$1 ~ /^[0-9]+:$/ && $5 == "GLOBAL" && $7 == "UND" && $8 !~ /@/ { print $8 }' |
        grep -v -x -e __tls_get_addr -e dat_registry_add_provider -e dat_registry_remove_provider
}

if ! command -v readelf >/dev/null; then
    echo '1..0 # SKIP no readelf here'
    exit
fi
for library in "$libdir"/lib*.so.[0-9]; do
    [ -L "$library" ] && continue
    ok "${library##*/}: needs no version of libc after $newest" versions "$library"
    ok "${library##*/}: needs nothing of libc without its version" versionless "$library"
done

# ---- An older system ----

# fetch: unpacks the packages of the older system into $old. On failure, sets $why.
fetch()
{
    [ -e "$old/complete" ] && return
    why=
    if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
        why='no apt-get or dpkg-deb here'
        return 1
    fi
    mkdir -p "$work/lists/partial" "$work/debs"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" \
        >"$work/sources.list"
    set -- -q -o APT::Sandbox::User=root -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$work/lists" -o Dir::State::status=/dev/null -o Dir::Cache::pkgcache= \
        -o Dir::Cache::srcpkgcache= -o Acquire::Languages=none
    if ! { timeout 100 apt-get "$@" update && (cd "$work/debs" && timeout 100 apt-get "$@" download $packages); } \
        >"$work/apt" 2>&1; then
        why="apt-get: $(tail -n 1 "$work/apt")"
        return 1
    fi
    rm -rf "$old"
    for deb in "$work"/debs/*.deb; do
        dpkg-deb -x "$deb" "$old" || { why="dpkg-deb: $deb"; return 1; }
    done
    # Absolute links would point into this system.
    find "$old" -type l -lname '/*' | while read -r link; do
        ln -sf "$old$(readlink "$link")" "$link"
    done
    : >"$old/complete"
}

# Sets $loader to the old system's loader, and $path to the directories of our libraries and the old system's libraries.
old_libraries()
{
    triplet=$($cc -dumpmachine)
    triplet=$(cd "$old/usr/lib" && ls -d "$triplet" *-linux-gnu 2>/dev/null | head -n 1)
    path=$libdir:$old/lib/$triplet:$old/usr/lib/$triplet
    loader=$(ls "$old/lib/$triplet"/ld-linux*.so.* 2>/dev/null | head -n 1)
    [ -n "$loader" ]
}

# The demo starts itself, so its interpreter must be the old loader. The compiler's libgcc_s needs a newer
# libc. It is not used at run time, so its undefined symbols are allowed.
demo()
{
    $cc --sysroot="$old" -B"$old/usr/lib/$triplet/" -std=c99 -O2 -I"$root/include" -o "$work/demo" \
        "$root"/tests-c/demo/*.c -L"$old/usr/lib/$triplet" -L"$libdir" -ldat -Wl,--allow-shlib-undefined,--dynamic-linker="$loader" &&
        versions "$work/demo" &&
        DAT_OVERRIDE="$root/dat.conf.example" timeout 200 env LD_LIBRARY_PATH="$path" "$work/demo" shm
}

# Runs dtest of Debian 11 as a server and as a client.
dtest()
{
    printf 'shm u2.0 threadsafe default libdaplshm.so.2 dapl.2.0 "%s" ""\n' "$work/meet" >"$work/dat.conf"
    mkdir -m 700 "$work/meet"
    DAT_OVERRIDE=$work/dat.conf timeout 200 sh "$root/tests-c/packages/dtest.sh" "$loader" --library-path "$path" "$old/usr/bin/dtest"
}

# loads LIBRARY: checks that the old loader finds all libraries and symbols.
loads()
{
    case $1 in
    *.so.1) libdat=libdat.so.1 ;;
    *) libdat=libdat2.so.2 ;;
    esac
    LD_TRACE_LOADED_OBJECTS=1 LD_WARN=1 LD_BIND_NOW=1 "$loader" --library-path "$path" \
        --preload "$libdir/$libdat" "$1" >"$work/loads" 2>&1
    status=$?
    [ "$status" -eq 0 ] || tail -n 3 "$work/loads"
    ! grep -E 'not found|undefined symbol|not defined' "$work/loads" && [ "$status" -eq 0 ]
}

if ! fetch; then
    skip 'programs of an older system' "$why"
elif ! old_libraries; then
    skip 'programs of an older system' "it has no loader for $($cc -dumpmachine)"
else
    for library in "$libdir"/lib*.so.[0-9]; do
        [ -L "$library" ] || ok "${library##*/}: the loader of Debian 11 finds all that it needs" loads "$library"
    done
    ok 'the demo, built and run with the libc of Debian 11' demo
    ok 'dtest of Debian 11' dtest
fi

echo "1..$number"
exit $failed
