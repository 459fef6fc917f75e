#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# processes.sh - dat-info --processes. Prints TAP; all.sh sets $BIN and $LIB.
set -u
LC_ALL=C NO_COLOR=1
export LC_ALL NO_COLOR
unset DAT_DBG_TYPE DAPL_DBG_TYPE RUST_LOG LD_PRELOAD

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d) || exit 2
started=
clean_up()
{
    for pid in $started; do
        kill -KILL "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 2' HUP INT TERM
LD_LIBRARY_PATH=$LIB
DAT_OVERRIDE=$work/dat.conf
export LD_LIBRARY_PATH DAT_OVERRIDE
. "$here/../common/tap.sh"

# The name of the adapter of tcp, which no other test uses.
net=net$$
# Another user must be able to enter the directory.
chmod 755 "$work"
# conf DIRECTORY: writes a configuration with this rendezvous directory.
conf()
{
    cat >"$DAT_OVERRIDE" <<END
shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 "$1" ""
shm u2.0 threadsafe default libdaplshm.so.2 libdat.2.0 "$1" ""
$net u1.2 threadsafe default libdapltcp.so.1 libdat.1.2 "tcp lo" ""
END
    chmod 644 "$DAT_OVERRIDE"
}
mkdir -m 700 "$work/meet"
conf "$work/meet"

# start NAME COMMAND...: starts a program with its output in NAME.out and NAME.err; sets $pid.
start()
{
    name=$1
    shift
    # An earlier process with this name may have left output for `await`.
    rm -f "$work/$name.out"
    "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null &
    pid=$!
    started="$started $pid"
}

# shows EXPRESSION: waits until the expression is true. `p` maps pids to the processes below $work and those over tcp,
# `a` to their first adapters, and `e` to the first endpoints of these.
shows()
{
    tries=0
    until "$BIN/dat-info" --processes --json >"$work/info.out" && python3 - "$work" "$net" "$1" <<'END'
import json, sys
work, net, wanted = sys.argv[1:]
p = {o["pid"]: o for o in json.load(open(work + "/info.out"))["processes"] if (o["directory"] or "").startswith(work) or
     o["adapters"] and o["adapters"][0]["name"] == net}
a = {pid: o["adapters"][0] for pid, o in p.items() if o["adapters"]}
e = {pid: adapter["endpoints"][0] for pid, adapter in a.items() if adapter["endpoints"]}
sys.exit(not eval("(%s)" % wanted))
END
    do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || { echo "# never: $1"; cat "$work/info.out"; return 1; }
        sleep 0.05
    done
}

# sends PID: prints the number of sends in the last output.
sends()
{
    python3 -c 'import json, sys; print([o["adapters"][0]["sends"] for o in json.load(open(sys.argv[1]))["processes"]
        if o["pid"] == int(sys.argv[2])][0])' "$work/info.out" "$1"
}

ok 'nobody: no process, and status 0' shows 'p == {}'

# Create entries of the rendezvous directory that are no sockets.
mkdir "$work/meet/p-1-0123456789abcdef"
: >"$work/meet/p-2-0123456789abcdef"
ln -s /dev/zero "$work/meet/p-3-0123456789abcdef"

start server "$BIN/dat-ping" shm
server=$pid
ok 'a server: one adapter without connections' shows \
    "list(p) == [$server] and len(p[$server]['adapters']) == 1 and a[$server]['connections'] == 0"
start client "$BIN/dat-ping" shm localhost --interval 0.01
client=$pid
ok 'a server and its client: name, version, command, and as many connections' shows \
    "sorted(p) == sorted([$server, $client]) and all(p[i]['command'] == 'dat-ping' and a[i]['name'] == 'shm' and
    a[i]['version'] == '1.2' for i in p) and a[$server]['connections'] == a[$client]['connections'] > 0"

grows()
{
    shows "all(a[i][n] > 0 for i in ($server, $client) for n in ('sends', 'send_bytes', 'receives', 'receive_bytes'))" &&
        shows "min(a[i]['sends'] for i in a) > $(sends "$client") + 10"
}
ok 'messages and bytes of both grow' grows

# has PATTERN...: checks that each pattern is in the last table.
has()
{
    for pattern; do
        grep -qE -- "$pattern" "$work/table.out" || return 1
    done
}

# prints OPTION PATTERN...: waits until each pattern is in the tables of dat-info --processes OPTION.
prints()
{
    option=$1
    shift
    tries=0
    until "$BIN/dat-info" --processes $option >"$work/table.out" && has "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || { cat "$work/table.out"; return 1; }
        sleep 0.05
    done
}

# Checks the table. Columns: process, command, user, adapter, version, connections, made, failed, sent, received,
# stalls, lost, direct, age.
table()
{
    bytes='[1-9][0-9.]* [KM]*i*B'
    row="+dat-ping +$(id -un) +shm +1\.2 +[1-9] +[1-9] +0 +[1-9][0-9]* +$bytes +[1-9][0-9]* +$bytes +[0-9]+/[0-9]+ +0"
    row="$row +(yes|no:[a-z]+) +[0-9:]+\$"
    prints '' "^$server $row" "^$client $row" \
        '^PID +COMMAND +USER +ADAPTER +API +CONNECTIONS +MADE +FAILED +SENT +BYTES +RECEIVED +BYTES +STALLS +LOST +DIRECT +AGE$'
}
ok 'the table for people' table

# A stopped process cannot respond. The other process waits for it.
stopped()
{
    kill -STOP "$client"
    shows "p[$client]['adapters'] is None and p[$client]['stopped'] and $server in a and not p[$server]['stopped']" &&
        prints '' "^$client +dat-ping +[^ ]+ +stopped +-"
    found=$?
    kill -CONT "$client"
    [ $found = 0 ] && shows "$client in a"
}
ok 'a stopped process is shown as stopped' stopped

# await FILE PATTERN: waits until the file in $work contains a line.
await()
{
    tries=0
    until grep -qsE "$2" "$work/$1"; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || { echo "# $1 never had: $2"; cat "$work/$1"; return 1; }
        sleep 0.05
    done
}
# Checks the rates of the client, with a line for each of its connections.
rates()
{
    start watch "$BIN/dat-info" --processes --watch=0.2
    await watch.out "^$client +shm +0x[0-9a-f]+ +pid $server +(direct|ring:[a-z]+) .* [1-9][0-9]* +[1-9][0-9.]* [KM]*i*B "
}
ok '--watch shows rates' rates

new_version()
{
    ${CC:-cc} -std=c99 -O1 -DUDAPL=20 -I"$root/include" -I"$root/tests-c" -o "$work/connector" "$here/connector.c" \
        "$LIB/libdat2.so.2" || return 1
    start new "$work/connector" accept shm 18516
    shows "a[$pid]['version'] == '2.0' and p[$pid]['command'] == 'connector'"
}
ok 'a program of uDAPL 2.0' new_version

# Without an obstacle, the processes copy directly, else both report the same one.
direct()
{
    shows "all(a[i]['peers'] == 1 and a[i]['direct_peers'] == (a[i]['obstacle'] is None) for i in ($server, $client))"
}
ok 'both copy directly, or report the obstacle' direct

srq()
{
    shows "any(end['srq'] and end['srq_receives'] is not None for end in a[$server]['endpoints'])" &&
        prints '' "^$server +shm +0x[0-9a-f]+ +connected +pid $client .* SRQ [0-9]+ "
}
ok 'an endpoint with a shared receive queue shows its receives' srq

unwanted()
{
    start unwanted env DAT_SHM_VM=0 "$BIN/dat-ping" shm localhost --interval 0.01
    one=$pid
    shows "a[$one]['obstacle'] == 'DAT_SHM_VM' and a[$one]['peers'] == 1 and a[$one]['direct_peers'] == 0 and
    a[$server]['peers'] == 2 and a[$server]['obstacle'] in ('peer', a[$client]['obstacle'] or 'peer') and
    a[$server]['direct_peers'] == (a[$client]['obstacle'] is None)"
    found=$?
    kill -KILL "$one"
    return $found
}
ok 'DAT_SHM_VM=0 is the obstacle of the process and of its peer' unwanted

overflown()
{
    ${CC:-cc} -std=c99 -O1 -DUDAPL=12 -I"$root/include" -I"$root/tests-c" -o "$work/overflow" "$here/connector.c" \
        "$LIB/libdat.so.1" || return 1
    mkfifo "$work/input"
    sleep 60 >"$work/input" &
    started="$started $!"
    "$work/overflow" overflow shm 18517 <"$work/input" >"$work/overflow.out" 2>&1 &
    pid=$!
    started="$started $pid"
    shows "a[$pid]['events_lost'] == 1"
}
ok 'a connection request for which there was no room is lost' overflown

# hold NAME COMMAND ARGUMENT...: starts connector with a standard input without an end; sets $pid.
hold()
{
    name=$1
    shift
    rm -f "$work/$name.out"
    sleep 60 | "$work/hang" "$@" >"$work/$name.out" 2>&1 &
    pid=$!
    started="$started $pid"
}

# connect ADAPTER QUALIFIER COMMAND: starts $receiver with this command, and $sender, which sends it a message.
connect()
{
    [ -x "$work/hang" ] || ${CC:-cc} -std=c99 -O1 -DUDAPL=12 -I"$root/include" -I"$root/tests-c" -o "$work/hang" \
        "$here/connector.c" "$LIB/libdat.so.1" || return 1
    start receiver "$work/hang" "$3" "$1" "$2"
    receiver=$pid
    await receiver.out listening || return 1
    hold sender send "$1" "$2"
    sender=$pid
    await sender.out connected
}

# hang ADAPTER QUALIFIER PATH: starts two processes, one of which sends a message without a receive.
hang()
{
    connect "$1" "$2" accept || return 1
    shows "[i for i in e if i != $receiver and a[i]['name'] == '$1' and e[i]['outstanding_requests'] == 1 and
        p[i]['command'] == 'hang'] and e[$receiver]['message_waits'] and e[$receiver]['path'] $3 and
        e[$receiver]['state'] == 'DAT_EP_STATE_CONNECTED'" || return 1
    shows "(e[$receiver]['process'], e[$receiver]['waits_for']) == ($sender, 'a receive') and
        (e[$sender]['process'], e[$sender]['waits_for']) == ($receiver, 'a receive of the peer')" || return 1
    prints '' "^$receiver +$1 +0x[0-9a-f]+ +connected +pid $sender .* a receive\$" \
        "^$sender +$1 +0x[0-9a-f]+ +connected +pid $receiver .* a receive of the peer\$" || return 1
    kill -STOP "$receiver"
    prints '' "^$sender +$1 +0x[0-9a-f]+ +connected +pid $receiver .* the peer, which is stopped\$"
    found=$?
    kill -CONT "$receiver"
    return $found
}

ok 'shm: two processes that hang: one waits for a receive of the other' hang shm 18518 "in ('direct', 'ring')"
ok 'tcp: two processes that hang: one waits for a receive of the other' hang "$net" 18519 "== 'socket'"

queues()
{
    prints --all "^$receiver +$net +EVD +0x[0-9a-f]+ +cr +[1-9][0-9]* +0 +0 +-\$" \
        "^$receiver +$net +EVD +0x[0-9a-f]+ +connection +[1-9][0-9]* +0 +0 +a thread waits\$"
}
ok '--all shows the queues' queues

neglected()
{
    connect "$1" "$2" neglect &&
        shows "['dto'] in [q['streams'] for q in a[$receiver]['queues'] if q['filled'] == 1 and not q['has_waiter']] and
            e[$receiver]['waits_for'] is None" &&
        prints '' "^$receiver +$1 +EVD +0x[0-9a-f]+ +dto +[1-9][0-9]* +1 +0 +no thread waits on it\$" &&
        ! has "^$receiver +$1 +EVD .* 0 +0 "
}
ok 'shm: events that the program does not dequeue' neglected shm 18520
ok 'tcp: events that the program does not dequeue' neglected "$net" 18521

unaccepted()
{
    hold holder hold "$1" "$2"
    await holder.out listening || return 1
    hold caller connect "$1" "$2"
    shows "e[$pid]['waits_for'] == 'the peer to accept'" &&
        prints '' "^$pid +$1 +0x[0-9a-f]+ +active_connection_pending .* the peer to accept\$"
}
ok 'shm: a connection request that the program does not accept' unaccepted shm 18522
ok 'tcp: a connection request that the program does not accept' unaccepted "$net" 18523

# refuses TEXT ARGUMENT...: checks that dat-info rejects the arguments, and shows how to write them.
refuses()
{
    text=$1
    shift
    "$BIN/dat-info" "$@" >"$work/refused.out" 2>&1
    [ $? = 2 ] && grep -qF -- "$text" "$work/refused.out" && grep -qF -- '--processes --watch[=SECONDS]' "$work/refused.out" &&
        ! grep -q -- '--processes.*NAME]$' "$work/refused.out"
}
usage()
{
    refuses "--processes' cannot" --processes shm && refuses "cannot be used with '--json'" --processes --watch=1 --json &&
        refuses "--processes' cannot" --processes --watch 1 && refuses required --watch
}
ok 'arguments that --processes and --watch exclude' usage

killed()
{
    kill -KILL "$client" && wait "$client"
    shows "$client not in p and a[$server]['connections'] == 0 and a[$server]['sends'] > 0 and
    a[$server]['established'] > 0"
}
ok 'a client that is killed is gone, and with it the connections of the server' killed

another_user()
{
    mkdir -m 700 "$work/theirs" && chown 65534 "$work/theirs" && conf "$work/theirs" || return 1
    start their setpriv --reuid=65534 --clear-groups "$BIN/dat-ping" shm
    shows "p[$pid]['user'] == 65534 and a[$pid]['name'] == 'shm'"
}
if [ "$(id -u)" -ne 0 ]; then
    conf /
    ok 'the directory of another user: nobody' shows 'p == {}'
else
    ok 'root sees the process of another user' another_user
    unentitled()
    {
        start tcp "$BIN/dat-ping" "$net"
        shows "'$net' == a[$pid]['name']" &&
            setpriv --reuid=65533 --clear-groups "$BIN/dat-info" --processes --json >"$work/info.out" &&
            grep -q '"processes": \[\]' "$work/info.out"
    }
    ok 'another user does not see a process of root' unentitled
fi

echo "1..$number"
exit $failed
