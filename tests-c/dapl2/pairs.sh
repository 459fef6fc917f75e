# SPDX-License-Identifier: MIT OR Apache-2.0
#
# pairs.sh - what the scripts share that run Debian's programs of uDAPL 2.0, the binaries of its package dapl2-utils
# as they are. Their argument is an adapter; $DAT_TEST_LIBDIR has our libraries, and $DAT_TEST_DAPL2 the unpacked
# packages (see verbs/dapl2.sh).
#
# The programs tell by their output whether they have passed, hardly ever by their exit status; what they
# write is kept line by line.
set -u
# The programs use certain ports, over TCP a thousand consecutive ones. In a network of their own no other program has them.
case ${1-} in
verbs-*) ;;
*)
    [ "$(id -u)" -eq 0 ] && apart='unshare -n' || apart='unshare -rn'
    if [ -z "${OWN_NETWORK-}" ] && $apart ip link set lo up 2>/dev/null; then
        OWN_NETWORK=1 exec $apart sh -c 'ip link set lo up && exec sh "$@"' sh "$0" "$@"
    fi
    ;;
esac
LC_ALL=C
export LC_ALL
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG

if [ -z "${DAT_TEST_DAPL2:-}" ]; then
    echo '1..0 # SKIP DAT_TEST_DAPL2 does not name the packages of Debian'
    exit
fi
: "${DAT_TEST_SCALE:=1}"
ia=${1:?the name of an adapter}
ours=${DAT_TEST_LIBDIR:?the directory of the libraries}
theirs=$(dirname "$(find "$DAT_TEST_DAPL2/usr/lib" -name libdat2.so.2 | head -n 1)")
programs=$DAT_TEST_DAPL2/usr/bin
introduce=$(dirname "$ours")/dapl2/introduce
libraries=$ours # where the loader finds libdat2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
number=0 failed=0
patience=$(awk "BEGIN { print int(60 * $DAT_TEST_SCALE) }")

# What dtest transfers.
size=
# Debian's library serves its programs from entries that are not threadsafe.
case $ia in
verbs-*)
    # Buffers of 4 MiB, as by default, are more than the machine with the device has memory for.
    size='-b 262144'
    provider=$ours/libdaplverbs.so.2 instance="${ia#verbs-} 0"
    address=$(ip -4 -o address show dev "${ia#verbs-}" | awk '{ sub("/.*", "", $4); print $4; exit }')
    # The machine with the device may be emulated, and slow.
    endpoints=200
    ;;
tcp-*)
    provider=$ours/libdapltcp.so.2 instance="tcp ${ia#tcp-}"
    address=$(ip -4 -o address show dev "${ia#tcp-}" | awk '{ sub("/.*", "", $4); print $4; exit }')
    # Each endpoint has a descriptor.
    endpoints=200
    ;;
*) provider=$ours/libdaplshm.so.2 instance='' address=127.0.0.1 endpoints=1000 ;;
esac
conf=$work/dat.conf
: >"$work/remarks"
echo "$ia u2.0 nonthreadsafe default $provider dapl.2.0 \"$instance\" \"\"" >"$conf"

# What the programs write when they have passed.
done_dtest='DAPL Test Complete. PASSED'
done_dtestcm='DAPL Connection Test Complete'
done_dtestsrq='RC SRQ Test Complete'
done_dtestx='immed/atomic test PASSED'
done_dtestx_ud='UD test PASSED'
done_transaction='----- Stats ---- \|----- Test completed successfully'
done_performance='Bandwidth  '

# remark TEXT: a line for whoever reads of a failure, printed below the next result.
remark()
{
    echo "# $1" >>"$work/remarks"
}

# result STATUS NAME: one line of TAP, and the remarks.
result()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        failed=1
        echo "not ok $number - $2"
    fi
    cat "$work/remarks"
    : >"$work/remarks"
}

# told FILE: the end of what a program wrote, as remarks.
told()
{
    tail -n 25 "$1" | sed "s|^|# $(basename "$1"): |"
}

# at server|client: called before that end of a pair starts; wire.sh chooses its libraries here.
at() { :; }

# start FILE PROGRAM ARGUMENT...: runs a program in the background; its output goes into the file, and $pid
# is that of timeout(1), which ends it when it takes too long.
start()
{
    out=$1 program=$2
    shift 2
    : >"$out" # before anybody looks into it
    LD_LIBRARY_PATH=$libraries DAT_OVERRIDE=$conf \
        timeout --foreground -k 5 "${life:-$patience}" stdbuf -oL -eL "$programs/$program" "$@" >"$out" 2>&1 </dev/null &
    pid=$!
}

# ended PID NAME: waits for a program, and fails if time ran out or a signal ended it.
ended()
{
    wait "$1"
    status=$?
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        remark "$2: ran out of time after $patience seconds"
        return 1
    elif [ "$status" -gt 128 ] && [ "$status" -le 192 ]; then
        remark "$2: ended by signal $((status - 128))"
        return 1
    fi
}

# until_so PID COMMAND...: waits until the command succeeds, and fails when the program has ended or time is up.
until_so()
{
    program_pid=$1
    shift
    tries=$((patience * 20))
    while ! "$@" 2>/dev/null; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] && kill -0 "$program_pid" 2>/dev/null || return 1
        sleep 0.05
    done
}

# passed FILE TEXT: a program has written that text, and nothing of an error.
passed()
{
    grep -q -e "$2" "$1" && clean "$1"
}

# The TCP port at which dtest, dtestcm and dtestx tell their clients where they are.
listens()
{
    grep -qi ": [0-9A-F]*:3DD4 [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6
}

port_is_free()
{
    ! listens
}

# clean FILE: no line of it tells of an error. dtest -c uses one CNO for two EVDs, and wonders about the other.
clean()
{
    ! grep -v 'WARNING: CNO notification: without EVD?' "$1" | grep -Eiq '(^|[^a-z_])(err|error|fail|fails|failed|failure|mismatch|warning|unexpected|could not|can ?not|couldn.t)([^a-z_]|$)'
}

# introduced: the server of dtestx -v has made its service point, and its client can come.
introduced()
{
    until_so "$server_pid" listens || return
    : >"$work/introduce" # before anybody looks into it
    timeout -k 5 "$patience" "$introduce" "$work/server" 'waiting for connect[0] request' >"$work/introduce" 2>&1 &
    until_so "$server_pid" grep -q ready "$work/introduce"
}

# pair NAME READY PASSED SERVER -- CLIENT: runs both commands. READY is "listens", "introduced" or a text that the server
# writes when clients may come; PASSED is a text that both write when they have passed.
#
# Servers that listen on a TCP port tell the client there where they are, and make their service point after that.
# A client that is faster is refused, and does not try again. So the pair is.
pair()
{
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        try_pair "$@"
        # The refusal of a connection, or of datagrams.
        if [ $good -eq 0 ] || [ "$2" != listens ] || ! grep -q -e 0x4003 -e 0x40003 "$work/client"; then
            break
        fi
        remark "attempt $attempt: the client came before the service point"
        sleep 0.2
    done
    result $good "$1"
    if [ $good -ne 0 ]; then
        told "$work/server"
        told "$work/client"
    fi
}

try_pair()
{
    name=$1 ready=$2 text=$3
    shift 3
    server=
    while [ "$1" != -- ]; do
        server="$server $1"
        shift
    done
    shift
    at server
    # shellcheck disable=SC2086 # words are wanted
    start "$work/server" $server
    server_pid=$pid
    case $ready in
    listens) until_so "$server_pid" listens ;;
    introduced) introduced ;;
    *) until_so "$server_pid" grep -q -e "$ready" "$work/server" ;;
    esac || remark "$name: the server is not ready"
    at client
    start "$work/client" "$@"
    good=0
    ended "$pid" "$name: client" && passed "$work/client" "$text" || good=1
    # A server whose client is gone waits for ever.
    [ $good -eq 0 ] || kill "$server_pid" 2>/dev/null
    ended "$server_pid" "$name: server" && passed "$work/server" "$text" || good=1
    case $ready in listens | introduced) until_so $$ port_is_free ;; esac
}

# alone NAME PASSED PROGRAM ARGUMENT...: a program without a server.
alone()
{
    name=$1 text=$2
    shift 2
    at client
    start "$work/client" "$@"
    good=0
    ended "$pid" "$name" && passed "$work/client" "$text" || good=1
    result $good "$name"
    [ $good -eq 0 ] || told "$work/client"
}

# daplserver: starts the server of dapltest; daplclient NAME PASSED ARGUMENT... runs a client of it; quit NAME
# has it end.
daplserver()
{
    at server
    # It serves all clients that follow, each of which has its own limit.
    life=$((10 * patience))
    start "$work/dapltest" dapltest -T S -D "$ia"
    dapl_pid=$pid life=
    until_so "$dapl_pid" grep -q 'Service Point Ready' "$work/dapltest" || remark 'dapltest: the server is not ready'
}

daplclient()
{
    name=$1 text=$2 kind=$3
    shift 3
    alone "$name" "$text" dapltest -T "$kind" -s "$address" -D "$ia" "$@"
}

daplquit()
{
    alone "$1: the client asks the server to end" 'End of Work' dapltest -T Q -s "$address" -D "$ia"
    good=0
    ended "$dapl_pid" "$1: server" && passed "$work/dapltest" 'Service Point Ready' || good=1
    result $good "$1: the server ends, without an error"
    [ $good -eq 0 ] || told "$work/dapltest"
}

# datagrams: whether the adapter has them, by its attributes; if not, a line of TAP says that $1 is skipped.
datagrams()
{
    start "$work/attributes" dtestx -P "$ia" -q
    ended "$pid" 'dtestx -q'
    grep -q 'DAT_IB_UD=TRUE' "$work/attributes" && return
    number=$((number + 1))
    echo "ok $number - $1 # SKIP the adapter has no datagrams"
    return 1
}

# What is tried with either libdat2, named in $1.
with_library()
{
    # shellcheck disable=SC2086 # words are wanted
    pair "$1: dtest" listens "$done_dtest" \
        dtest -P "$ia" -s $size -- dtest -P "$ia" -h localhost $size
    pair "$1: dtestcm: $endpoints endpoints" listens "$done_dtestcm" \
        dtestcm -P "$ia" -c $endpoints -- dtestcm -P "$ia" -c $endpoints -h localhost
    pair "$1: dtestsrq: 10 endpoints, bursts of 10" 'ready on port' "$done_dtestsrq" \
        dtestsrq -P "$ia" -c 10 -B 10 -- dtestsrq -P "$ia" -h "$address" -c 10 -B 10
    pair "$1: dtestx: immediate data and atomics" listens "$done_dtestx" \
        dtestx -P "$ia" -s -- dtestx -P "$ia" -c -h localhost
    if datagrams "$1: dtestx -u, dtestcm -u, dtestsrq -u"; then
        pair "$1: dtestx -u: datagrams of 4 endpoints" introduced "$done_dtestx_ud" \
            dtestx -P "$ia" -u -s -v -- dtestx -P "$ia" -u -c -h localhost
        pair "$1: dtestcm -u: $endpoints endpoints of datagrams" listens "$done_dtestcm" \
            dtestcm -P "$ia" -u -c $endpoints -- dtestcm -P "$ia" -u -c $endpoints -h localhost
        pair "$1: dtestsrq -u: 10 endpoints of datagrams, bursts of 10" 'ready on port' 'UD SRQ Test Complete' \
            dtestsrq -P "$ia" -u -c 10 -B 10 -- dtestsrq -P "$ia" -u -h "$address" -c 10 -B 10
    fi
    alone "$1: dtestx -q: attributes without an open adapter" 'DAT_IB_TRANSPORT_MTU=[1-9]' \
        dtestx -P "$ia" -q
    daplserver
    daplclient "$1: dapltest: transactions, data compared" "$done_transaction" T -i 100 -V \
        client SR 4096 2 server SR 4096 2 client RW 8192 1 server RR 4096 1
    daplquit "$1: dapltest"
}

# The end of a script.
finish()
{
    echo "1..$number"
    exit $failed
}
