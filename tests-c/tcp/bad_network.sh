#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# bad_network.sh - transfers between two hosts over a network with delays, losses and outages, and with a host that
# restarts. It needs the kernel's network emulator sch_netem, and root. Prints TAP.
set -u
. "$(dirname "$0")/hosts.sh"

# shape [ARGUMENT...]: configures the network emulator on both ends of w4 and w6. Without arguments, removes it.
shape()
{
    for wire in w4 w6; do
        both tc qdisc del dev $wire root 2>/dev/null
        [ $# -eq 0 ] || both tc qdisc add dev $wire root netem limit 100000 "$@" || return 1
    done
}

# links SETTING VALUE: sets an attribute of both ends of w4 and w6.
links()
{
    for wire in w4 w6; do both ip link set $wire "$1" "$2" || return 1; done
}

# start ADAPTER HOST ARGUMENT...: starts dat-perf as a client, $client, with its output in ADAPTER.out.
start()
{
    adapter=$1 host=$2
    shift 2
    before=$(bytes_sent)
    "$programs/dat-perf" "$adapter" "$host" --wait --csv "$@" >"$work/$adapter.out" 2>&1 </dev/null &
    client=$!
}

# complete CLIENT ADAPTER ROWS: succeeds if the client succeeds with that number of measurements. If the client hangs,
# shows the connections and ends it.
complete()
{
    within "$timeout_s" ended "$1" || { both ss -tnie; kill "$1"; return 1; }
    wait "$1" && [ "$(grep -c "^$2,.*,true\$" "$work/$2.out")" = "$3" ]
}

# loaded: succeeds if w4 has sent 1 MB since start().
loaded() { [ $(($(bytes_sent) - before)) -ge 1000000 ]; }

bytes_sent() { awk '$1 == "w4:" { print $10 }' /proc/net/dev; }

ended() { ! kill -0 "$1" 2>/dev/null; }

# exchanged NAME: checks that all bytes of messages, writes and reads arrive, both ways, over IPv4 and IPv6 in parallel.
exchanged()
{
    start tcp-w6 fd99::2 -t send_bw,write_bw,read_bw --both -s 20000 -n 40 --verify
    client6=$client
    start tcp-w4 10.99.0.2 -t send_bw,write_bw,read_bw --both -s 20000 -n 40 --verify
    ok "$1: every byte arrives, IPv4" complete "$client" tcp-w4 3
    ok "$1: every byte arrives, IPv6" complete "$client6" tcp-w6 3
    echo "# $(since "$begin") s"
}

since() { awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $1 }"; }

# about SECONDS START [END]: succeeds if END (default: now) is SECONDS - 1 to SECONDS + 5 after START. Prints the time.
about()
{
    took=$(awk "BEGIN { printf \"%.1f\", ${3:-$(date +%s.%N)} - $2 }")
    echo "$took s" | tee "$work/time"
    awk "BEGIN { exit !($took >= $1 - 1 && $took <= $1 + 5 * $DAT_TEST_SCALE) }"
}

# rested: succeeds if both ends of the idle connection report BROKEN, the near end 25 s after its last round.
rested()
{
    # shellcheck disable=SC2046 # two words
    within "$timeout_s" grep -q 'gone.*BROKEN' "$work/resting.out" &&
        within "$timeout_s" grep -q 'gone.*BROKEN' "$work/rest.out" &&
        about 25 $(sed -n 's/^\[\([0-9.]*\)\].*\( seq=1 \| has gone\).*/\1/p' "$work/resting.out")
}

# broken: succeeds if the client fails with BROKEN, about 3 to 8 s after the cut.
broken()
{
    within "$timeout_s" ended "$client" && about 3 "$cut" && grep -q 'the peer has gone away' "$work/tcp-w4.out"
}

# goodput: succeeds if the library reaches 0.9 of a socket's goodput in one of three attempts. Each message must take
# longer than 250 ms: dat-perf pauses after 250 ms, or after a longer message, to synchronise both sides.
goodput()
{
    for attempt in 1 2 3; do
        serve raw bulk 9000 && raw=$("$programs/bulk" 10.99.0.2 9000 4) || return 1
        start tcp-w4 10.99.0.2 -t send_bw -s 4M -o 2 -n 3 --warmup 1
        complete "$client" tcp-w4 1 || return 1
        ours=$(awk -F, '/^tcp-w4/ { print $22 }' "$work/tcp-w4.out")
        echo "$ours MB/s, a socket $raw MB/s" | tee -a "$work/goodput"
        awk "BEGIN { exit !($ours >= 0.9 * $raw) }" && return 0
    done
    return 1
}

if ! shape delay 1ms 2>/dev/null; then
    echo '1..0 # SKIP the kernel has no sch_netem, or this user may not use it'
    exit
fi
shape
begin=$(date +%s.%N)
# The emulator must treat each packet separately, not segments of up to 64 KiB.
links gso_max_segs 1
ok 'dat-perf listens, IPv4' serve perf4 dat-perf tcp-w4
ok 'dat-perf listens, IPv6' serve perf6 dat-perf tcp-w6
ok 'dat-ping listens' serve rest dat-ping tcp-v4

# The wire v4 stays cut; `rested` checks the result later.
"$programs/dat-ping" tcp-v4 10.98.0.2 --interval 1000 --timestamps >"$work/resting.out" 2>&1 </dev/null &
ok 'a connection rests' within "$timeout_s" grep -q seq=1 "$work/resting.out"
both tc qdisc add dev v4 root netem loss 100%

while read -r netem; do
    # shellcheck disable=SC2086 # several words
    shape $netem
    exchanged "$netem"
done <<'END'
delay 20ms
loss 1%
delay 10ms reorder 25% 50%
duplicate 1%
corrupt 0.1%
rate 10mbit
END
shape
for size in 1280 9000; do
    links mtu $size
    exchanged "MTU $size"
done
links mtu 1500
links gso_max_segs 65535
ok 'a path is cut at rest: BROKEN after 25 s, at both ends' rested
echo "# $(cat "$work/time")"

both sysctl -q -w 'net.ipv4.tcp_wmem=4096 16384 65536' 'net.ipv4.tcp_rmem=4096 16384 65536'
start tcp-w4 10.99.0.2 -t send_bw,write_bw --both -s 64K -o 64 -n 80 --verify
ok 'full send queues on both sides: every byte arrives' complete "$client" tcp-w4 2
both sysctl -q -w 'net.ipv4.tcp_wmem=4096 16384 4194304' 'net.ipv4.tcp_rmem=4096 131072 6291456'

# The rate is low enough for a slow emulated machine, and high enough to require a larger window.
shape delay 25ms rate 40mbit
ok 'goodput at 40 Mbit/s and 50 ms: at least 0.9 of a socket' goodput
sed 's/^/# /' "$work/goodput"

# 4 MB in each direction take more than 3 s.
shape rate 10mbit
start tcp-w4 10.99.0.2 -t send_bw --both -s 20000 -n 200 --verify
ok 'the load begins' within "$timeout_s" loaded
far ip link set w4 down
sleep 2
far ip link set w4 up
ok 'a cable is unplugged for 2 s under load: every byte arrives' complete "$client" tcp-w4 1

shape
# The kernel ends a connection at the first retransmission after 3 s without an acknowledgement: after at most 6.2 s.
both sysctl -q -w net.ipv4.tcp_retries2=3
start tcp-w4 10.99.0.2 -t send_bw --both -s 20000 -D 60
ok 'the load begins' within "$timeout_s" loaded
far ip link set w4 down
cut=$(date +%s.%N)
ok 'a cable is unplugged under load: BROKEN after 3 to 8 s' broken
echo "# $(cat "$work/time")"

# Moves the far host's wires to a new host without processes, which later gets the same addresses.
serve host dat-ping tcp-w6
"$programs/dat-ping" tcp-w6 fd99::2 --interval 1 >>"$work/client.out" 2>&1 </dev/null &
client=$!
ok 'a host answers' within "$timeout_s" grep -q seq=2 "$work/client.out"
old=$far
new_far
for wire in w4 v4 w6; do nsenter -t $old -n ip link set $wire netns "$far"; done
ok 'a host disappears: the round is lost' within "$timeout_s" grep -q ' lost: ' "$work/client.out"
grep ' lost: ' "$work/client.out" | sed 's/^/# /'
addresses 2 | far sh
serve host dat-ping tcp-w6
: >"$work/client.out"
ok 'the host returns with its address: it answers' within "$timeout_s" grep -q 'seq=.*send=' "$work/client.out"
echo "# $(since "$begin") s"
echo "1..$number"
exit $failed
