#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# check.sh LIBDIR [PROGRAM BINDS] - compares the probes of the libraries in LIBDIR with docs/tracing.md, and runs the
# bpftrace scripts of docs/tracing with PROGRAM (perf/fast_path.c) and BINDS (objects/rmr.c) over shm
#
# Prints TAP. The scripts need root, bpftrace and a kernel that permits tracing.
set -u
LC_ALL=C
export LC_ALL
unset DAT_OVERRIDE DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
libdir=${1:-} program=${2:-} binds=${3:-}
[ -d "$libdir" ] || { sed -n '4,5p' "$0" >&2; exit 2; }
libdir=$(cd "$libdir" && pwd)
# Timeout in seconds for attaching the probes, and for the program.
LIMIT=60

work=$(mktemp -d) || exit 2
pids=
trap '[ -z "$pids" ] || kill $pids 2>/dev/null; rm -rf "$work"' EXIT
. "$root/tests-c/common/tap.sh"

# The documented probes, as lines: name number-of-arguments.
sed -n '/^## Probes/,/^\*object\*/s/^| `\([a-z_]*\)` | \([^|]*\) |.*/\1 \2/p' "$root/docs/tracing.md" |
    awk '{ name = $1; $1 = ""; print name, split($0, parts, ",") }' | sort >"$work/documented"

# notes LIBRARY: prints a line for each probe: provider, name, address, arguments.
notes()
{
    readelf -n "$1" | awk '
        /Provider:/ { provider = $2 }
        /Name:/ { name = $2 }
        /Location:/ { sub(/,.*/, "", $2); where = $2; sub(/^0x0*/, "", where) }
        /Arguments:/ { $1 = ""; print provider, name, where $0 }'
}

# Checks that every note has the provider "dat" and the documented number of 64-bit arguments, and that every documented
# probe exists.
as_documented()
{
    [ -s "$work/notes" ] || { echo 'no probes'; return 1; }
    awk 'NR == FNR { wanted[$1] = $2; next }
         $1 != "dat" { print "a probe of " $1; bad = 1 }
         !($2 in wanted) { print $2 " is not documented"; bad = 1; next }
         NF - 3 != wanted[$2] { print $2 " has " NF - 3 " arguments and not " wanted[$2]; bad = 1 }
         { for (i = 4; i <= NF; i++) if ($i !~ /^-8@/) { print $2 ": " $i " has not 64 bits"; bad = 1 } }
         { seen[$2] = 1 }
         END {
             for (name in wanted) if (!(name in seen)) { print name " is not there"; bad = 1 }
             exit bad
         }' "$work/documented" "$work/notes"
}

# Checks that probes of the fast path are inlined in at most 59 places, and that every other probe has one place.
has_few_places()
{
    awk '{ places[$2]++ }
         END {
             for (name in places) {
                 most = name == "posted" || name == "completed" ? 89 : 1
                 if (places[name] > most) { print name " has " places[name] " places"; bad = 1 }
             }
             exit bad
         }' "$work/notes"
}

# Checks that each probe is a one-byte NOP.
are_nops()
{
    objdump -d --no-show-raw-insn "$1" | awk '/\tnop$/ { sub(/:.*/, "", $1); print $1 }' >"$work/nops"
    awk 'NR == FNR { nop[$1] = 1; next }
         !($3 in nop) { print $2 " at " $3 " is no nop"; bad = 1 }
         END { exit bad }' "$work/nops" "$work/notes"
}

has_none()
{
    ! notes "$1" | grep .
}

ok 'docs/tracing.md has a table of the probes' grep -q '^posted 4$' "$work/documented"
if command -v readelf >/dev/null && command -v objdump >/dev/null; then
    table=$root/packaging/libraries.txt
    for name in $(awk '$1 == "both" { print $4 }' "$table"); do
        if [ ! -e "$libdir/$name" ]; then
            skip "$name: the probes are as documented" 'it is not built'
            continue
        fi
        notes "$libdir/$name" >"$work/notes"
        ok "$name: the probes are as documented" as_documented
        ok "$name: they have as many places as documented" has_few_places
        if [ "$(uname -m)" = x86_64 ]; then
            ok "$name: each probe is a nop" are_nops "$libdir/$name"
        fi
    done
    for name in $(awk '$5 == "libdat" { print $4 }' "$table"); do
        [ ! -e "$libdir/$name" ] || ok "$name: no probes" has_none "$libdir/$name"
    done
else
    skip 'the probes are as documented' 'readelf and objdump are not installed'
fi

# Prints a missing prerequisite of the scripts, if any.
lacking()
{
    [ -n "$program" ] || { echo 'no program was named'; return; }
    command -v bpftrace >/dev/null || { echo 'bpftrace is not installed'; return; }
    [ "$(id -u)" -eq 0 ] || { echo 'not root'; return; }
    timeout "$LIMIT" bpftrace -e 'BEGIN { printf("works\n"); exit(); }' 2>&1 | grep -q works ||
        echo 'the kernel does not let bpftrace look on'
}

# watch SCRIPT LAST COMMAND PATTERN...: runs a script during COMMAND, and checks that it has printed lines for all PATTERNs.
# If the script prints during tracing, LAST is a line to wait for, because ending bpftrace loses pending output.
watch()
{
    : >"$work/out"
    script=$1 last=$2 command=$3
    shift 3
    bpftrace -B line "$root/docs/tracing/$script" "$libdir/libdaplshm.so.1" >"$work/out" 2>&1 &
    tracer=$!
    pids=$tracer
    deadline=$(($(date +%s) + LIMIT))
    until is_attached "$tracer"; do
        kill -0 "$tracer" 2>/dev/null && [ "$(date +%s)" -lt "$deadline" ] || {
            kill "$tracer" 2>/dev/null
            echo 'it has not attached its probes:'
            cat "$work/out"
            return 1
        }
        sleep 0.2
    done
    # shellcheck disable=SC2086 # words are wanted
    timeout "$LIMIT" $command || echo 'the program failed'
    deadline=$(($(date +%s) + LIMIT))
    until [ -z "$last" ] || grep -q -e "$last" "$work/out" || [ "$(date +%s)" -ge "$deadline" ]; do
        sleep 0.2
    done
    # bpftrace ignores the signal between its attachment and its main loop.
    while kill -INT "$tracer" 2>/dev/null; do sleep 5; done &
    asks=$!
    wait "$tracer"
    kill "$asks"
    pids=
    for pattern; do
        grep -Eq "$pattern" "$work/out" || { echo "no line $pattern in:"; cat "$work/out"; return 1; }
    done
}

# is_attached PID: succeeds if bpftrace has attached all probes whose number it has printed.
is_attached()
{
    wanted=$(sed -n 's/^Attaching \([0-9]*\) probes.*/\1/p' "$work/out")
    [ -n "$wanted" ] || return 1
    # BEGIN is already detached, and END not yet attached.
    there=$(ls -l "/proc/$1/fd" 2>/dev/null | grep -c 'anon_inode:\[perf_event\]')
    [ "$there" -ge "$((wanted - 2))" ]
}

why=$(lacking)
if [ -z "$why" ]; then
    # A traced file has breakpoints in all processes that use it, and kills those that run under valgrind.
    mkdir "$work/lib"
    cp "$libdir/libdat.so.1" "$libdir/libdaplshm.so.1" "$work/lib"
    libdir=$work/lib
    LD_LIBRARY_PATH=$libdir
    DAT_OVERRIDE=$work/dat.conf
    export LD_LIBRARY_PATH DAT_OVERRIDE
    echo "shm u1.2 threadsafe default $libdir/libdaplshm.so.1 dat.1.0 \"\" \"\"" >"$DAT_OVERRIDE"
    ok 'transfers.bt: sends complete' watch transfers.bt '' "$program send 2000 shm" '@completed\[0, 0\]: [0-9]+' '@microseconds\[0\]'
    ok 'transfers.bt: binds complete' watch transfers.bt '' "$binds shm" '@completed\[4, 0\]: [0-9]+' '@microseconds\[4\]'
    ok 'connections.bt: endpoints connect' watch connections.bt ' -> connected' "$program send 2000 shm" \
        ' unconnected -> active connection pending' ' -> connected'
else
    skip 'transfers.bt: sends complete' "$why"
    skip 'transfers.bt: binds complete' "$why"
    skip 'connections.bt: endpoints connect' "$why"
fi
echo "1..$number"
exit $failed
