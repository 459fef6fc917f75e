#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# instructions.sh - counts the instructions of the fast path, with callgrind.
#
#   instructions.sh PROGRAM LIBDIR          prints a table
#   instructions.sh PROGRAM LIBDIR --write  and keeps it as instructions.txt
#   instructions.sh PROGRAM LIBDIR --check  compares it with limits.txt and instructions.txt; prints TAP
#
# --check compares the column "instructions" of uDAPL 1.2 with LIMIT of the row "instructions:ROW" in ../limits.txt, without a
# tolerance. For uDAPL 2.0 the limit of that column is TOLERANCE above instructions.txt. Both compare the other columns with
# instructions.txt.
#
# PROGRAM is fast_path, LIBDIR the directory with libdat and the providers; $DAT_TEST_API says for which version of
# uDAPL, 1.2 or 2.0. Both are compared with one table, which is that of 1.2. For verbs a library that make puts into the directory "device" beside PROGRAM takes the place of an RDMA device (device.c). Where
# verbs cannot be built, its rows are left out.
#
# A row is named after a kind of round of fast_path.c, or after a call in the rounds of one kind; those of verbs begin
# with "verbs:". Each kind runs ROUNDS times, in windows of WINDOW rounds that are counted apart; a number is the lower
# quartile of the windows. So neither start and end count, nor the rounds before the provider's thread, which gets a
# processor late under callgrind, has seen that the program polls, nor windows into which that thread falls on a busy
# machine. Calls are counted from their entry to their return.
#
#   instructions   of the thread that makes the calls, with those of the C library and the loop
#   locked         those of them with a lock prefix, and xchg with memory
#   system calls   of that thread, but for clock_gettime, which is one under valgrind alone
#   elsewhere      instructions of the threads of the provider
#
# What the stand-in for a device does itself is not counted.
set -u
LC_ALL=C
export LC_ALL
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG

KINDS='send srq write wait empty'
# Calls: the row, the kind of round, the function, its calls in a round.
CALLS='post_recv:send:dat_ep_post_recv:1 post_send:send:dat_ep_post_send:1 dequeue:send:dat_evd_dequeue:2
    srq_post:srq:dat_srq_post_recv:1 post_write:write:dat_ep_post_rdma_write:1'
ROUNDS=20000
# Rounds in a window; fast_path.c has the same number.
WINDOW=1000
# Tolerance in percent of the instructions of uDAPL 2.0, and of the instructions elsewhere: the entry points of 2.0 differ,
# and the threads of a provider wake up periodically.
TOLERANCE=3
# So many more locked instructions of a round: a mutex that finds its owner, or loses it, takes some.
LOCKED=1
# The longest time of one run in seconds.
LIMIT=120

here=$(cd "$(dirname "$0")" && pwd)
table=$here/instructions.txt
limits=$here/../limits.txt
program=${1:-} libdir=${2:-} action=${3:-}
if [ ! -x "$program" ] || [ ! -d "$libdir" ]; then
    sed -n '5,7p' "$0" >&2
    exit 2
fi
libdir=$(cd "$libdir" && pwd)
api=${DAT_TEST_API:-1.2}
so=so.${api%%.*}
if [ "$api" != 1.2 ] && [ "$action" = --write ]; then
    echo 'instructions.sh: the table is that of 1.2' >&2
    exit 2
fi

skip()
{
    echo "instructions.sh: $1" >&2
    [ "$action" != --check ] || printf 'ok 1 - instructions of the fast path # SKIP %s\n1..1\n' "$1"
    exit 0
}
command -v valgrind >/dev/null || skip 'valgrind is not installed'
command -v objdump >/dev/null || skip 'objdump is not installed'
[ "$(uname -m)" = x86_64 ] || skip 'the numbers are those of x86-64'

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
device=$(cd "$(dirname "$program")" && pwd)/device
{
    echo "shm u$api threadsafe default $libdir/libdaplshm.$so dat.1.0 \"\" \"\""
    echo "verbs u$api threadsafe default $libdir/libdaplverbs.$so dat.1.0 \"127.0.0.1\" \"\""
} >"$work/dat.conf"
DAT_OVERRIDE=$work/dat.conf
LD_LIBRARY_PATH=$device:$libdir
export DAT_OVERRIDE LD_LIBRARY_PATH

adapters=shm
if [ -e "$device/libibverbs.so.1" ] && [ -e "$libdir/libdaplverbs.$so" ]; then
    adapters='shm verbs'
else
    echo 'instructions.sh: verbs is not counted: it is not built, or <infiniband/verbs.h> was missing' >&2
    # A table without its rows would not notice when they rise.
    [ "$action" != --write ] || exit 1
fi

# run ADAPTER KIND [OPTION]: leaves the profiles of the threads in $work/KIND.WINDOW-NN. The first window is what comes before
# the rounds, and what comes behind them has no number.
run()
{
    rm -f "$work/$2."*
    timeout -k 10 "$LIMIT" valgrind --tool=callgrind --fair-sched=yes --separate-threads=yes --dump-instr=yes \
        --collect-systime=usec --compress-pos=no --compress-strings=no --dump-before=window ${3:+"$3"} \
        --callgrind-out-file="$work/$2" \
        "$program" "$2" "$ROUNDS" "$1" >"$work/output" 2>&1 && return
    cat "$work/output" >&2
    echo "instructions.sh: $program $2 $ROUNDS $1 failed under callgrind" >&2
    exit 1
}

# locked FILE: its locked instructions, one a line: "FILE address".
locked()
{
    objdump -d --no-show-raw-insn "$1" | awk -v file="$1" '
        /\tlock / || /\txchg .*\(/ { sub(/:.*/, "", $1); print file, "0x" $1 }'
}

# profile FILE...: the sums over the profiles of all threads, the first one that of the calls. In a
# profile, lines that begin with an address belong to the object and function named last; the line
# after "calls=" tells what the called function cost, which is counted there.
profile()
{
    awk -v device="$device/libibverbs.so.1" '
         FNR == 1 { file++ }
         file == 1 { locked[$1, $2] = 1; next }
         /^ob=/ { object = substr($0, 4) }
         /^fn=/ { clock = /clock_gettime/ }
         /^calls=/ { getline; next }
         object == device { next }
         /^0x/ && file > 2 { elsewhere += $3; next }
         /^0x/ {
             instructions += $3
             if ((object, $1) in locked) with_lock += $3
             if (!clock) calls += $4
         }
         END { print instructions + 0, with_lock + 0, calls + 0, elsewhere + 0 }' "$work/locked" "$@"
}

# objects KIND: notes the locked instructions of all objects of a run.
objects()
{
    sed -n 's/^ob=\(\/.*\)/\1/p' "$work/$1".*-01 | sort -u | while read -r object; do locked "$object"; done >"$work/locked"
}

# row NAME KIND TIMES: the lower quartiles of the windows of a run, for each of so many calls in a round.
row()
{
    objects "$2"
    nth=2
    while [ "$nth" -le $((ROUNDS / WINDOW + 1)) ]; do
        profile "$work/$2.$nth"-*
        nth=$((nth + 1))
    done >"$work/windows"
    for field in 1 2 3 4; do
        cut -d ' ' -f "$field" "$work/windows" | sort -n |
            awk -v calls=$((WINDOW * $3)) '{ value[NR] = $1 } END { print int(value[int((NR + 3) / 4)] / calls + 0.5) }'
    done | xargs printf '%-16s %12d %8d %13d %10d\n' "$1"
}

# rows ADAPTER PREFIX: what the rounds and the calls of an adapter cost.
rows()
{
    for kind in $KINDS; do
        run "$1" "$kind"
        row "$2$kind" "$kind" 1
    done
    for call in $CALLS; do
        IFS=: read -r name kind function times <<END
$call
END
        run "$1" "$kind" "--toggle-collect=$function"
        row "$2$name" "$kind" "$times"
    done
}

measure()
{
    printf '# %-14s %12s %8s %13s %10s\n' row instructions locked 'system calls' elsewhere
    for adapter in $adapters; do
        case $adapter in
        shm) rows shm '' ;;
        *) rows "$adapter" "$adapter:" ;;
        esac
    done
}

# The table goes through a file, since a pipe would hide the exit status.
measure >"$work/table" || exit 1

case $action in
--write)
    cp "$work/table" "$table"
    cat "$table"
    ;;
--check)
    awk -v tolerance="$TOLERANCE" -v locked="$LOCKED" -v kinds=" $KINDS " -v api="$api" '
        function test(value, limit, slack, what)
        {
            number++
            if (value > limit + slack) failed = 1
            print (value > limit + slack ? "not " : "") "ok " number " - " $1 ": " value " " what \
                ", " limit " in the table"
        }
        function test_limit(value, row)
        {
            number++
            if (!(row in limits)) {
                print "not ok " number " - " $1 ": no row " row " in tests-c/limits.txt"
                failed = 1
                return
            }
            if (value > limits[row]) failed = 1
            print (value > limits[row] ? "not " : "") "ok " number " - " $1 ": " value " instructions, at most " limits[row]
        }
        FNR == 1 { file++ }
        /^#/ || NF == 0 { next }
        file == 1 { limits[$1] = $2; next }
        file == 2 { table[$1] = $0; next }
        !($1 in table) { print "not ok " ++number " - " $1 ": no line in the table"; failed = 1; next }
        {
            split(table[$1], was)
            seen[$1] = 1
            kind = $1
            sub(/.*:/, "", kind)
            slack = was[2] * tolerance / 100
            if (api == "1.2") test_limit($2, "instructions:" $1)
            else test($2, was[2], slack, "instructions")
            test($3, was[3], index(kinds, " " kind " ") ? locked : 0, "locked instructions")
            test($4, was[4], 0, "system calls")
            # The threads of the provider look around by the clock, more often on a slow machine.
            test($5, was[5], slack < 40 ? 40 : slack, "instructions elsewhere")
        }
        END {
            for (row in table)
                if (!(row in seen)) print "ok " ++number " - " row " # SKIP it was not counted"
            print "1.." number + 0
            exit failed
        }' "$limits" "$table" "$work/table"
    ;;
'') cat "$work/table" ;;
*) echo "instructions.sh: no such option: $action" >&2; exit 2 ;;
esac
