#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# bench.sh - runs the benchmark beside others, alternating, and prints one table of ratios.
#
#   bench.sh PROGRAMS LIBDIR OUT
#
# PROGRAMS is the directory with bench and marks, LIBDIR that with libdat.so.1 and libdaplshm.so.1, OUT gets
# raw.csv and table.txt. `make bench` builds the programs and calls this.
#
#   QUICK=1         the rows of the issue's targets that are quick; under a minute
#   ROUNDS=5        of each command
#   AGAINST=DIR     runs the same program with the libraries in DIR as well, and compares with them
#   ONLY=PATTERN    only rows that match, an extended regular expression
#   CPUS=A,B        the processors of the two processes
#   NICE=-20        their priority, ours and others, where it may be raised, so that what else runs here does
#                   not decide
#
# What stands beside ours: marks.c, and UCX's ucx_perftest where it is installed (Debian: ucx-utils).
set -u
LC_ALL=C
export LC_ALL
unset DAT_DBG_TYPE DAPL_DBG_TYPE RUST_LOG

here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 3 ] || { sed -n '6,20p' "$0" >&2; exit 2; }
programs=$1 libdir=$2 out=$3
: "${QUICK:=0}" "${ROUNDS:=5}" "${AGAINST:=}" "${ONLY:=.}" "${CPUS:=}" "${NICE:=-20}"
sets='quick full'
[ "$QUICK" = 0 ] || sets=quick
mkdir -p "$out" || exit 2

work=$(mktemp -d) || exit 2
served= session=
finish()
{
    rm -rf "$work"
    [ -z "$served" ] || kill "$served" 2>/dev/null
    [ -z "$session" ] || echo "$session" >/proc/self/autogroup
}
trap finish EXIT
trap 'exit 130' INT TERM

# ---- Where it runs ----

# Two processors that this process may use, of different cores if there are such.
two_processors()
{
    awk '/^Cpus_allowed_list:/ {
        n = split($2, part, ",")
        for (i = 1; i <= n; i++) {
            split(part[i] "-" part[i], end, "-")
            for (c = end[1]; c <= end[2]; c++) print c
        } }' /proc/self/status | while read -r cpu; do
        core=$(cat "/sys/devices/system/cpu/cpu$cpu/topology/physical_package_id" \
            "/sys/devices/system/cpu/cpu$cpu/topology/core_id" 2>/dev/null | tr '\n' .)
        echo "$cpu ${core:-$cpu}"
    done | awk '!first { first = 1; a = $1; core = $2; next }
        b == "" { b = $1 } $2 != core && !other { b = $1; other = 1 }
        END { if (b != "") print a "," b }'
}
[ -n "$CPUS" ] || CPUS=$(two_processors)
[ -n "$CPUS" ] || { echo 'bench.sh: this needs two processors' >&2; exit 77; }

# The kernel shares processors among sessions first, then among the programs of one.
first=
if [ "$(nice -n "$NICE" nice 2>/dev/null)" = "$NICE" ]; then
    first="nice -n $NICE"
    session=$(sed -n 's/.* nice //p' /proc/self/autogroup 2>/dev/null)
    [ -z "$session" ] || echo "$NICE" 2>/dev/null >/proc/self/autogroup || session=
fi

# configure WHO DIR: the libraries in DIR, as cargo or `make` left them there, under the names of the loader;
# and a configuration whose processes meet no others.
configure()
{
    mkdir "$work/$1.lib" && mkdir -m 700 "$work/$1.meet" || exit 2
    for name in libdat libdaplshm; do
        file=$2/$name.so.1
        [ -e "$file" ] || file=$2/$name.so
        [ -e "$file" ] || { echo "bench.sh: no $name.so.1 in $2" >&2; exit 2; }
        ln -s "$(realpath "$file")" "$work/$1.lib/$name.so.1"
    done
    echo "shm u1.2 threadsafe default $work/$1.lib/libdaplshm.so.1 libdat.1.2 \"$work/$1.meet\" \"\"" \
        >"$work/$1.conf"
}
configure ours "$libdir"
[ -z "$AGAINST" ] || configure before "$AGAINST"

# ---- One run; each prints "result value unit" a line ----

# iterations TEST SIZE: the same for ours and others; some tens of milliseconds of each.
iterations()
{
    size=$2
    case $1 in
    *wait* | *sleep* | futex*) n=2000 ;;
    *lat* | line | pong | write | read | write_bw*outstanding\ 1*)
        [ "$size" -le 8192 ] && n=20000 || n=$((160000000 / size + 20)) ;;
    *) [ "$size" -le 1024 ] && n=100000 || n=$((400000000 / size + 20)) ;;
    esac
    [ "$QUICK" = 0 ] || n=$((n / 4 + 10))
    echo "$n"
}

# The value of an option in the arguments, or 8.
size_of()
{
    option=$1 size=8
    shift
    while [ $# -gt 1 ]; do
        [ "$1" != "$option" ] || size=$2
        shift
    done
    echo "$size"
}

# dat WHO ARGS...
dat()
{
    who=$1
    shift
    n=$(iterations "$*" "$(size_of --size "$@")")
    DAT_OVERRIDE=$work/$who.conf LD_LIBRARY_PATH=$work/$who.lib timeout 60 \
        $first "$programs/bench" "$@" --cpus "$CPUS" --iterations "$n"
}

mark()
{
    timeout 60 $first "$programs/marks" "$1" "$2" "$(iterations "$1" "$2")" "$CPUS"
}

# ucx TEST OPTIONS...: server and client of ucx_perftest.
ucx()
{
    test=$1
    shift
    size=$(size_of -s "$@")
    n=$(iterations "$test $*" "$size")
    port=$((20000 + ($$ * 7 + tries) % 20000))
    tries=$((tries + 1))
    UCX_TLS=shm,self
    export UCX_TLS
    $first taskset -c "${CPUS#*,}" ucx_perftest -p "$port" >"$work/ucx.server" 2>&1 &
    served=$!
    # The client does not wait for a server that does not listen yet.
    for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        grep -qi ":$(printf %04X "$port") 00000000:0000 0A" /proc/net/tcp && break
        sleep 0.05
    done
    timeout 60 $first taskset -c "${CPUS%,*}" ucx_perftest 127.0.0.1 -p "$port" -t "$test" "$@" -n "$n" \
        -w $((n / 10 + 1)) -f -v >"$work/ucx.client" 2>&1
    status=$?
    kill "$served" 2>/dev/null
    wait "$served" 2>/dev/null
    served=
    # iterations, median, average and overall microseconds, MiB/s twice, messages/s twice
    awk -F, -v size="$size" '/^ *[0-9]+,/ {
        print "median", $2 * 1000, "ns"
        print "overall", $4 * 1000, "ns"
        print "rate", $8, "1/s"
        print "bandwidth", $8 * size / 1e6, "MB/s"
        seen = 1 }
        END { exit !seen }' "$work/ucx.client" && [ "$status" -eq 0 ]
}

run()
{
    who=$1
    shift
    case $who in
    ours | before) dat "$who" "$@" ;;
    mark) mark "$@" ;;
    ucx) ucx "$@" ;;
    *) return 1 ;;
    esac
}

# ---- All of it ----

grep -E "^#|$ONLY" "$here/rows.txt" >"$work/rows"
if [ -n "$AGAINST" ]; then
    # Each of our commands, and the same with the other libraries.
    awk -F'|' '/^#/ { print; next }
        !(($3) in seen) { seen[$3]; sub(/^ +/, "", $3); print $1 "|" $2 "| " $3 "| before " $3 "| - | -" }' \
        "$work/rows" >"$work/against"
    mv "$work/against" "$work/rows"
fi
command -v ucx_perftest >/dev/null || {
    echo 'No ucx_perftest here, so no row compares with UCX: apt-get install ucx-utils' >&2
    grep -v '| ucx ' "$work/rows" >"$work/without"
    mv "$work/without" "$work/rows"
}

# The commands, each once, those of a row together.
awk -F'|' -v sets=" $sets " '
    function command(side) {
        sub(/ : .*/, "", side)
        gsub(/^ +| +$/, "", side)
        if (side !~ /^(ours|mark|ucx|before) /) side = "ours " side
        if (!seen[side]++) print side
    }
    /^#/ || /^ *$/ { next }
    { set = $1; gsub(/ /, "", set) }
    index(sets, " " set " ") { command($3); command($4) }' "$work/rows" >"$work/commands"
commands=$(wc -l <"$work/commands")
[ "$commands" -gt 0 ] || { echo "bench.sh: no row matches $ONLY" >&2; exit 2; }

progress()
{
    [ ! -t 2 ] || printf '\r\033[K%s' "$1" >&2
}

raw=$out/raw.csv
echo round,command,result,value,unit >"$raw"
tries=0 failures=0 round=0
while [ "$round" -lt "$ROUNDS" ]; do
    round=$((round + 1))
    # Every second round takes the other order.
    if [ $((round % 2)) -eq 1 ]; then cat "$work/commands"; else tac "$work/commands"; fi >"$work/order"
    done=0
    while read -r command <&3; do
        done=$((done + 1))
        progress "round $round of $ROUNDS, $done of $commands: $command"
        # shellcheck disable=SC2086
        if run $command >"$work/output" 2>"$work/errors"; then
            awk -v round="$round" -v command="$command" \
                '{ print round "," command "," $1 "," $2 "," $3 }' "$work/output" >>"$raw"
        else
            failures=$((failures + 1))
            progress ''
            echo "bench.sh: failed: $command: $(tail -n 1 "$work/errors" | cut -c 1-200)" >&2
        fi
    done 3<"$work/order"
done
progress ''
awk -f "$here/table.awk" -v sets="$sets" "$work/rows" "$raw" >"$out/table.txt"
cat "$out/table.txt"
[ "$failures" -eq 0 ]
