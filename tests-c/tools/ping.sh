#!/bin/sh
# ping.sh - dat-ping on the adapter shm: both sides in one process, two processes, and other programs as peers. Prints
# TAP.
#
# BIN contains the tools, LIB the libraries; CC is the compiler.
set -u
LC_ALL=C NO_COLOR=1
export LC_ALL NO_COLOR
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG LD_PRELOAD

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
ping=$BIN/dat-ping
work=$(mktemp -d) || exit 2
started=
# clean_up: ends all remaining processes.
clean_up()
{
    for pid in $started; do
        kill -KILL "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    rm -rf "$work"
}
trap clean_up EXIT
LD_LIBRARY_PATH=$LIB
DAT_OVERRIDE=$work/dat.conf
export LD_LIBRARY_PATH DAT_OVERRIDE
. "$(dirname "$0")/../common/tap.sh"

# A private rendezvous directory.
mkdir -m 700 "$work/meet"
cat >"$DAT_OVERRIDE" <<END
shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 "$work/meet" ""
shm u2.0 threadsafe default libdaplshm.so.2 libdat.2.0 "$work/meet" ""
END

# run STATUS ARGUMENT...: runs dat-ping, which must exit with STATUS. Its output is in run.out and run.err.
run()
{
    wanted=$1
    shift
    timeout 120 "$ping" "$@" >"$work/run.out" 2>"$work/run.err"
    status=$?
    [ $status = "$wanted" ] || { echo "# dat-ping $*: exit status $status, not $wanted"; return 1; }
}

# start NAME COMMAND...: starts a program with its output in NAME.out and NAME.err; sets $pid.
start()
{
    out=$1
    shift
    # Clears the output first, because `says` must not see the output of an earlier program.
    : >"$work/$out.out" >"$work/$out.err"
    "$@" >"$work/$out.out" 2>"$work/$out.err" </dev/null &
    pid=$!
    started="$started $pid"
}

# says NAME PATTERN [LINES]: waits until LINES lines of a program's output match.
says()
{
    tries=0
    until [ "$(grep -c -e "$2" "$work/$1.out")" -ge "${3:-1}" ]; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || { echo "# $1 does not say \"$2\" ${3:-1} times"; return 1; }
        sleep 0.05
    done
}

# ends PID [STATUS]: waits for a program, which must exit with STATUS (default: 0).
ends()
{
    wait "$1"
    status=$?
    [ $status = "${2:-0}" ] || { echo "# exit status $status, not ${2:-0}"; return 1; }
}

# lines PATTERN: prints the number of lines of run.out that match.
lines()
{
    grep -c -e "$1" "$work/run.out"
}

# ---- Both sides in one ----

four='send=[0-9.]* us write=[0-9.]* us read=[0-9.]* us srq=[0-9.]* us$'

both_in_one()
{
    run 0 shm --self --count 3 --interval 0.05 &&
        [ "$(lines "^64 bytes from 127.0.0.1: seq=[123] $four")" = 3 ] &&
        [ "$(lines '^3 rounds, 3 complete, 0.0 % lost, [0-9]* ms$')" = 1 ] &&
        [ "$(lines '^\(send\|write\|read\|srq\) \( *[0-9.]* us\)\{5\}$')" = 4 ] &&
        [ "$(lines '^  *minimum  *median  *mean  *maximum  *deviation$')" = 1 ]
}
ok 'dat-ping shm --self: a line a round with all four operations, and a summary' both_in_one

polls_or_waits()
{
    run 0 shm --self -c 2 -i 0.05 && [ "$(lines '^dat-ping shm .*; both sides poll$')" = 1 ] &&
        run 0 shm --self -c 2 -i 0.05 --wait && [ "$(lines '^dat-ping shm .*; both sides sleep between messages$')" = 1 ]
}
ok 'the first line states whether both sides poll' polls_or_waits

first_adapter()
{
    run 0 --self -c 1 -s 1 && [ "$(lines '^dat-ping shm .*: 1 byte by ')" = 1 ] &&
        [ "$(lines '^1 byte from .* seq=1 ')" = 1 ] && [ "$(lines '^1 round, 1 complete, ')" = 1 ]
}
ok 'dat-ping --self takes the first adapter; one byte and one round are no plural' first_adapter

echo 'none u1.2 threadsafe default libnone.so.1 libdat.1.2 "" ""' >"$work/none.conf"
cat "$work/none.conf" "$work/dat.conf" >"$work/more.conf"

first_that_opens()
{
    (DAT_OVERRIDE=$work/more.conf && run 0 --self -c 1) && [ "$(lines '^dat-ping shm ')" = 1 ]
}
ok 'dat-ping --self takes the first adapter that opens' first_that_opens

without_a_file()
{
    (unset DAT_OVERRIDE && run 0 --self -c 1)
}
if [ -e /etc/dat.conf ] || [ -e /etc/rdma/dat.conf ]; then
    skip 'dat-ping --self without dat.conf' 'this machine has a dat.conf'
else
    ok 'dat-ping --self without dat.conf takes an adapter that is not listed' without_a_file
fi

sed 's/shm u1.2 threadsafe default/shm u1.2 threadsafe nondefault/' "$work/dat.conf" >"$work/other.conf"
other_version()
{
    (DAT_OVERRIDE=$work/other.conf && run 0 shm --self -c 1) && [ "$(lines '^dat-ping shm ')" = 1 ]
}
ok 'an adapter that is switched off for 1.2: dat-ping opens it as a program of 2.0' other_version

# A library of another vendor does not have the built-in adapters of libdat. Only the text distinguishes this one.
mkdir "$work/foreign"
LC_ALL=C sed 's/dat-info --explain/dat-none --explain/g' "$LIB/libdat.so.1" >"$work/foreign/libdat.so.1"
foreign_library()
{
    (unset DAT_OVERRIDE && LD_LIBRARY_PATH=$work/foreign:$LIB && run 0 shm --self -c 1 &&
        run 0 tcp-lo --self -c 1)
}
if [ -e /etc/dat.conf ] || [ -e /etc/rdma/dat.conf ]; then
    skip 'a libdat.so.1 of another vendor' 'this machine has a dat.conf'
else
    ok 'a libdat.so.1 of another vendor: dat-ping opens built-in adapters as a program of 2.0' foreign_library
fi

sed 's/^shm /-x /' "$work/dat.conf" >"$work/hyphen.conf"

begins_as_an_option()
{
    (DAT_OVERRIDE=$work/hyphen.conf && run 0 --self -c 1 && run 0 --self -c 1 -- -x) && [ "$(lines '^dat-ping -x ')" = 1 ]
}
ok 'dat-ping --self with an adapter whose name begins as an option' begins_as_an_option

none_opens()
{
    (DAT_OVERRIDE=$work/none.conf && run 1 --self -c 1 --api 1.2) &&
        grep -q 'no interface adapter opens: none: cannot open the adapter' "$work/run.err"
}
ok 'dat-ping --self where no adapter opens: the first error' none_opens

flood()
{
    run 0 shm --self -f -c 500 && [ "$(lines 'seq=')" = 0 ] &&
        [ "$(lines '^500 rounds, 500 complete, 0.0 % lost')" = 1 ]
}
ok '--flood writes the summary alone' flood

json()
{
    run 0 shm --self -c 2 -i 0 --json && [ "$(lines .)" = 1 ] && [ "$(lines '^{.*"lost":0,.*}$')" = 1 ] || return 1
    if command -v python3 >/dev/null; then
        python3 -c '
import json, sys
told = json.load(sys.stdin)
rounds, summary = told["rounds"], told["summary"]
operations = ["send", "write", "read", "srq"]
assert [r["round"] for r in rounds] == [1, 2], rounds
assert all(r[o + "_us"] > 0 for r in rounds for o in operations), rounds
assert summary["complete"] == summary["rounds"] == 2 and summary["loss_percent"] == 0, summary
for o in operations:
    t = summary["times"][o]
    assert 0 < t["minimum_us"] <= t["mean_us"] <= t["maximum_us"], t
    assert t["minimum_us"] <= t["median_us"] <= t["maximum_us"] and t["deviation_us"] >= 0, t
    assert all(len(str(value).partition(".")[2]) <= 3 for value in t.values()), t
' <"$work/run.out"
    fi
}
ok '--json is one document with the rounds and the summary' json

quiet()
{
    run 0 shm --self --quiet -i 0 -c 3 && [ "$(lines 'seq=')" = 0 ] && [ "$(lines '^dat-ping shm')" = 1 ] &&
        [ "$(lines '^3 rounds, 3 complete, 0.0 % lost')" = 1 ]
}
ok '--quiet writes the first line and the summary' quiet

timestamps()
{
    run 0 shm --self -D -i 0 -c 3 && [ "$(lines "^\[[0-9]\{10\}\.[0-9]\{6\}\] 64 bytes from .*$four")" = 3 ]
}
ok '--timestamps begins each line before the summary with the time' timestamps

deadline()
{
    run 0 shm --self -w 1 -i 0.05 && [ "$(lines '^[0-9]* rounds*, .* 0.0 % lost')" = 1 ] &&
        run 1 shm --self -w 1 -i 0.05 -c 1K && [ "$(lines '^[0-9]* rounds*, .* 0.0 % lost')" = 1 ] &&
        [ "$(lines '^the deadline came after [0-9]* of 1000 rounds$')" = 1 ]
}
ok '--deadline ends it, with status 1 and the reason if more rounds were wanted' deadline

sizes()
{
    for size in 1 4095 64K 3000000; do
        run 0 shm --self -c 2 -i 0 --size $size && [ "$(lines "^$(echo $size | sed 's/64K/65536/') bytes* from .*$four")" = 2 ] || return 1
    done
}
ok '--size: transfers of 1 byte to megabytes arrive as they were sent' sizes

diagnostics()
{
    (DAT_DBG_TYPE=0xffff DAT_DBG_DEST=1 DAPL_DBG_DEST=1 && export DAT_DBG_TYPE DAT_DBG_DEST DAPL_DBG_DEST &&
        run 0 shm --self -c 1) && [ "$(lines '^1 round, 1 complete')" = 1 ]
}
ok 'diagnostics of the libraries on standard output do not keep --self from its server' diagnostics

# Waits until no server is left: a server must exit with its client, however the client ends.
no_server_left()
{
    tries=0
    while grep -l -z -x -e --announce /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do
        grep -q -z -F -e "$work" "${file%cmdline}environ" 2>/dev/null && echo "$file"
    done | grep -q .; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || return 1
        sleep 0.05
    done
}

interrupted()
{
    start self "$ping" shm --self --interval 0.02
    says self 'seq=3 ' && kill -INT "$pid" && ends "$pid" && says self ' complete, 0.0 % lost' && no_server_left
}
ok 'Ctrl-C ends it with the summary, and the server that it started' interrupted

killed_with_a_server()
{
    start self "$ping" shm --self --interval 0.02
    says self 'seq=3 ' && kill -KILL "$pid" && ends "$pid" 137 2>/dev/null && no_server_left
}
ok 'a client that is killed leaves no server' killed_with_a_server

unprivileged()
{
    (
        unset DAT_OVERRIDE
        cd / && timeout 30 setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \
            "$ping" shm --self -c 2 -i 0 >"$work/run.out" 2>"$work/run.err"
    ) && [ "$(lines '2 rounds, 2 complete')" = 1 ]
}
if [ "$(id -u)" != 0 ]; then
    ok 'it needs no privileges' run 0 shm --self -c 1
elif [ -e /etc/dat.conf ] || [ -e /etc/rdma/dat.conf ]; then
    skip 'it needs no privileges' 'the dat.conf of this machine may not have shm'
else
    ok 'it needs no privileges' unprivileged
fi

# ---- Two processes ----

server()
{
    start server "$ping" shm
    server=$pid
    says server 'waiting for clients on qualifier 18515'
}

by_name_and_address()
{
    server || return 1
    for host in localhost 127.0.0.1 ::1 "$(hostname)"; do
        run 0 shm "$host" --count 2 --interval 0.01 && [ "$(lines '2 rounds, 2 complete, 0.0 % lost')" = 1 ] || return 1
    done
    says server ' has connected, 64 bytes a transfer' 4 &&
        says server ' has gone (DAT_CONNECTION_EVENT_DISCONNECTED) after 60 transfers, 0 of them wrong; waiting' 4
}
ok 'server and client: the host by its names and addresses; the server says who comes and goes' by_name_and_address

several_clients()
{
    start first "$ping" shm localhost -f -c 300 --size 300
    first=$pid
    start second "$ping" shm localhost -f -c 300 --size 10000
    ends "$first" && ends "$pid" && says first '300 rounds, 300 complete' && says second '300 rounds, 300 complete'
}
ok 'several clients at a time' several_clients

killed_client()
{
    start client "$ping" shm localhost --interval 0.02
    says client 'seq=2 ' && kill -KILL "$pid" && ends "$pid" 137 2>/dev/null &&
        says server ' has gone ' 7 && run 0 shm localhost -c 1
}
ok 'a client that is killed: the server says so, and serves the next one' killed_client

qualifier_in_use()
{
    run 1 shm && grep -q 'qualifier 18515: cannot listen.*DAT_CONN_QUAL_IN_USE' "$work/run.err"
}
ok 'a second server on the same qualifier is refused' qualifier_in_use

# Kills the server of a running client. The next test uses this client, too.
killed_server()
{
    start client "$ping" shm localhost --interval 0.05
    client=$pid
    says client 'seq=2 ' && kill -KILL "$server" && ends "$server" 137 2>/dev/null &&
        says client 'localhost has gone.*; waiting for the next one' &&
        says client 'seq=[0-9]* lost: no server listens'
}
ok 'a server that is killed: the client says so, and waits for the next one' killed_server

# The provider of shm rejects a rendezvous directory that is open to other users.
adapter_does_not_open()
{
    chmod 755 "$work/meet" && says client 'seq=[0-9]* lost: shm: cannot open the adapter'
    found=$?
    chmod 700 "$work/meet"
    [ $found = 0 ]
}
ok 'an adapter that does not open for a time: the client counts lost rounds' adapter_does_not_open

server_is_back()
{
    server && says client ' is back' && says client "seq=.*$four" 4 && kill -INT "$client" && ends "$client" 1 &&
        says client '^[0-9]* rounds, [0-9]* complete, [0-9.]* % lost'
}
ok 'the next server is found; lost rounds are told by the exit status' server_is_back

stopped_server()
{
    kill -STOP "$server"
    run 1 shm localhost --timeout 0.3 --count 1 &&
        grep -q 'no reply within 300ms; the server listens but does not respond; is it stopped or busy?$' "$work/run.err" &&
        run 1 shm localhost -w 0.3 && grep -q '^dat-ping: localhost: not connected within the deadline$' "$work/run.err" &&
        [ ! -s "$work/run.out" ] && run 1 shm localhost -w 0.3 --json &&
        [ "$(lines '"error":"localhost: not connected within the deadline"')" = 1 ]
    stopped=$?
    kill -CONT "$server"
    [ $stopped = 0 ]
}
ok 'a server that does not answer in time' stopped_server

# The server is stopped, so the signal arrives before the first round.
interrupted_at_once()
{
    kill -STOP "$server"
    start client "$ping" shm localhost --timeout 100
    client=$pid
    tries=0
    # Waits until dat-ping itself handles SIGINT (bit 1 of the mask); the shell before exec handles it, too.
    until awk '$1 == "Name:" { name = $2 } $1 == "SigCgt:" { caught = $2 }
        END { exit !(name == "dat-ping" && caught ~ /[2367abef]$/) }' "/proc/$client/status"; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || break
        sleep 0.05
    done
    kill -INT "$client"
    ends "$client" 1
    found=$?
    kill -CONT "$server"
    [ $found = 0 ] && says client '^0 rounds, 0 complete'
}
ok 'Ctrl-C before the first round is complete: exit status 1' interrupted_at_once

# The numbers of clients and transfers vary: a client of the stopped server can still have connected.
server_ends()
{
    kill -TERM "$server" && ends "$server" && says server '^clients: [0-9]*, transfers: [0-9]*, wrong: 0$'
}
ok 'a server that is asked to end says what it has done' server_ends

# The server counts three operations of a round, each ten times. The client then sleeps between rounds.
still_connected()
{
    start server "$ping" shm -q 79 && server=$pid && says server 'waiting for clients' &&
        start client "$ping" shm localhost -q 79 --interval 600 && says client 'seq=1 ' &&
        kill -INT "$server" && ends "$server" && says server '^clients: 1, transfers: 30, wrong: 0$' &&
        says client "has gone: .*waiting for the next one" && kill -INT "$pid" && ends "$pid" 0
}
ok 'the summary of a server counts a client that is still connected' still_connected

counted_server()
{
    start server "$ping" shm --count 1 --json --qualifier 77
    says server '"event":"listening"' && run 0 shm localhost -q 77 -c 1 && ends "$pid" &&
        says server '"event":"connected"' && says server '"event":"gone"' && says server '"event":"end"'
}
ok 'a server with --count and --json on a qualifier of its own' counted_server

# The first connection of a client with transfers of 64 MiB needs more memory than the server's limit.
little_memory()
{
    (ulimit -v 700000; exec "$ping" shm) >"$work/server.out" 2>"$work/server.err" </dev/null &
    server=$!
    started="$started $server"
    says server 'waiting for clients' && run 1 shm localhost -c 1 -s 67108864 &&
        grep -q 'cannot allocate [0-9]* bytes' "$work/server.err" && run 0 shm localhost -c 1 -s 1000 &&
        kill -INT "$server" && ends "$server"
}
ok 'a server without memory for a client sends it away, and serves the next one' little_memory

# ---- Programs that are no dat-ping ----

# compiled NAME FLAG...: compiles connector.c for one version.
compiled()
{
    program=$1
    shift
    ${CC:-cc} -std=c99 -Wall -Wextra -Werror -O1 -I"$root/include" -I"$root/tests-c" "$@" \
        -o "$work/$program" "$here/connector.c" "$LIB/libdat${program#connector}" 2>"$work/cc.err"
}

stranger_connects()
{
    start server "$ping" shm
    server=$pid
    says server 'waiting for clients' || return 1
    mkfifo "$work/hold"
    : >"$work/stranger.out"
    "$work/$1" connect shm 18515 <"$work/hold" >"$work/stranger.out" 2>"$work/stranger.err" &
    stranger=$!
    started="$started $stranger"
    exec 3>"$work/hold"
    rm "$work/hold"
    says stranger connected && says server 'has connected; it is not dat-ping' &&
        run 0 shm localhost -c 1
    found=$?
    exec 3>&-
    [ $found = 0 ] && ends "$stranger" && says server 'has gone ' 2 && run 0 shm localhost -c 1 &&
        kill -INT "$server" && ends "$server"
}

stranger_accepts()
{
    start stranger "$work/$1" accept shm 18515
    stranger=$pid
    says stranger listening && run 0 shm localhost && [ "$(lines 'has accepted a connection.*it is not dat-ping')" = 1 ] &&
        says stranger gone && ends "$stranger"
}

liar()
{
    start stranger "$work/$1" lie shm 18515
    stranger=$pid
    says stranger listening && run 1 shm localhost -c 2 -i 0 && [ "$(lines 'seq=[12] wrong: ')" = 2 ] || return 1
    for operation in send write read; do
        [ "$(lines "$operation: this side received a wrong byte 0")" = 2 ] || return 1
    done
    [ "$(lines '2 rounds, 2 complete, 2 with wrong bytes, 0.0 % lost')" = 1 ] && ends "$stranger"
}

slanderer()
{
    start server "$ping" shm
    server=$pid
    says server 'waiting for clients' && start stranger "$work/$1" slander shm 18515 && says stranger answered &&
        kill -INT "$server" && ends "$server" 1 && says server '^clients: 1, transfers: 1, wrong: 1$' && ends "$pid" &&
        says stranger gone
}

flooded_liar()
{
    start stranger "$work/$1" lie shm 18515
    stranger=$pid
    says stranger listening && run 1 shm localhost -c 20 -f && [ "$(lines 'seq=')" = 1 ] &&
        [ "$(lines '^the last of them: seq=20 wrong: ')" = 1 ] && [ "$(lines '^20 rounds, 20 complete, 20 with wrong')" = 1 ] &&
        ends "$stranger"
}

for program in connector.so.1 connector2.so.2; do
    case $program in
    *.1) version=1.2 udapl=12 ;;
    *) version=2.0 udapl=20 ;;
    esac
    if [ ! -e "$LIB/libdat${program#connector}" ]; then
        skip "programs of uDAPL $version" "there is no libdat${program#connector}"
        continue
    fi
    ok "a program of uDAPL $version can be built" compiled $program -DUDAPL=$udapl
    ok "a program of uDAPL $version that only connects to a server" stranger_connects $program
    ok "a program of uDAPL $version that only accepts a client" stranger_accepts $program
    ok "a program of uDAPL $version that sends wrong bytes is found out, byte by byte" liar $program
    ok "a flood tells of wrong bytes in its summary alone, uDAPL $version" flooded_liar $program
    ok "a server with wrong bytes of a client that is still connected: exit status 1, uDAPL $version" slanderer $program
done

# ---- What does not work ----

tells()
{
    run "$1" $2 && grep -q -e "$3" "$work/run.err"
}
ok 'no server listens: exit status 1, and what to start there' \
    tells 1 "shm $(hostname) -q 78" 'no server listens on qualifier 78.*is `dat-ping shm` running there, as this user'
ok 'a host that shm cannot reach' tells 1 'shm 203.0.113.9 -t 1' '^dat-ping: 203.0.113.9: .*; shm connects only processes of'
ok 'a host without an adapter' tells 1 '127.0.0.1' '^dat-ping: 127.0.0.1: no adapter has this name; for a host, write NAME HOST'
ok '--port is --qualifier' tells 1 'shm localhost -p 78' 'no server listens on qualifier 78'
ok 'a host without an address' tells 1 'shm host.invalid' 'host.invalid: cannot find the address'
ok 'an adapter that there is not' tells 1 'nothing --self' 'dat_ia_open: DAT_PROVIDER_NOT_FOUND'
ok 'a library that there is not' tells 1 '--self --library /nowhere/libdat.so.1' '/nowhere/libdat.so.1: cannot load the library'
ok 'transfers that are too long' tells 2 'shm --self --size 999999999' 'size'
ok 'no adapter' tells 2 '' 'NAME'
ok 'an unknown option' tells 2 '--nonsense' 'nonsense'

# one_document ARGUMENT...: runs dat-ping, whose output must be one document with the error. The error must also be on
# standard error.
one_document()
{
    run 1 --json "$@" && [ "$(lines .)" = 1 ] && [ "$(lines '^{.*"error":".*}$')" = 1 ] && grep -q '^dat-ping: ' "$work/run.err" ||
        return 1
    ! command -v python3 >/dev/null || python3 -c '
import json, sys
told = json.load(sys.stdin)
assert told["peer"] is None and told["address"] is None and told["rounds"] == [] and told["summary"]["complete"] == 0, told
error = open(sys.argv[1]).read().splitlines()[-1]
assert error == "dat-ping: " + told["error"], (error, told)' "$work/run.err" <"$work/run.out"
}
for arguments in 'shm localhost -q 78' 'shm host.invalid' 'shm 203.0.113.9 -t 1' 'nothing localhost' 'nothing --self' \
    '--self --library /nowhere/libdat.so.1'; do
    # shellcheck disable=SC2086
    ok "--json with an error: $arguments" one_document $arguments
done

echo "1..$number"
