#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# tools.sh ADAPTER - dat-ping and dat-perf between two hosts, over IPv4 and IPv6. Prints TAP.
set -u
LC_ALL=C NO_COLOR=1
export LC_ALL NO_COLOR
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG

programs=$(dirname "${DAT_TEST_LIBDIR:?the directory of the libraries}")/tcp
if [ -z "${DAT_TEST_WIRE:-}" ]; then
    exec "$programs/within" sh "$0" "$@"
fi
if [ ! -x "$programs/dat-ping" ]; then
    echo '1..0 # SKIP the tools are not built'
    exit
fi
: "${DAT_TEST_SCALE:=1}"
timeout_s=$(awk "BEGIN { print int(30 * $DAT_TEST_SCALE) }")
work=$(mktemp -d) || exit 1
pid=
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null; rm -rf "$work"' EXIT
. "$(dirname "$0")/../common/tap.sh"

# serve TOOL ADAPTER ARGUMENT...: starts a server on the far host, and waits until it listens.
serve()
{
    tool=$1
    shift
    : >"$work/server.out"
    nsenter -t "$DAT_TEST_WIRE" -n "$programs/$tool" "$@" >"$work/server.out" 2>&1 </dev/null &
    pid=$!
    tries=0
    until grep -q 'qualifier' "$work/server.out"; do
        tries=$((tries + 1))
        [ $tries -lt $((timeout_s * 5)) ] || return 1
        sleep 0.2
    done
}

# run TOOL ADAPTER HOST OPTIONS: runs a tool on this host, with its output in run.out. Returns its status.
run()
{
    timeout "$timeout_s" "$programs/$1" "$2" "$3" $4 >"$work/run.out" 2>&1
}

pinged()
{
    serve dat-ping "$2" && run dat-ping "$1" "$3" "--count 3 --interval 0 --size 20000" &&
        grep -q '^3 rounds, 3 complete, 0.0 % lost' "$work/run.out" &&
        kill -INT "$pid" && wait "$pid" && grep -q 'transfers: 90, wrong: 0' "$work/server.out"
}

measured()
{
    serve dat-perf "$2" --once && run dat-perf "$1" "$3" "-t send_lat,send_bw,write_bw,read_bw -s 8,64K -n 500 --verify --csv" &&
        [ "$(grep -c "^$1,.*,true,*\$" "$work/run.out")" = 8 ] && wait "$pid"
}

# one_port ADAPTER ADAPTER HOST: checks during a measurement that all connections use the port 18516 (hexadecimal 4854).
one_port()
{
    serve dat-perf "$2" --verbose || return 1
    run dat-perf "$1" "$3" "-t send_lat -s 8 --wait -D 60" &
    client=$! tries=0
    until [ "$(nsenter -t "$DAT_TEST_WIRE" -n cat /proc/net/tcp /proc/net/tcp6 |
        awk '$4 == "01" { sub(/.*:/, "", $2); n[$2]++ } END { for (port in n) printf "%s %d", port, n[port] }')" = '4854 2' ]; do
        tries=$((tries + 1))
        [ $tries -lt $((timeout_s * 5)) ] || return 1
        sleep 0.2
    done
    kill -INT "$pid" && wait "$pid" && { ! wait "$client"; }
}

for way in 'wire wire 10.99.0.2 IPv4' 'near6 far6 fd99::2 IPv6'; do
    # shellcheck disable=SC2086 # words are wanted
    set -- $way
    ok "dat-ping between two hosts, $4" pinged "$1" "$2" "$3"
    ok "dat-perf between two hosts, $4: every byte arrives" measured "$1" "$2" "$3"
    ok "dat-perf between two hosts, $4: all connections use one port" one_port "$1" "$2" "$3"
done
pid=
echo "1..$number"
exit $failed
