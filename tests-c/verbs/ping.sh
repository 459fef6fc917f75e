#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# ping.sh ADAPTER - dat-ping on a device, between two devices if there are two, and with programs that only connect: one with
# our libraries, and one of uDAPL 2.0 with the C implementation in $DAT_TEST_DAPL2. $BIN contains the tools. Prints TAP.
set -u
LC_ALL=C NO_COLOR=1
export LC_ALL NO_COLOR
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG

ia=${1:?the name of an adapter}
ours=${DAT_TEST_LIBDIR:?the directory of the libraries}
: "${DAT_TEST_SCALE:=1}" "${DAT_TEST_DAPL2:=}"
ping=${BIN:-}/dat-ping
programs=$(dirname "$ours")/verbs
if [ ! -x "$ping" ]; then
    echo '1..0 # SKIP BIN does not name the folder of dat-ping'
    exit
fi
work=$(mktemp -d) || exit 1
pid=
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null; rm -rf "$work"' EXIT
. "$(dirname "$0")/../common/tap.sh"
. "$(dirname "$0")/../common/device.sh"

# start NAME COMMAND...: runs a program in the background with its output in NAME.out. Sets $pid.
start()
{
    out=$1
    shift
    # Discards an earlier program's output, for which says() must not search.
    : >"$work/$out.out"
    "$@" >"$work/$out.out" 2>&1 </dev/null &
    pid=$!
}

# says NAME PATTERN: waits until a line of NAME.out matches.
says()
{
    tries=0
    until grep -q -e "$2" "$work/$1.out"; do
        tries=$((tries + 1))
        [ $tries -lt $((patience * 5)) ] || { echo "# $1 does not say \"$2\""; return 1; }
        sleep 0.2
    done
}

# run ARGUMENT...: dat-ping exits with 0, with its output in run.out.
run()
{
    timeout "$patience" "$ping" "$@" --timeout "$patience" >"$work/run.out" 2>&1
}

complete()
{
    grep -q "^$1 rounds*, $1 complete, 0.0 % lost" "$work/run.out"
}

both_in_one()
{
    run "$ia" --self --count 3 --interval 0 && complete 3 &&
        [ "$(grep -c 'seq=[123] send=.* write=.* read=.* srq=' "$work/run.out")" = 3 ]
}
ok 'dat-ping --self: all four operations' both_in_one

served()
{
    start server "$ping" "$other" && says server 'waiting for clients' &&
        run "$ia" "$address" --count 3 --interval 0 && complete 3 &&
        run "$ia" "$address" --count 2 --flood --size 20000 && complete 2 &&
        says server 'has gone .* after 60 transfers, 0 of them wrong'
}
ok "server on $other, client on $ia" served

# strange_client PROGRAM: the program connects to the server, and exits at the end of its standard input.
strange_client()
{
    timeout "$patience" "$1" connect "$ia" 18515 "$address" </dev/null >"$work/stranger.out" 2>&1 &&
        says server 'it is not dat-ping' && run "$ia" "$address" --count 1 && complete 1
}

# strange_server PROGRAM: the program accepts a client, and waits until it disconnects.
strange_server()
{
    start stranger timeout "$patience" "$1" accept "$other" 18515 && says stranger listening && run "$ia" "$address" &&
        grep -q 'has accepted a connection.*it is not dat-ping' "$work/run.out" && wait "$pid" && says stranger gone
}

# Debian's libraries. They need entries that are not threadsafe.
theirs=${DAT_TEST_DAPL2:+$(dirname "$(find "$DAT_TEST_DAPL2/usr/lib" -name libdat2.so.2 2>/dev/null | head -n 1)")}
for name in "$ia" "$other"; do
    echo "$name u2.0 nonthreadsafe default $theirs/libdaplofa.so.2 dapl.2.0 \"${name#verbs-} 0\" \"\""
done >"$work/their.conf"
cat >"$work/theirs" <<END
#!/bin/sh
DAT_OVERRIDE='$work/their.conf' LD_LIBRARY_PATH='$theirs' exec '$programs/connector2' "\$@"
END
chmod +x "$work/theirs"

ok 'a program that only connects to a server' strange_client "$programs/connector"
if [ -x "$programs/connector2" ]; then
    ok 'a program of the C implementation that only connects to a server' strange_client "$work/theirs"
else
    skip 'a program of the C implementation that only connects to a server' 'DAT_TEST_DAPL2 does not name it'
fi
kill -INT "$pid" && wait "$pid"
ok 'the server has ended well' says server '^clients: [0-9]*, transfers: [0-9]*, wrong: 0$'
ok 'a program that only accepts a client' strange_server "$programs/connector"
if [ -x "$programs/connector2" ]; then
    ok 'a program of the C implementation that only accepts a client' strange_server "$work/theirs"
else
    skip 'a program of the C implementation that only accepts a client' 'DAT_TEST_DAPL2 does not name it'
fi
pid=
echo "1..$number"
