#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# trips.sh - counts the functions and files of src/ that a call goes through.
#
#   trips.sh PROGRAM LIBDIR
#
# PROGRAM is trips, LIBDIR the directory with libdat.so.1 and libdaplshm.so.1 of the debug build, in
# which functions are not merged. Closures, functions of the standard library, and functions that
# bitflags writes are not counted.
set -u
LC_ALL=C
export LC_ALL
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG

program=${1:-} libdir=${2:-}
if [ ! -x "$program" ] || [ ! -d "$libdir" ]; then
    sed -n '6p' "$0" >&2
    exit 2
fi
libdir=$(cd "$libdir" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
echo "shm u1.2 threadsafe default $libdir/libdaplshm.so.1 dat.1.0 \"\" \"\"" >"$work/dat.conf"
DAT_OVERRIDE=$work/dat.conf
LD_LIBRARY_PATH=$libdir
export DAT_OVERRIDE LD_LIBRARY_PATH

# trip NAME FUNCTION...: what is called while one of the functions runs
trip()
{
    name=$1
    shift
    rm -f "$work"/out*
    toggles=
    for function; do
        toggles="$toggles --toggle-collect=$function"
    done
    # shellcheck disable=SC2086 # words are wanted
    timeout 120 valgrind --tool=callgrind --separate-threads=yes --compress-strings=no --compress-pos=no $toggles \
        --callgrind-out-file="$work/out" "$program" >"$work/log" 2>&1 || {
        tail -n 5 "$work/log"
        exit 1
    }
    # fl= is the file of the function that fn= names; fi= and fe= are those of code that was inlined.
    awk -v name="$name" '
        /^fl=/ { file = substr($0, 4); next }
        /^fn=/ {
            which = substr($0, 4)
            # What bitflags generates.
            if (index(which, "::_::")) next
            if (!match(file, /src\/[a-z0-9]+\/src\/.*$/)) next
            if (index(which, "{{closure") || index(which, "drop_in_place")) next
            files[substr(file, RSTART)]
            functions[which]
        }
        END {
            for (i in files) f++
            for (i in functions) n++
            printf "%-28s %4d functions %4d files\n", name, n, f
            if (ENVIRON["V"] == "" || ENVIRON["V"] == "0") exit
            for (i in functions) print "    " i
            for (i in files) print "    " i
        }' "$work/out-01"
}

trip 'post_send and both dequeues' dat_ep_post_send dat_evd_dequeue
trip 'dat_srq_set_lw' dat_srq_set_lw
trip 'dat_ep_modify' dat_ep_modify
