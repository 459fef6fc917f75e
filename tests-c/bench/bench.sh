#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# bench.sh - runs the benchmark and other programs in turn, and prints a table of ratios.
#
#   bench.sh PROGRAMS LIBDIR OUT
#
# PROGRAMS contains dat-perf, bench and marks; LIBDIR contains libdat.so.1 and the providers. Writes OUT/NAME.csv and
# OUT/NAME.txt, where NAME is shm, verbs, iwarp, tcp, or with PIN=0 tcp-unpinned.
#
#   QUICK=1         fewer rows and iterations
#   ROUNDS=5        number of rounds, each with all commands; over TCP 7
#   BUDGET=240      maximum seconds: no round starts that would end later; over TCP 900
#   AGAINST=DIR     compares with the libraries in DIR, not with other programs
#   ROWS=PATTERN    only rows that match an extended regular expression
#   NETDEV=NAME     on the RDMA device of this network interface; see verbs.sh
#   TCP=NAME        over TCP on this network interface, such as lo
#   V20=DIR         libraries of uDAPL 2.0 for rows of datagrams; PROGRAMS contains bench20
#   DAPL2=DIR       with NETDEV: also uDAPL 2.0, fetched by dapl2.sh; PROGRAMS contains bench2
#   CPUS=A,B        CPUs of the two processes
#   PIN=0           does not pin processes; only with TCP
#   NICE=-20        priority of all programs, if permitted, so that other load does not matter; on an RDMA device 0,
#                   because the kernel's threads do the work of Soft-RoCE
#   PROGRESS=WHAT   line: one changing line, the default on a terminal; rounds: a line per round; none
#
# The other programs are marks, which measures the machine's minimum, and if installed: UCX's ucx_perftest on shm;
# ib_send_lat etc. of perftest on an RDMA device; libfabric's fi_pingpong and UCX's ucx_perftest over TCP.
set -u
LC_ALL=C
export LC_ALL
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG

here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 3 ] || { sed -n '6,27p' "$0" >&2; exit 2; }
programs=$1 libdir=$2 out=$3
: "${QUICK:=0}" "${AGAINST:=}" "${ROWS:=.}" "${CPUS:=}" "${PIN:=1}"
: "${NETDEV:=}" "${TCP:=}" "${DAPL2:=}" "${V20:=}" "${PROGRESS:=}"
# With AGAINST, only commands of 1.2 run.
[ -z "$AGAINST" ] || V20=
[ -n "$PROGRESS" ] || [ ! -t 2 ] || PROGRESS=line
name=shm sets='quick full'
[ "$QUICK" = 0 ] || sets=quick
[ -z "$NETDEV" ] || name=verbs sets=verbs NICE=${NICE:-0}
if [ -n "$TCP" ]; then
    name=tcp sets=tcp ROUNDS=${ROUNDS:-7} BUDGET=${BUDGET:-900}
    [ "$PIN" = 1 ] || CPUS=-1,-1
fi
: "${NICE:=-20}" "${ROUNDS:=5}" "${BUDGET:=240}"
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

# ---- CPUs, device, libraries ----

# Prints two CPUs that this process may use, of different cores if possible.
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

# The kernel distributes CPU time first among sessions, then among the processes of a session.
first=
if [ "$(nice -n "$NICE" nice 2>/dev/null)" = "$NICE" ]; then
    first="nice -n $NICE"
    session=$(sed -n 's/.* nice //p' /proc/self/autogroup 2>/dev/null)
    [ -z "$session" ] || echo "$NICE" 2>/dev/null >/proc/self/autogroup || session=
fi

# The commands that pin the two processes.
pin_first="taskset -c ${CPUS%,*}" pin_second="taskset -c ${CPUS#*,}"
[ "$CPUS" != -1,-1 ] || pin_first='' pin_second=''

# The provider's library and instance data: a private rendezvous directory, or NETDEV.
provider=libdapl$name instance=$work/meet device=
if [ -n "$NETDEV" ]; then
    instance="$NETDEV 0"
    device=$(rdma link show 2>/dev/null | sed -n "s|^link \\([^/]*\\)/.* netdev $NETDEV *\$|\\1|p" | head -n 1)
    [ -n "$device" ] || { echo "bench.sh: there is no RDMA device on $NETDEV" >&2; exit 77; }
    # iWARP devices have their own rows, without perftest.
    case $(cat "/sys/class/infiniband/$device/node_type") in 4:*) name=iwarp sets=iwarp ;; esac
fi

[ -z "$TCP" ] || provider=libdapltcp instance="tcp $TCP"

# configure WHO DIR API: provides the libraries in DIR, named as cargo or `make` names them, to the loader.
configure()
{
    mkdir "$work/$1.lib" && mkdir -m 700 -p "$work/meet" || exit 2
    case $3 in
    1.2) library=libdat.so.1:libdat.so ;;
    *) library=libdat2.so.2:libdat2.so ;;
    esac
    for pair in $library "$provider.so.${3%.*}:$provider.so"; do
        file=$2/${pair%:*}
        [ -e "$file" ] || file=$2/${pair#*:}
        [ -e "$file" ] || { echo "bench.sh: no ${pair%:*} in $2" >&2; exit 2; }
        ln -s "$(realpath "$file")" "$work/$1.lib/${pair%:*}"
    done
    for adapter in bench bench-other; do
        echo "$adapter u$3 threadsafe default $work/$1.lib/$provider.so.${3%.*} libdat.$3 \"$instance\" \"\""
    done >"$work/$1.conf"
}
configure ours "$libdir" 1.2
[ -z "$V20" ] || configure v20 "$V20" 2.0
[ -z "$AGAINST" ] || configure before "$AGAINST" 1.2
if [ -n "$DAPL2" ]; then
    library=$(find "$DAPL2/usr/lib" -name libdaplofa.so.2 | head -n 1)
    ln -s "$(dirname "$library")" "$work/dapl2.lib"
    echo "bench u2.0 nonthreadsafe default $library dapl.2.0 \"$instance\" \"\"" >"$work/dapl2.conf"
fi

# ---- Runs; each prints lines "result value unit" ----

# iterations TEST SIZE: prints the number of iterations, the same for all programs. They take some tens of milliseconds.
iterations()
{
    size=$2
    case $1 in connections*) echo 1000; return ;; esac
    if [ -n "$NETDEV" ]; then
        # The device may be emulated. Starting the programs takes longer than these iterations.
        case $1 in
        *wait*) echo 500 ;;
        *lat*) echo 5000 ;;
        *) [ "$size" -le 1024 ] && echo 12000 || echo 400 ;;
        esac
        return
    fi
    if [ -n "$TCP" ]; then
        # The kernel enlarges the buffers of a connection during the first hundreds of long messages.
        case $1 in
        *wait* | *epoll* | *watched*) echo 2000 ;;
        *_bw*) [ "$size" -le 8192 ] && echo 100000 || echo 1000 ;;
        *) [ "$size" -le 8192 ] && echo 20000 || echo 1000 ;;
        esac
        return
    fi
    case $1 in
    all_to_all*) n=200 ;;
    *wait* | *sleep* | futex*) n=2000 ;;
    # The maximum of more iterations depends on the machine: with 200, libraries that copy immediately have 12 to 41 us.
    delay*) n=20 ;;
    *lat* | cache_line | writev* | readv | write_bw*outstanding\ 1*)
        [ "$size" -le 8192 ] && n=20000 || n=$((160000000 / size + 20)) ;;
    *) [ "$size" -le 1024 ] && n=100000 || n=$((400000000 / size + 20)) ;;
    esac
    [ "$QUICK" = 0 ] || n=$((n / 4 + 10))
    echo "$n"
}

# size_of OPTION ARGUMENT...: prints the value of the option among the arguments, or 8.
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

# dat WHO ARGS...: runs dat-perf for transfers of 1.2 and for RDMA, otherwise bench, with the libraries of WHO.
dat()
{
    who=$1
    shift
    n=$(iterations "$*" "$(size_of --size "$@")")
    case "$who $*" in
    dapl2\ write_bw* | dapl2\ read_bw*) perf "$@" --api 2.0 ;;
    dapl2*) in_c "$programs/bench2" "$@" ;;
    v20*) in_c "$programs/bench20" "$@" ;;
    *\ calls* | *\ delay* | *\ watch* | *\ round* | *\ connections* | *\ all_to_all* | *--in-turn) in_c "$programs/bench" "$@" ;;
    *) perf "$@" ;;
    esac
}

# with_libraries COMMAND...: runs the command with the libraries of $who.
with_libraries()
{
    DAT_OVERRIDE=$work/$who.conf LD_LIBRARY_PATH=$work/$who.lib timeout 60 $first "$@"
}

# in_c PROGRAM ARGS...: runs a program of this directory.
in_c()
{
    with_libraries "$@" --adapter bench --cpus "$CPUS" --iterations "$n"
}

# perf TEST OPTIONS...: runs dat-perf, as one command if the processes are pinned, otherwise as server and client.
perf()
{
    if [ "$CPUS" = -1,-1 ]; then
        client="--csv --test $* --iterations $n"
        DAT_OVERRIDE=$work/$who.conf LD_LIBRARY_PATH=$work/$who.lib both "$programs/dat-perf" || {
            tail -n 1 "$work/client" >&2
            return 1
        }
        cp "$work/client" "$work/perf"
    else
        with_libraries "$programs/dat-perf" bench --self --csv --test "$@" --cpu "${CPUS%,*}" --peer-cpu "${CPUS#*,}" \
            --iterations "$n" >"$work/perf" || return
    fi
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            print "median", $at["median_ns"], "ns"
            print "half", $at["median_ns"] / 2, "ns"
            # Total time per transfer; a round trip has two.
            print "overall", 1e9 / $at["rate_per_s"] / ($at["test"] ~ /^(send|write)_lat$/ ? 2 : 1), "ns"
            print "rate", $at["rate_per_s"], "1/s"
            print "bandwidth", $at["bandwidth_mb_per_s"], "MB/s"
        }
        END { exit NR != 2 }' "$work/perf"
}

mark()
{
    timeout 60 $first "$programs/marks" "$1" "$2" "$(iterations "$1" "$2")" "$CPUS"
}

# both PROGRAM OPTIONS...: runs the server, then the client with these options, which prints to $work/client.
both()
{
    program=$1
    shift
    # Below the ports that the kernel selects for connections.
    port=$((20000 + ($$ * 7 + tries) % 12000))
    tries=$((tries + 1))
    listen=
    case $program in
    */dat-perf) set -- bench --qualifier "$port"; listen=--once ;;
    ucx_perftest) set -- -p "$port" ;;
    fi_pingpong) listen="-B $port" client="-P $port" ;;
    *) set -- "$@" -p "$port" ;;
    esac
    # shellcheck disable=SC2086
    $first $pin_second "$program" "$@" $listen >"$work/server" 2>&1 &
    served=$!
    # The clients do not retry if the server does not listen.
    tried=0
    until grep -qi ":$(printf %04X "$port") 0*:0000 0A" /proc/net/tcp /proc/net/tcp6; do
        tried=$((tried + 1))
        [ "$tried" -lt 200 ] || break
        sleep 0.05
    done
    timeout 60 $first $pin_first "$program" "$@" $client 127.0.0.1 >"$work/client" 2>&1
    status=$?
    kill "$served" 2>/dev/null
    wait "$served" 2>/dev/null
    served=
    return "$status"
}

# ucx TEST OPTIONS...: runs ucx_perftest, or ucx_connections.
ucx()
{
    test=$1
    shift
    tls=shm,self
    [ -z "$TCP" ] || tls=tcp
    export UCX_TLS=$tls UCX_NET_DEVICES="${TCP:-all}"
    if [ "$test" = connections ]; then
        timeout 60 $first "$programs/ucx_connections" "$(iterations connections 8)"
        return
    fi
    size=$(size_of -s "$@")
    n=$(iterations "$test $*" "$size")
    client="-t $test $* -n $n -w $((n / 10 + 1)) -f -v"
    both ucx_perftest
    # Columns: iterations, median, average and overall microseconds, MiB/s twice, messages/s twice.
    awk -F, -v size="$size" '/^ *[0-9]+,/ {
        print "median", $2 * 1000, "ns"
        print "overall", $4 * 1000, "ns"
        print "rate", $8, "1/s"
        print "bandwidth", $8 * size / 1e6, "MB/s"
        seen = 1 }
        END { exit !seen }' "$work/client" || { tail -n 1 "$work/client" >&2; return 1; }
}

# raw PROGRAM OPTIONS...: runs a program of perftest.
raw()
{
    program=$1
    shift
    size=$(size_of -s "$@")
    client=
    both "$program" "$@" -d "$device" -F -n "$(iterations "$program" "$size")"
    # Columns of latency: bytes, iterations, lowest, highest, typical and average microseconds ...
    # Columns of bandwidth: bytes, iterations, MiB/s twice, million messages/s.
    awk -v size="$size" -v program="$program" '
        $1 == size && $2 ~ /^[0-9]+$/ && $5 ~ /^[0-9.]+$/ && $5 > 0 {
        if (program ~ /_lat$/) {
            print "median", $5 * 1000, "ns"
            print "overall", $6 * 1000, "ns"
        } else {
            print "rate", $5 * 1e6, "1/s"
            print "bandwidth", $5 * size, "MB/s"
        }
        seen = 1 }
        END { exit !seen }' "$work/client" || { tail -n 1 "$work/client" >&2; return 1; }
}

# fabric BYTES: runs round trips with libfabric's fi_pingpong.
fabric()
{
    both fi_pingpong -p tcp -e msg -S "$1" -I "$(iterations lat "$1")"
    # Columns: bytes, messages, replies, total bytes, time, MB/s, microseconds one way, million messages/s.
    awk '/^[0-9]+[kmg]? / { print "overall", $7 * 1000, "ns"; print "bandwidth", $6, "MB/s"; seen = 1 }
        END { exit !seen }' "$work/client" || { tail -n 1 "$work/client" >&2; return 1; }
}

run()
{
    who=$1
    shift
    case $who in
    ours | v20 | before | dapl2) dat "$who" "$@" ;;
    raw) raw "$@" ;;
    mark) mark "$@" ;;
    ucx) ucx "$@" ;;
    fabric) fabric "$@" ;;
    *) return 1 ;;
    esac
}

# ---- Rows, rounds, table ----

awk -F'|' '
    function bytes(n) { return n >= 1048576 ? n / 1048576 " MiB" : n >= 1024 ? n / 1024 " KiB" : n " B" }
    NF < 7 { print; next }
    {
        sizes = split($7, size, " ")
        for (i = 1; i <= sizes; i++) {
            what = $2; ours = $3; other = $4
            sub(/SIZE/, bytes(size[i]), what); sub(/SIZE/, size[i], ours); sub(/SIZE/, size[i], other)
            print $1 "|" what "|" ours "|" other "|" $5 "|" $6
        }
    }' "$here/rows.txt" | grep -E "^#|$ROWS" >"$work/rows"
if [ -n "$AGAINST" ]; then
    # Each command of bench, with both sets of libraries.
    awk -F'|' '/^#/ { print; next }
        !(($1, $3) in seen) {
            seen[$1, $3]
            ours = what = $3
            if (!sub(/^ *calls : /, " ", what)) sub(/ : .*/, "", what)
            print $1 "|" what "|" ours "| before" ours "| - | -"
        }' \
        "$work/rows" >"$work/against"
    mv "$work/against" "$work/rows"
fi
# without PROGRAM WHO PACKAGE: removes the rows of WHO, or of one of its tests, if PROGRAM is missing.
without()
{
    command -v "$1" >/dev/null && return
    echo "There is no $1 here, so that no row compares with it. Debian has it: apt-get install $3" >&2
    grep -v "| $2 " "$work/rows" >"$work/left"
    mv "$work/left" "$work/rows"
}
[ -n "$NETDEV" ] || without ucx_perftest ucx ucx-utils
[ -n "$NETDEV" ] || without "$programs/ucx_connections" 'ucx connections' libucx-dev
[ -z "$TCP" ] || without fi_pingpong fabric libfabric-bin
[ "$name" != verbs ] || without ib_send_lat raw perftest
[ -n "$DAPL2" ] || { grep -v '| dapl2 ' "$work/rows" >"$work/left"; mv "$work/left" "$work/rows"; }
[ -n "$V20" ] || { grep -v '| v20 ' "$work/rows" >"$work/left"; mv "$work/left" "$work/rows"; }

# The commands without duplicates, in the order of the rows.
awk -F'|' -v sets=" $sets " '
    function command(side) {
        sub(/ : .*/, "", side)
        gsub(/^ +| +$/, "", side)
        if (side !~ /^(ours|v20|mark|ucx|raw|fabric|dapl2|before) /) side = "ours " side
        if (!seen[side]++) print side
    }
    /^#/ || /^ *$/ { next }
    { set = $1; gsub(/ /, "", set) }
    index(sets, " " set " ") { command($3); command($4) }' "$work/rows" >"$work/commands"
commands=$(wc -l <"$work/commands")
[ "$commands" -gt 0 ] || { echo "bench.sh: no row matches $ROWS" >&2; exit 2; }

progress()
{
    [ "$PROGRESS" != line ] || printf '\r\033[K%s' "$1" >&2
}

[ "$CPUS" != -1,-1 ] || name=$name-unpinned
raw=$out/$name.csv
echo round,command,result,value,unit >"$raw"
tries=0 failures=0 round=0
began=$(date +%s)
while [ "$round" -lt "$ROUNDS" ]; do
    spent=$(($(date +%s) - began))
    if [ "$round" -gt 0 ] && [ $((spent + spent / round)) -gt "$BUDGET" ]; then
        progress ''
        echo "bench.sh: after $spent seconds $round rounds have to do; BUDGET=SECONDS allows more" >&2
        break
    fi
    round=$((round + 1))
    # Every second round has the reverse order.
    if [ $((round % 2)) -eq 1 ]; then cat "$work/commands"; else tac "$work/commands"; fi >"$work/order"
    done=0
    [ "$PROGRESS" != rounds ] || echo "round $round of $ROUNDS" >&2
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
{
    "$here/machine.sh"
    [ -z "$TCP" ] || echo "Over TCP, the processes are $([ -n "$pin_first" ] && echo pinned || echo not pinned)."
    awk -f "$here/table.awk" -v sets="$sets" "$work/rows" "$raw"
} >"$out/$name.txt"
cat "$out/$name.txt"
[ "$failures" -eq 0 ]
