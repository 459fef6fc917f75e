#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# perf.sh ADAPTER - tests dat-perf on a device, between two devices if there are two: each test, polling and waiting,
# with the bytes compared, and servers whose clients are killed. Judges no times. $BIN contains the tools. Prints TAP.
set -u
LC_ALL=C NO_COLOR=1
export LC_ALL NO_COLOR
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG

ia=${1:?the name of an adapter}
: "${DAT_TEST_SCALE:=1}"
perf=${BIN:-}/dat-perf
if [ ! -x "$perf" ]; then
    echo '1..0 # SKIP BIN does not name the folder of dat-perf'
    exit
fi
work=$(mktemp -d) || exit 1
server= client=
trap 'kill -KILL $server $client 2>/dev/null; rm -rf "$work"' EXIT
. "$(dirname "$0")/../common/tap.sh"
. "$(dirname "$0")/../common/device.sh"

# serve ARGUMENT...: starts a server with its output in server.out. Sets $server. Its limit for a silent client is
# longer than all waits of this script, so it must detect the end of a client otherwise.
serve()
{
    # Discards an earlier server's output, for which says() must not search.
    : >"$work/server.out"
    "$perf" "$other" --limit $((patience * 10)) "$@" >>"$work/server.out" 2>&1 </dev/null &
    server=$!
}

# begin ARGUMENT...: starts a client that runs until it is killed or fails. Sets $client.
begin()
{
    "$perf" "$ia" "$address" --limit "$patience" --iterations 1000000000 "$@" >"$work/client.out" 2>&1 </dev/null &
    client=$!
}

# within COMMAND...: waits up to $patience seconds until the command succeeds.
within()
{
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt $((patience * 5)) ] || { echo "# in vain: $*"; return 1; }
        sleep 0.2
    done
}

# says PATTERN: waits until a line of the server matches.
says() { within grep -q -e "$1" "$work/server.out"; }

# run STATUS ARGUMENT...: runs dat-perf, which must exit with this status, with its output in run.out and its errors in
# errors.out.
run()
{
    wanted=$1
    shift
    timeout "$patience" "$perf" "$ia" "$@" --limit "$patience" >"$work/run.out" 2>"$work/errors.out" </dev/null
    status=$?
    [ $status -eq "$wanted" ] || { echo "# exit status $status: $*"; return 1; }
}

# ---- Rows ----

all='send_lat write_lat read_lat send_bw write_bw read_bw'

# rows TESTS SIZES ITERATIONS COLUMNS: checks that run.out has a row for each test with each size, in this order, with
# the requested parameters. All times and rates must be positive and consistent. Each argument is one word, with spaces
# between the elements of a list; COLUMNS is a list of COLUMN=VALUE.
rows()
{
    awk -F, -v adapter="$ia" -v tests="$1" -v sizes="$2" -v iterations="$3" -v columns="$4" '
        function wrong(what) { print "# row " row ": " what; bad = 1 }
        function text(name) { return $at[name] "" }
        function value(name) { return $at[name] + 0 }
        # Returns whether two numbers are equal within 0.1 %, plus the rounding. The rate has one decimal, and the
        # bandwidth six, so rounding changes small values by more than 0.1 %.
        function near(a, b, rounding) { return a > 0 && b > 0 && (a - b) ^ 2 <= (b / 1000 + rounding) ^ 2 }
        BEGIN {
            tests_count = split(tests, test, " ")
            sizes_count = split(sizes, size, " ")
            wanted["adapter"] = adapter
            wanted["connections"] = wanted["threads"] = wanted["active"] = 1
            wanted["srq"] = wanted["wait"] = "false"
            for (i = split(columns, pairs, " "); i > 0; i--) { split(pairs[i], pair, "="); wanted[pair[1]] = pair[2] }
        }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            wanted["test"] = test[int(row / sizes_count) + 1]
            wanted["size"] = size[row % sizes_count + 1]
            wanted["iterations"] = iterations * wanted["threads"]
            row++
            for (name in wanted)
                if (text(name) != wanted[name] "") wrong(name " is " text(name) ", not " wanted[name])
            if (text("test") ~ /_lat$/ && value("outstanding") != 1 || value("outstanding") < 1) wrong("outstanding")
            for (i = split("min_ns median_ns mean_ns p99_ns max_ns seconds rate_per_s bandwidth_mb_per_s", of, " "); i > 0; i--)
                if (!(value(of[i]) > 0)) wrong(of[i])
            # These may be 0: a sleeping process may use less CPU time than the system counts.
            for (i = split("cpu_seconds cpu_percent server_cpu_seconds server_cpu_percent", of, " "); i > 0; i--)
                if (!(text(of[i]) ~ /^[0-9]/)) wrong(of[i])
            if (value("min_ns") > value("median_ns") || value("median_ns") > value("p99_ns") || value("p99_ns") > value("max_ns"))
                wrong("times are not in order")
            if (value("min_ns") > value("mean_ns") || value("mean_ns") > value("max_ns")) wrong("the mean is none of the times")
            made = value("iterations") * (text("both") == "true" ? 2 : 1)
            if (!near(value("rate_per_s") * value("seconds"), made, 0.05 * value("seconds"))) wrong("rate and time")
            if (!near(value("bandwidth_mb_per_s") * 1e6, value("rate_per_s") * value("size"), 0.5 + 0.05 * value("size"))) wrong("bandwidth and rate")
            # A time of send_lat or write_lat is half a round trip. With several threads, the times add up. The whole
            # time also includes the end of the last transfers, and comes from another clock, so allow 10 % more.
            busy = value("mean_ns") * (text("test") ~ /^(send|write)_lat$/ ? 2 : 1) * value("iterations") / 1e9
            whole = value("seconds") * value("threads")
            if (busy > 1.1 * whole) wrong("mean and time")
        }
        END {
            if (row != tests_count * sizes_count) { print "# " row + 0 " rows"; bad = 1 }
            exit bad
        }' "$work/run.out"
}

# measures TESTS SIZES COLUMNS ARGUMENT...: runs a measurement that compares the bytes, and checks its rows.
measures()
{
    tests=$1 sizes=$2 columns=$3
    shift 3
    run 0 "$address" --verify --csv --iterations 8 --outstanding 4 --test "$(echo "$tests" | tr ' ' ,)" \
        --size "$(echo "$sizes" | tr ' ' ,)" "$@" && rows "$tests" "$sizes" 8 "$columns" && [ ! -s "$work/errors.out" ]
}

# ---- A server for one client ----

# Checks that the server prints only the line that states where it listens.
quiet()
{
    serve --once
    says "^$other listens on qualifier 18516" && measures "$all" 5000 '' || return
    wait "$server"
    status=$?
    server=
    [ $status -eq 0 ] && [ "$(grep -c . "$work/server.out")" -eq 1 ]
}
ok "each test, polling: server on $other, client on $ia; the server tells where it listens, and ends well after its client" quiet

# ---- A server for one client after the other ----

serve --verbose
ok 'a server listens' says "^$other listens on qualifier 18516"
ok 'each test, waiting' measures "$all" 8 'wait=true' --wait
ok 'both directions, polling' measures 'send_bw write_bw read_bw' 5000 'both=true' --both
ok 'threads and connections, polling' measures 'write_lat send_bw read_bw' 64 'threads=2 connections=2 active=2' \
    --threads 2 --connections 2
ok 'connections, one of them without traffic, waiting' measures 'send_lat read_lat write_bw' 64 \
    'connections=3 active=2 wait=true' --connections 3 --active 2 --wait
ok 'a shared receive queue of connections, polling' measures 'send_lat send_bw' 64 'connections=2 active=2 srq=true' \
    --connections 2 --srq
ok 'a shared receive queue of threads, waiting' measures 'send_lat send_bw' 64 'threads=2 srq=true wait=true' \
    --threads 2 --srq --wait

# ---- Other output, and no server ----

# Converts the JSON output, which has a line for each value, to CSV, and checks the rows. Any other line is an error.
json()
{
    run 0 --self --json --test send_lat,read_bw --size 64 --iterations 4 && awk '
        NR == 1 && $0 == "[" || $0 == "  {" { next }
        $0 == "]" { closed = 1; next }
        $0 ~ /^  },?$/ { if (rows++ == 0) print names; print values; names = values = ""; next }
        !/^    "[a-z0-9_]+": ("[^", ]+"|[0-9.e-]+|true|false),?$/ { wrong = 1 }
        {
            gsub(/[ ",]/, "")
            split($0, pair, ":")
            names = names (names == "" ? "" : ",") pair[1]
            values = values (values == "" ? "" : ",") pair[2]
        }
        END { exit wrong || !closed }' "$work/run.out" >"$work/csv" && mv "$work/csv" "$work/run.out" &&
        rows 'send_lat read_bw' 64 4 ''
}
ok '--self --json' json

nobody()
{
    run 1 "$address" --qualifier 4711 && [ ! -s "$work/run.out" ] &&
        grep -q "^dat-perf: $address: .*, DAT_CONNECTION_EVENT_" "$work/errors.out"
}
ok 'nobody listens: the client says so' nobody

# ---- Clients and servers that are killed ----

device=$(rdma link show | awk -v name="${ia#verbs-}" '{
    for (i = 1; i < NF; i++) if ($i == "netdev" && $(i + 1) == name) { sub("/.*", "", $2); print $2 } }')
node=$(cat "/sys/class/infiniband/$device/node_type")

# begun NAME COMMAND...: like ok, for a command that kills a process during a measurement.
begun()
{
    case $node in
    4:*) skip "$1" 'iWARP devices do not report the progress of a queue pair' ;;
    *) ok "$@" ;;
    esac
}

# pairs: prints the connected queue pairs of the client, each with the number of the next packet that it sends.
pairs()
{
    rdma resource show qp | awk -v pid="$client" '{
        split("", of)
        for (i = 1; i < NF; i++) of[$i] = $(i + 1)
        if (of["pid"] == pid && of["state"] == "RTS") print of["lqpn"], of["sq-psn"] }'
}

# moves: succeeds if a queue pair has sent 20 packets since the first call. The queue pair on which the processes agree
# about the measurement sends fewer, so this shows that the measurement has begun.
moves()
{
    pairs >>"$work/packets"
    awk '!($1 in first) { first[$1] = $2 }
        ($2 - first[$1] + 16777216) % 16777216 >= 20 { moved = 1 }
        END { exit !moved }' "$work/packets"
}

# connects: succeeds if there is a queue pair in addition to the one on which the processes agree about the measurement.
connects() { [ "$(pairs | wc -l)" -ge 2 ]; }

# killed WHEN ARGUMENT...: kills a client as soon as WHEN succeeds. The server must report the lost client, and serve
# the next client.
killed()
{
    when=$1
    shift
    : >"$work/packets"
    : >"$work/server.out"
    begin "$@"
    within "$when"
    status=$?
    kill -KILL "$client"
    wait "$client" 2>/dev/null
    client=
    [ $status -eq 0 ] && says '^dat-perf: .*, [a-z]*_[a-z]*: ' && measures send_lat 64 '' && kill -0 "$server"
}
begun 'a client is killed while it makes many connections: the server serves the next one' killed connects \
    --test send_lat --size 16 --connections 30
for how in '--test send_bw --size 16' '--test send_lat --size 16 --srq --wait' '--test write_lat --size 16' \
    '--test read_bw --size 5000 --wait'; do
    # shellcheck disable=SC2086 # words are wanted
    begun "a client is killed while it measures, $how: the server serves the next one" killed moves $how
done

lost()
{
    : >"$work/packets"
    begin --test send_lat --size 32
    within moves
    moved=$?
    kill -KILL "$server"
    wait "$server" 2>/dev/null
    server=
    wait "$client"
    status=$?
    client=
    [ $moved -eq 0 ] && [ $status -eq 1 ] && grep -q '^dat-perf: send_lat, 32 bytes: ' "$work/client.out"
}
begun 'the server is killed: the client says so' lost
echo "1..$number"
