#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# instructions.sh - counts the instructions of the fast path, with callgrind.
#
#   instructions.sh PROGRAM LIBDIR          prints a table
#   instructions.sh PROGRAM LIBDIR --write  also stores the table as instructions.txt
#   instructions.sh PROGRAM LIBDIR --check  compares the table with limits.txt and instructions.txt; prints TAP
#
# --check compares the column "instructions" of uDAPL 1.2 with LIMIT of the row "instructions:ROW" in ../limits.txt, without a
# tolerance. For uDAPL 2.0 the limit of that column is TOLERANCE above instructions.txt. For both versions, it compares
# the other columns with instructions.txt.
#
# PROGRAM is fast_path, LIBDIR the directory with libdat and the providers, $DAT_TEST_API the version of uDAPL, 1.2 or 2.0.
# Both versions are compared with the same table, which contains the numbers of 1.2. For verbs, the library in the directory
# "device" next to PROGRAM replaces an RDMA device (device.c). If verbs cannot be built, its rows are omitted. The rows of tcp
# are rounds over the loopback interface.
#
# A row is named after a kind of round of fast_path.c, or after a call in the rounds of one kind. The rows of verbs and tcp
# begin with "verbs:" and "tcp:". Each kind runs RUNS times, in windows of WINDOW rounds that are counted separately. The
# numbers of a row come from one window. Windows qualify if each round makes the same number of system calls: over TCP the
# highest number, because on a busy machine the provider's thread polls instead of the program; otherwise the lowest, because
# on a busy machine calls wake a thread. Of these, the window with the fewest instructions is taken. This excludes start and
# end, and windows in which locks have no owner yet. Calls are counted from their entry to their return.
#
#   instructions   of the thread that makes the calls, including the C library and the loop
#   locked         instructions with a lock prefix, and xchg with memory
#   system calls   of the thread; clock_gettime, which is a system call only under valgrind, is not counted
#
# Threads of the provider are not counted, nor is the library that replaces a device.
set -u
LC_ALL=C
export LC_ALL
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG

KINDS='send srq write wait empty churned crowded second'
# Kinds of rounds over TCP.
TCP_KINDS='send srq write empty'
# Calls: the row, the kind of round, the function, its calls in a round.
CALLS='post_recv:send:dat_ep_post_recv:1 post_send:send:dat_ep_post_send:1 dequeue:send:dat_evd_dequeue:2
    srq_post:srq:dat_srq_post_recv:1 post_write:write:dat_ep_post_rdma_write:1'
ROUNDS=4000
# Rounds in a window; fast_path.c has the same number.
WINDOW=100
# Runs of a kind; over TCP the provider's thread may disturb most windows of a run.
RUNS=1
TCP_RUNS=4
# Tolerance in percent of the instructions of uDAPL 2.0, whose entry points differ, rounded up to a whole instruction.
TOLERANCE=3
# Permitted increase of the locked instructions of a round: a lock that gets or loses its owner executes more of them.
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
: >"$work/objects" >"$work/locked"
device=$(cd "$(dirname "$program")" && pwd)/device
for name in '' -other; do
    echo "shm$name u$api threadsafe default $libdir/libdaplshm.$so dat.1.0 \"\" \"\""
    echo "verbs$name u$api threadsafe default $libdir/libdaplverbs.$so dat.1.0 \"127.0.0.1\" \"\""
    echo "tcp$name u$api threadsafe default $libdir/libdapltcp.$so dat.1.0 \"tcp lo\" \"\""
done >"$work/dat.conf"
DAT_OVERRIDE=$work/dat.conf
LD_LIBRARY_PATH=$device:$libdir
export DAT_OVERRIDE LD_LIBRARY_PATH

adapters='shm tcp'
if [ -e "$device/libibverbs.so.1" ] && [ -e "$libdir/libdaplverbs.$so" ]; then
    adapters='shm verbs tcp'
else
    echo 'instructions.sh: verbs is not counted: it is not built, or <infiniband/verbs.h> was missing' >&2
    # Without the rows of verbs, --check could not detect that their numbers rise.
    [ "$action" != --write ] || exit 1
fi

# run ADAPTER KIND [OPTION]: runs PROGRAM under callgrind, which writes the profile of each thread to
# $work/KIND.WINDOW-NN. The first window ends before the rounds. The profile of the time after the rounds has no window
# number.
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

# locked FILE: prints the locked instructions of FILE, one per line: "FILE address".
locked()
{
    objdump -d --no-show-raw-insn "$1" | awk -v file="$1" '
        /\tlock / || /\txchg .*\(/ { sub(/:.*/, "", $1); print file, "0x" $1 }'
}

# profile FILE...: prints a line of sums for each profile. In a profile, lines that begin with an address belong to the
# object and function named last. The line after "calls=" contains the cost of the called function, which its own lines
# contain, too.
profile()
{
    awk -v device="$device/libibverbs.so.1" '
         function sums() { print instructions + 0, with_lock + 0, calls + 0 }
         FNR == 1 && ++file > 2 { sums(); instructions = with_lock = calls = 0 }
         file == 1 { locked[$1, $2] = 1; next }
         /^ob=/ { object = substr($0, 4) }
         /^fn=/ { clock = /clock_gettime/ }
         /^calls=/ { getline; next }
         object == device { next }
         /^0x/ {
             instructions += $3
             if ((object, $1) in locked) with_lock += $3
             if (!clock) calls += $4
         }
         END { sums() }' "$work/locked" "$@"
}

# objects KIND: adds the locked instructions of a run's object files, except files of earlier runs, to $work/locked.
objects()
{
    sed -n 's/^ob=\(\/.*\)/\1/p' "$work/$1".*-01 | sort -u | while read -r object; do
        grep -qxF "$object" "$work/objects" || { echo "$object" >>"$work/objects" && locked "$object" >>"$work/locked"; }
    done
}

# row NAME ADAPTER KIND TIMES [OPTION]: prints the row of the best window of all runs, per call if a round has TIMES
# calls.
row()
{
    runs=$RUNS
    [ "$2" != tcp ] || runs=$TCP_RUNS
    : >"$work/windows"
    while [ "$runs" -gt 0 ]; do
        run "$2" "$3" ${5:+"$5"}
        objects "$3"
        rm "$work/$3.1-01"
        profile "$work/$3".*-01 >>"$work/windows"
        runs=$((runs - 1))
    done
    order=-k3,3n
    [ "$2" != tcp ] || order=-k3,3nr
    sort "$order" -k1,1n "$work/windows" | awk -v name="$1" -v window="$WINDOW" -v times="$4" '
        $3 % window == 0 { found = 1; exit }
        END {
            if (!found) exit 1
            all = window * times
            printf "%-16s %12d %8d %13d\n", name, $1 / all + 0.5, $2 / all + 0.5, $3 / all + 0.5
        }' && return
    echo "instructions.sh: $1: the provider polls in each window" >&2
    exit 1
}

# rows ADAPTER PREFIX KINDS CALLS: prints the rows of these kinds of rounds and of these calls.
rows()
{
    for kind in $3; do
        row "$2$kind" "$1" "$kind" 1
    done
    for call in $4; do
        IFS=: read -r name kind function times <<END
$call
END
        row "$2$name" "$1" "$kind" "$times" "--toggle-collect=$function"
    done
}

measure()
{
    printf '# %-14s %12s %8s %13s\n' row instructions locked 'system calls'
    for adapter in $adapters; do
        case $adapter in
        shm) rows shm '' "$KINDS" "$CALLS" ;;
        tcp) rows tcp tcp: "$TCP_KINDS" '' ;;
        *) rows "$adapter" "$adapter:" "$KINDS" "$CALLS" ;;
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
            slack = int((was[2] * tolerance + 99) / 100)
            if (api == "1.2") test_limit($2, "instructions:" $1)
            else test($2, was[2], slack, "instructions")
            test($3, was[3], index(kinds, " " kind " ") ? locked : 0, "locked instructions")
            test($4, was[4], 0, "system calls")
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
