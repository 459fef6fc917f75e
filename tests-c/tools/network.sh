#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# network.sh - the adapters over TCP between two hosts, which are network namespaces joined by a cable, and on a network that
# loses packets. Prints TAP.
#
# BIN names the folder with the tools, LIB the one with the libraries.
set -u
LC_ALL=C NO_COLOR=1
export LC_ALL NO_COLOR
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG LD_PRELOAD

PATH=$PATH:/sbin:/usr/sbin
LD_LIBRARY_PATH=$LIB
work=$(mktemp -d) || exit 2
. "$(dirname "$0")/../common/tap.sh"
near= far= server=
clean_up()
{
    # With the processes go the namespaces, and with these the cable.
    for pid in $server $near $far; do
        kill -KILL "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    rm -rf "$work"
}
trap clean_up EXIT
DAT_OVERRIDE=$work/dat.conf
export LD_LIBRARY_PATH DAT_OVERRIDE

if ! ldconfig -p | grep -q 'libfabric\.so\.1 '; then
    echo '1..0 # SKIP libfabric1 is not installed'
    exit 0
fi
if ! unshare -n ip link set lo up 2>"$work/lacks"; then
    echo "1..0 # SKIP needs root, network namespaces, and ip of iproute2: $(head -n 1 "$work/lacks")"
    exit 0
fi
for api in 1 2; do
    echo "four u$api.$((api % 2 * 2)) threadsafe default libdaplofi.so.$api libdat.1.0 \"tcp cable\" \"\""
    echo "six u$api.$((api % 2 * 2)) threadsafe default libdaplofi.so.$api libdat.1.0 \"tcp 2001:db8::$api\" \"\""
done >"$DAT_OVERRIDE"
# Both hosts have the one file; the address of IPv6 is that of the host.
sed 's/2001:db8::1/2001:db8::7/; s/2001:db8::2/2001:db8::7/' "$DAT_OVERRIDE" >"$work/near.conf"
sed 's/2001:db8::1/2001:db8::8/; s/2001:db8::2/2001:db8::8/' "$DAT_OVERRIDE" >"$work/far.conf"

# until_true COMMAND...: waits until it is true, at most 20 seconds.
until_true()
{
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || return 1
        sleep 0.1
    done
}

# at PID COMMAND...: runs it on one of the hosts.
at()
{
    host=$1 name=near
    shift
    [ "$host" != "$far" ] || name=far
    DAT_OVERRIDE=$work/$name.conf nsenter -n -t "$host" "$@"
}

apart() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
unshare -n sleep 1000 & near=$!
unshare -n sleep 1000 & far=$!
until_true apart "$near" && until_true apart "$far" || exit 2

# An older kernel does not know how the library asks it to give up soon.
new_kernel() { [ "$(printf '%s\n' 6.15 "$(uname -r)" | sort -V | head -n 1)" = 6.15 ]; }

# host PID ADDRESS ADDRESS6
host()
{
    at "$1" sh -c "ip address add $2/24 dev cable && ip -6 address add $3/64 dev cable nodad && ip link set lo up &&
        ip link set cable up" && { new_kernel || at "$1" sh -c 'echo 6 >/proc/sys/net/ipv4/tcp_retries2'; }
}
if ! { at "$near" ip link add cable type veth peer name cable netns "$far" && host "$near" 192.0.2.7 2001:db8::7 &&
    host "$far" 192.0.2.8 2001:db8::8; } 2>"$work/lacks"; then
    echo "1..0 # SKIP no cable between namespaces: $(head -n 1 "$work/lacks")"
    exit 0
fi

# listening [PORT]: what the far host listens at is that port.
listening()
{
    at "$far" awk -v port="$(printf :%04X "$1")" '$4 == "0A" { if (index($2, port)) seen = 1; else other = 1 }
        END { exit !seen || other }' /proc/net/tcp /proc/net/tcp6
}

# serve TOOL ADAPTER: starts a server on the far host.
serve()
{
    DAT_OVERRIDE=$work/far.conf nsenter -n -t "$far" "$BIN/$1" "$2" -q 18700 >"$work/server.out" 2>"$work/server.err" &
    server=$!
    until_true listening 18700
}

stop()
{
    kill "$server" 2>/dev/null
    wait "$server" 2>/dev/null
    server=
}

# client STATUS SECONDS TOOL ARGUMENT...: a client on the near host ends with this status, in that time.
client()
{
    wanted=$1 seconds=$2 tool=$3
    shift 3
    at "$near" timeout "$seconds" "$BIN/$tool" "$@" -q 18700 >"$work/client.out" 2>"$work/client.err"
    status=$?
    [ "$status" = "$wanted" ] || { echo "# $tool $*: exit status $status, not $wanted"; return 1; }
}
said() { grep -q "$1" "$work/client.err" "$work/client.out" || { echo "# it does not say: $1"; return 1; }; }

# ---- Two hosts ----

for address in '4 four 192.0.2.8' '6 six 2001:db8::8'; do
    set -- $address
    for api in 1.2 2.0; do
        ok "IPv$1, $api: the server listens at its port and no other" serve dat-ping "$2"
        ok "IPv$1, $api: dat-ping" client 0 60 dat-ping "$2" "$3" --api "$api" --count 3 --size 100000
        stop
    done
done
serve dat-perf four
ok 'dat-perf' client 0 100 dat-perf four 192.0.2.8 --size 64,1M --iterations 50
stop

# ---- Nobody, nowhere ----

ok 'nobody listens: it fails at once' client 1 10 dat-ping four 192.0.2.8 --count 1
ok 'nobody listens: it says so' said 'NON_PEER_REJECTED\|listen'
ok 'no host has the address: it fails' client 1 60 dat-ping four 192.0.2.9 --count 1
ok 'no way to the address: it fails at once' client 1 10 dat-ping four 198.51.100.1 --count 1
ok 'no way to the address: it says so' said 'UNREACHABLE\|no way\|route'

# ---- A cable that is cut ----

# A client that runs until the cable is cut at the other host ends soon after it, and so does the connection at the server,
# which goes on.
cut()
{
    : >"$work/server.err"
    at "$near" timeout 60 "$BIN/dat-perf" four 192.0.2.8 -q 18700 --test send_bw --size 64K --duration 50 \
        >"$work/client.out" 2>"$work/client.err" &
    running=$!
    until_true connected && at "$far" ip link set cable down || return 1
    wait "$running"
    status=$?
    until_true test -s "$work/server.err" || echo '# the server does not learn it'
    at "$far" sh -c 'ip link set cable up && ip -6 address replace 2001:db8::8/64 dev cable nodad'
    [ "$status" = 1 ] || { echo "# exit status $status, not 1"; return 1; }
}
connected() { at "$near" awk '$4 == "01" { n++ } END { exit n < 1 }' /proc/net/tcp; }
serve dat-perf four
ok 'the cable is cut: the client learns it' cut
ok 'the cable is cut: it says so' said 'BROKEN\|broken\|gone away'
ok 'the cable is cut: the server learns it' grep -q 'BROKEN\|broken\|gone away' "$work/server.err"
ok 'the cable is cut: the server serves the next client' client 0 100 dat-perf four 192.0.2.8 --test send_lat --size 8 \
    --iterations 100
stop

# ---- A network that loses packets ----

# What does not fit into the queue of a slow device is dropped.
slow()
{
    for host in "$near" "$far"; do
        at "$host" tc qdisc add dev cable root tbf rate 300mbit burst 16kb limit 64kb || return 1
    done
}
dropped() { at "$1" tc -s qdisc show dev cable | awk '/dropped/ { sub(/,.*/, "", $7); if ($7 > 0) seen = 1 } END { exit !seen }'; }
if slow 2>"$work/lacks"; then
    serve dat-perf four
    ok 'packets are lost: all transfers' client 0 200 dat-perf four 192.0.2.8 --size 64,8K,1M --iterations 30
    ok 'packets are lost: some were' dropped "$near"
    stop
else
    skip 'packets are lost' "no such device: $(head -n 1 "$work/lacks")"
fi
echo "1..$number"
exit $failed
