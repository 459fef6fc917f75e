#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# perf.sh - dat-perf on the adapter shm: all tests and modes with verified bytes, server and client, output, and other
# programs as peers. Prints TAP.
#
# BIN contains the tools, LIB the libraries; CC is the compiler.
set -u
LC_ALL=C NO_COLOR=1
export LC_ALL NO_COLOR
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG LD_PRELOAD

perf=$BIN/dat-perf
work=$(mktemp -d) || exit 2
server= client=
# clean_up: ends all remaining processes.
clean_up()
{
    for pid in $server $client; do
        kill -KILL "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    rm -rf "$work"
}
trap clean_up EXIT
LD_LIBRARY_PATH=$LIB
DAT_OVERRIDE=$work/dat.conf
export LD_LIBRARY_PATH DAT_OVERRIDE

# A private rendezvous directory.
mkdir -m 700 "$work/meet"
echo "shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 \"$work/meet\" \"\"" >"$DAT_OVERRIDE"

number=0 failed=0
# result STATUS NAME: prints the result of one test. After a failure, shows the output of the programs.
result()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        failed=$((failed + 1))
        echo "not ok $number - $2"
        sed 's/^/# /' "$work/out" "$work/err"
    fi
}

# run STATUS ARGUMENT...: runs dat-perf, which must exit with STATUS. Its output is in $work/out and $work/err.
run()
{
    status=$1
    shift
    timeout 150 "$perf" "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ "$got" -eq "$status" ] || { echo "exit status $got" >>"$work/err"; return 1; }
}

# values NUMBER: succeeds if the output has that many rows, with positive times, rates, bandwidths and CPU times of both
# sides.
values()
{
    awk -F, -v rows="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            n++
            split("min_ns median_ns mean_ns p90_ns p99_ns p99_9_ns p99_99_ns max_ns rate_per_s bandwidth_mb_per_s seconds cpu_seconds server_cpu_seconds", of, " ")
            for (i in of) if (!($at[of[i]] > 0)) { print "row " n ": " of[i]; bad = 1 }
            times = split("min_ns median_ns p90_ns p99_ns p99_9_ns p99_99_ns max_ns", order, " ")
            for (i = 1; i < times; i++) if ($at[order[i]] + 0 > $at[order[i + 1]] + 0) {
                print "row " n ": times are not in order"; bad = 1
            }
            if ($at["iterations"] > 1 && $at["reverse"] == "false" && $at["min_ns"] + 0 < $at["max_ns"] + 0 && !($at["deviation_ns"] > 0)) { print "row " n ": no deviation"; bad = 1 }
            if ($at["min_ns"] > $at["mean_ns"] || $at["mean_ns"] > $at["max_ns"]) {
                print "row " n ": the mean is none of these times"; bad = 1
            }
        }
        END { if (n != rows) print n + 0 " rows"; exit bad || n != rows }' "$work/out" >>"$work/err"
}

# measures ROWS ARGUMENT...: tests a measurement with its own server and verified bytes, which must print ROWS rows.
measures()
{
    rows=$1
    shift
    run 0 shm --self --verify --csv --limit 120 "$@" && values "$rows"
    result $? "dat-perf $*"
}

# ---- Each test in each mode ----

measures 30 --size 1,8,64,5000,100000 -n 20
measures 6 --size 64 -n 1000
measures 6 --size 64 -n 40 --connections 8
measures 6 --size 64 -n 40 --connections 100 --active 3
measures 6 --size 64 -n 100 --connections 2 --srq
measures 6 --size 64 -n 100 --connections 2 --srq --wait
measures 6 --size 64 -n 40 --threads 3 --connections 2
measures 6 --size 64 -n 40 --threads 2 --srq --wait
measures 6 --size 100 -n 40 --outstanding 1 --wait --warmup 0
measures 1 --test send_lat --size 8 -n 20 --wait --pause 50
measures 15 --both --size 1,8,64,5000,100000 -n 300
measures 3 --both --size 64 -n 100 --connections 3 --srq --wait
measures 3 --both --size 64 -n 40 --threads 2 --connections 8 --active 3 --outstanding 1
measures 3 --both --size 16 -n 40K --wait
measures 15 --reverse --size 1,8,64,5000,100000 -n 300
measures 3 --reverse --size 64 -n 100 --connections 3 --srq --wait
measures 3 --reverse --size 64 -n 40K --threads 2 --connections 8 --active 3 --outstanding 1
# column NAME: prints the values of a column in one line.
column()
{
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { printf "%s ", $at[name] }' "$work/out"
}

run 0 shm --self --csv --size 8 -n 20 --outstanding 300 && [ "$(column outstanding)" = '1 1 1 300 300 128 ' ]
result $? 'transfers under way are told as they were: one where latency is measured, reads as many as there can be'
run 0 shm --self --csv --size 64 -n 3 -t send_bw,write_bw,read_bw && values 3
result $? 'fewer transfers than may be under way'
run 0 shm --self --csv --verify --size 64 -n 40K --warmup 1k -c 2 && values 6 && [ "$(column iterations)" = \
    '40000 40000 40000 40000 40000 40000 ' ]
result $? 'more transfers than a turn has: all of them are made, and the bytes are right'

# ---- By time ----

run 0 shm --self --csv --size 8,256K --duration 0.3 --wait --verify -t send_lat,write_bw,read_lat --threads 2 && values 6 &&
    awk -F, '{ if (NR == 1) for (i = 1; i <= NF; i++) at[$i] = i; else if ($at["seconds"] < 0.2) exit 1 }' "$work/out"
result $? '--duration: each measurement takes as long'
if command -v taskset >/dev/null; then
    one=$(taskset -cp $$ | sed 's/.*[:,-] *//')
    # Without yielding, each transfer would take a time slice of the CPU. Other load does not count as CPU time.
    (ulimit -t 30 && exec timeout 600 taskset -c "$one" "$perf" shm --self --limit 600) >"$work/out" 2>"$work/err" &&
        grep -q '^read_bw  *4194304 ' "$work/out" &&
        grep -q '^CPUs: 1 usable, load [0-9.]*, not pinned; 2 threads poll on 1 CPU, so they yield' "$work/out"
    result $? 'one CPU: all measurements within 30 s of CPU time, and a line about it'
else
    number=$((number + 1))
    echo "ok $number - one CPU # SKIP no taskset here"
fi

# ---- Output ----

run 0 shm --self --size 8,4K -n 20 &&
    grep -q '^send_lat  *8\(  *[0-9.]*\)\{7\}\(  *[0-9]*\)\{2\}$' "$work/out" &&
    grep -q '^read_bw  *4096  *64  *[0-9]*  *[0-9.]*  *[0-9]*  *[0-9]*$' "$work/out" &&
    grep -q '^CPU time: [0-9.]* s here and [0-9.]* s at the server, in [0-9.]* s of measurement\.$' "$work/out" &&
    grep -q '^CPUs: [0-9]* usable, load [0-9.]*, not pinned.*\.$' "$work/out" && [ ! -s "$work/err" ]
result $? 'tables, the CPU time, and the CPUs'
cpus=$(awk '/^Cpus_allowed_list/ { gsub(/[-,].*/, "", $2); print $2 }' /proc/self/status)
run 0 shm --self --size 8 -n 20 -t send_lat --cpu "$cpus" --peer-cpu "$cpus" &&
    grep -q "pinned to $cpus here, pinned to $cpus at the server; 2 threads poll on 1 CPU" "$work/out"
result $? 'both ends on one CPU: they yield to each other'
run 0 shm --self --size 8 -n 2K -t send_lat,send_bw --histogram &&
    grep -q '^TEST  *BYTES  *MIN us  *MEDIAN  *MEAN  *P99  *P99\.9  *MAX  *DEV  *CPU %  *SERVER$' "$work/out" &&
    grep -q '^send_lat, 8 bytes:$' "$work/out" && ! grep -q '^send_bw, ' "$work/out" &&
    awk '/^FROM us/ { on = 1; next } /^$/ { on = 0 } on { if ($1 >= $2 || $5 !~ /^#+$/) bad = 1; n += $3 }
        END { exit bad || n != 2000 }' "$work/out"
result $? '--histogram'
if command -v python3 >/dev/null; then
    run 0 shm --self --size 8 -n 20 --json --histogram && python3 -c '
import json, sys
rows = json.load(sys.stdin)
assert [row["test"] for row in rows] == ["send_lat", "write_lat", "read_lat", "send_bw", "write_bw", "read_bw"]
assert all(row["size"] == 8 and row["median_ns"] > 0 and row["complete"] for row in rows)
assert all(sum(part["count"] for part in row["histogram"]) == 20 for row in rows)
values = [value for row in rows for value in row.values() if isinstance(value, float)]
assert all(len(str(value).partition(".")[2]) <= 9 for value in values), values' <"$work/out" 2>>"$work/err"
    result $? '--json'
else
    number=$((number + 1))
    echo "ok $number - --json # SKIP no python3 here"
fi

# rows_while_measuring ARGUMENT...: checks that the first row reaches a pipe during the second, longer measurement.
rows_while_measuring()
{
    mkfifo "$work/rows"
    timeout 150 "$perf" shm --self -t send_lat,read_lat -s 8 -D 5 --wait "$@" >"$work/rows" 2>"$work/err" &
    client=$!
    : >"$work/out"
    found=1
    # The signal arrives during the second measurement.
    while read -r line; do
        echo "$line" >>"$work/out"
        case $line in *send_lat*) kill "$client" && found=0 ;; esac
    done <"$work/rows"
    wait "$client"
    grep -q read_lat "$work/out" && found=1
    client=
    rm "$work/rows"
    return $found
}
rows_while_measuring
result $? 'a row is written when its measurement ends'
rows_while_measuring --csv
result $? 'a row is written when its measurement ends, --csv'
run 0 shm --self -t write_bw -s 1M -n 20 --gbits && grep -q '^write_bw  *1048576  *64  *[0-9]*  *[0-9.]*  *[0-9]*  *[0-9]*$' "$work/out" &&
    grep -q 'TRANSFERS/s  *Gbit/s  *CPU' "$work/out"
result $? '--gbits'
# The intervals end in ascending order, before the row of the measurement.
run 0 shm --self -t send_lat,write_bw -s 8 -D 2 -i 0.2 --wait --threads 2 &&
    awk '$2 == "s" && NF >= 7 { if ($1 < last) exit 1; last = $1; n++ } /^(send_lat|write_bw)/ { if (n < 2) exit 1; n = last = 0; rows++ }
        END { exit rows != 2 }' "$work/out"
result $? '--interval'

# ---- A separate server ----

# serve ARGUMENT...: restarts the server; its output is in $work/server.
serve()
{
    stop
    : >"$work/server"
    "$perf" shm "$@" >>"$work/server" 2>&1 &
    server=$!
}

stop()
{
    [ -n "$server" ] || return 0
    kill "$server"
    wait "$server" 2>/dev/null
    server=
}

# says PATTERN: waits until the server has printed a matching line.
says()
{
    tries=0
    until grep -q "$1" "$work/server"; do
        tries=$((tries + 1))
        [ "$tries" -lt 3000 ] || { cat "$work/server" >>"$work/err"; return 1; }
        sleep 0.02
    done
}

serve --verbose
says 'shm listens on qualifier 18516' && run 0 shm localhost --csv --size 8 -n 20 && values 6
result $? 'client and server'
run 0 shm localhost --csv --size 8 -n 20 -t read_lat && values 1 && says 'has gone'
result $? 'the server serves one client after the other'

# measures_now: waits until the client has used 20 clock ticks (0.2 s) of CPU time, because only a measurement needs so
# much.
measures_now()
{
    tries=0
    until awk '{ exit $14 + $15 < 20 }' "/proc/$client/stat"; do
        tries=$((tries + 1))
        [ "$tries" -lt 3000 ] || return 1
        sleep 0.02
    done
}

# cpus_of_server: prints the CPUs on which the child process of the client may run.
cpus_of_server()
{
    cat /proc/[0-9]*/status 2>/dev/null | awk -v client="$client" '
        $1 == "PPid:" { is_child = $2 == client } is_child && $1 == "Cpus_allowed_list:" { print $2 }'
}
"$perf" shm --self --size 8 -n 1000000000 -t send_lat --cpu "$cpus" >"$work/out" 2>"$work/err" &
client=$!
measures_now && [ "$(cpus_of_server)" = "$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)" ]
result $? '--self --cpu: the server may still use all CPUs'
kill -KILL "$client"
wait "$client" 2>/dev/null
client=

# Kill a client during a measurement.
for how in '' '--srq --wait'; do
    # shellcheck disable=SC2086
    "$perf" shm localhost --size 16 -n 1000000000 -t send_lat $how >"$work/out" 2>"$work/err" &
    client=$!
    measures_now
    measured=$?
    kill -KILL "$client"
    wait "$client" 2>/dev/null
    client=
    [ "$measured" -eq 0 ] && run 0 shm localhost --csv --size 64 -n 20 && values 6 && says 'send_lat: the peer has gone away'
    result $? "a client that is killed: the server serves the next one${how:+, $how}"
    : >"$work/server"
done
# Run a client that fails while it connects: two processes cannot have that many connections.
run 1 shm localhost --size 8 -n 20 -t send_lat --connections 4000 --srq &&
    grep -q 'connection \([0-9]*\) of thread 0; there is room for \1 to this server: DAT_CON' "$work/err" && run 0 shm localhost --csv --size 64 -n 20 && values 6 && says 'send_lat: the client does not connect: the peer has gone away'
result $? 'a client that ends while it connects: the server serves the next one'

# An error in one thread of the server ends its measurement, and the client prints the reason. The errors are a CPU that
# does not exist, and a thread whose stack exceeds the memory.
serve --verbose --cpu 0,1023
says 'listens on' && run 1 shm localhost --size 8 -n 20 -t send_lat --threads 2 --limit 20 &&
    grep -q 'the server.*CPU 1023: cannot pin a thread' "$work/err" && run 0 shm localhost --csv --size 8 -n 20 && values 6
result $? 'a thread of the server cannot be pinned: the client is told, and the server serves the next one'
export RUST_MIN_STACK=1000000000000000
serve --verbose
unset RUST_MIN_STACK
says 'listens on' && run 1 shm localhost --size 8 -n 20 -t send_lat --threads 2 --limit 20 &&
    grep -q 'the server.*cannot create a thread' "$work/err" && kill -0 "$server" &&
    run 0 shm localhost --size 8 -n 20 -t send_lat --limit 20 && kill -0 "$server"
result $? 'a server that can have no more threads says so, and stays'

# Clients that stop during a measurement occupy the server until its limit. On a busy machine the limit can expire while
# the server still connects.
serve --verbose --limit 3
says 'listens on'
status=$?
: >"$work/held"
for how in '-t send_lat' '-t send_lat --srq' '-t send_lat --srq --wait' '-t write_lat' '-t write_bw --threads 2' \
    '-t read_bw --wait'; do
    # shellcheck disable=SC2086
    "$perf" shm localhost --size 24 -n 1000000000 $how >"$work/out" 2>"$work/err" &
    client=$!
    says 'with 24 bytes' || { echo "$how: no measurement" | cat - "$work/server" >>"$work/held"; status=1; }
    kill -STOP "$client"
    says '^dat-perf: 127.0.0.1, ' || { echo "$how: the server is held" | cat - "$work/server" >>"$work/held"; status=1; }
    kill -KILL "$client"
    wait "$client" 2>/dev/null
    client=
    : >"$work/server"
done
# The six tests must each finish within the server's limit, which may need several attempts on a busy machine.
held=$status tries=0
until run 0 shm localhost --csv --size 8 -n 5 --warmup 0 --wait && values 6; do
    tries=$((tries + 1))
    grep -q 'longer than 3 s' "$work/err" && [ "$tries" -lt 10 ] || { held=1; break; }
done
cat "$work/held" >>"$work/err"
result "$held" 'a client that stops: the server serves the next one after its limit'
held=0 tries=0
until run 0 shm localhost --csv --size 8 -t send_lat --wait --duration 4 && values 1; do
    tries=$((tries + 1))
    grep -q 'longer than 3 s' "$work/err" && [ "$tries" -lt 5 ] || { held=1; break; }
done
result "$held" 'a measurement that goes on may be longer than the limit of the server'
serve --verbose
says 'listens on'

# dat-ping connects without the greeting of dat-perf.
timeout 30 "$BIN/dat-ping" shm localhost --qualifier 18516 --count 1 >"$work/out" 2>"$work/err"
[ $? -ne 0 ] && says 'it is not dat-perf'
result $? 'a program that is no dat-perf is rejected'
run 0 shm localhost --csv --size 64 -n 20 -t send_lat && values 1
result $? 'and the server serves the next one'

# Run connector.c as a hostile peer.
root=$(cd "$(dirname "$0")/../.." && pwd)
${CC:-cc} -std=c99 -Wall -Wextra -Werror -O1 -DUDAPL=12 -I"$root/include" -I"$root/tests-c" -o "$work/connector" \
    "$root/tests-c/tools/connector.c" "$LIB/libdat.so.1" >"$work/out" 2>"$work/err"
result $? 'the hostile peer can be built'
for to in 0 1 srq; do
    timeout 60 "$work/connector" stray shm 18516 $to >"$work/out" 2>"$work/err" &&
        grep -q '^{"Refused":"connection 1: the peer sent a message on a connection without traffic"}$' "$work/out" &&
        run 0 shm localhost --csv --size 8 -n 20 -t send_lat && values 1
    result $? "a message on a connection without traffic: the server serves the next client, $to"
done

# Kill the server during a measurement, while the client polls and while it waits.
for how in '' --wait; do
    "$perf" shm localhost --size 32 -n 1000000000 -t send_lat $how >"$work/out" 2>"$work/err" &
    client=$!
    says 'measures send_lat with 32 bytes' && measures_now
    kill -KILL "$server"
    wait "$server" 2>/dev/null
    wait "$client"
    status=$?
    client=
    [ "$status" -eq 1 ] && grep -q 'dat-perf: send_lat, 32 bytes: .*gone away' "$work/err"
    result $? "the server is killed: the client says so${how:+, $how}"
    server=
    serve --verbose
    says 'listens on'
done
stop

: >"$work/server"
"$BIN/dat-ping" shm --qualifier 18520 >>"$work/server" 2>&1 &
server=$!
says 'clients' && run 1 shm localhost --qualifier 18520 && grep -q 'is not dat-perf of this version' "$work/err"
result $? 'a server that is no dat-perf: the client says so'
stop

: >"$work/server"
"$work/connector" stall shm 18530 >>"$work/server" 2>&1 &
server=$!
says listening
# The peer fails unless the client ends within 20 s.
"$perf" shm localhost --qualifier 18530 --size 8 -n 20 -t send_lat --limit 600 >"$work/out" 2>"$work/err" &
client=$!
says requested && kill "$client"
wait "$client"
[ $? -eq 1 ] && [ "$(cat "$work/err")" = 'dat-perf: interrupted' ] && wait "$server"
result $? 'a client that is asked to end while it connects ends'
client= server=

: >"$work/server"
timeout 150 "$perf" shm --once >>"$work/server" 2>&1 &
server=$!
tries=0
until run 0 shm localhost --csv --size 8 -n 20 -t send_lat || [ "$tries" -eq 100 ]; do
    tries=$((tries + 1))
    sleep 0.02
done
wait "$server" && values 1 && [ "$(cat "$work/server")" = 'shm listens on qualifier 18516' ]
result $? 'a server with --once ends after its client, and prints where it listens'
server=
for signal in INT TERM; do
    serve
    says 'listens on' && kill -s "$signal" "$server" && wait "$server"
    result $? "a server that is asked to end does so with status 0, $signal"
    server=
done
serve
says 'listens on'
"$perf" shm localhost --size 8 -n 1G -t send_lat >"$work/out" 2>"$work/err" &
client=$!
measures_now
kill "$server" && wait "$server"
status=$?
server=
wait "$client"
[ $? -eq 1 ] && [ "$status" -eq 0 ] && grep -q 'gone away' "$work/err"
result $? 'a server that is asked to end in the middle of a measurement ends with status 0'
client=

# ---- Errors ----

for how in --self localhost ''; do
    # shellcheck disable=SC2086
    run 1 nowhere $how && grep -q 'nowhere: cannot open the adapter; `dat-info --explain nowhere` shows more: dat_ia_open: DAT_PROV' \
        "$work/err" && [ ! -s "$work/out" ]
    found=$?
    grep -q '^libdat\[[0-9]*\]: error: nowhere, version 1.2, nonthreadsafe: no entry has this name' "$work/err"
    result $((found + $?)) "an adapter that is not there: its name, the cause, and what shows more${how:+, $how}"
done
run 1 nowhere localhost --json && [ "$(cat "$work/out")" = '[]' ] && grep -q '^dat-perf: ' "$work/err"
result $? '--json with an error before the first result: an empty list'
run 0 --help && grep -q 'default: 1,8,64,512,4K,32K,256K,1M,4M\]' "$work/out"
result $? '--help shows defaults as they are typed'
run 1 shm localhost --qualifier 4711 && grep -q 'localhost: no server listens on qualifier 4711, DAT_CONNECTION.*; is `dat-perf shm` running there, as this user?$' "$work/err"
result $? 'nobody listens'
run 1 shm host.invalid && grep -q 'host.invalid: cannot find the address' "$work/err"
result $? 'a host that is not there'
run 1 shm --self --size 8 --cpu 1023 -n 1 && grep -q 'CPU 1023: cannot pin a thread' "$work/err"
result $? 'a processor that is not there'
# The Rust tests cover all other wrong arguments.
for wrong in '' 'shm --self --size 0' 'shm --self --both -t send_lat' 'shm --self --csv --json' 'shm --json' \
    'shm --self -t send_bw --histogram'; do
    # shellcheck disable=SC2086
    run 2 $wrong
    result $? "wrong arguments: $wrong"
done
run 1 shm --self --verify --size 2G --outstanding 16384 -n 1 -t write_bw &&
    grep -q 'it needs 67[0-9]* MiB of memory; the maximum is [0-9]* MiB' "$work/err"
result $? 'more memory than the machine has'
run 1 shm --self --size 8 -n 1000000000 -t send_lat --limit 1 && grep -q 'longer than 1 s' "$work/err"
result $? '--limit'
# The first row must finish within the limit on a busy machine, too, where a poll can cost a time slice.
run 1 shm --self --csv --size 8,64M,8 -n 1K --warmup 1 -t send_lat --wait --limit 4 && values 3 &&
    [ "$(column complete)" = 'true false true ' ] &&
    grep -q '^dat-perf: send_lat, 67108864 bytes: it takes longer than 4 s (--limit): [0-9]* of 1000 transfers$' "$work/err"
result $? '--limit: what was measured until then is shown, and the rest is measured'

# Send a signal to the client during its second measurement.
serve --verbose
says 'listens on'
for how in '-TERM --csv' '-INT --csv --wait' '-INT --json --wait'; do
    # shellcheck disable=SC2086
    "$perf" shm localhost ${how#* } --size 8,64M -n 300 --warmup 1 -t send_lat >"$work/out" 2>"$work/err" &
    client=$!
    says 'with 67108864 bytes' && kill "${how%% *}" "$client"
    wait "$client"
    status=$?
    client=
    [ "$status" -eq 1 ] && [ "$(cat "$work/err")" = 'dat-perf: interrupted' ] &&
        case $how in
        *json*) grep -q '"size": 8,' "$work/out" && [ "$(tail -n 1 "$work/out")" = ']' ] ;;
        *) values 1 ;;
        esac
    result $? "it is asked to end: what was measured before is shown, $how"
    : >"$work/server"
done
stop

echo "1..$number"
[ "$failed" -eq 0 ]
