# SPDX-License-Identifier: MIT OR Apache-2.0
#
# pairs.sh - shared by the scripts that run Debian's uDAPL 2.0 programs, the unmodified binaries of dapl2-utils. Their
# argument is an adapter. $DAT_TEST_LIBDIR contains our libraries, $DAT_TEST_DAPL2 the unpacked packages
# (verbs/dapl2.sh).
#
# The programs report success in their output, rarely in their exit status.
set -u
# The programs use fixed ports, over TCP 1000 consecutive ports from 45248 on. In a separate network namespace they are
# free, if the kernel selects others for outgoing connections.
case ${1-} in
verbs-*) ;;
*)
    [ "$(id -u)" -eq 0 ] && apart='unshare -n' || apart='unshare -rn'
    if [ -z "${OWN_NETWORK-}" ] && $apart ip link set lo up 2>/dev/null; then
        OWN_NETWORK=1 exec $apart sh -c 'ip link set lo up || exit
            echo 50000 60999 >/proc/sys/net/ipv4/ip_local_port_range
            exec sh "$@"' sh "$0" "$@"
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
libraries=$ours # directory of libdat2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
number=0 failed=0
timeout_s=$(awk "BEGIN { print int(60 * $DAT_TEST_SCALE) }")

# Options for the size of dtest's transfers.
size=
# Debian's libdat2 needs entries that are not threadsafe.
case $ia in
verbs-*)
    # The default buffers of 4 MiB exceed the memory of the virtual machine.
    size='-b 262144'
    provider=$ours/libdaplverbs.so.2 instance="${ia#verbs-} 0"
    address=$(ip -4 -o address show dev "${ia#verbs-}" | awk '{ sub("/.*", "", $4); print $4; exit }')
    # The virtual machine may be slow.
    endpoints=200
    ;;
tcp-*)
    provider=$ours/libdapltcp.so.2 instance="tcp ${ia#tcp-}"
    address=$(ip -4 -o address show dev "${ia#tcp-}" | awk '{ sub("/.*", "", $4); print $4; exit }')
    # Each endpoint needs a descriptor.
    endpoints=200
    ;;
*) provider=$ours/libdaplshm.so.2 instance='' address=127.0.0.1 endpoints=1000 ;;
esac
conf=$work/dat.conf
: >"$work/remarks"
echo "$ia u2.0 nonthreadsafe default $provider dapl.2.0 \"$instance\" \"\"" >"$conf"

# What the programs print after success.
done_dtest='DAPL Test Complete. PASSED'
done_dtestcm='DAPL Connection Test Complete'
done_dtestsrq='RC SRQ Test Complete'
done_dtestx='immed/atomic test PASSED'
done_dtestx_ud='UD test PASSED'
done_transaction='----- Stats ---- \|----- Test completed successfully'
done_performance='Bandwidth  '

# remark TEXT: adds a line to the next result.
remark()
{
    echo "# $1" >>"$work/remarks"
}

# result STATUS NAME: prints a test and its remarks.
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

# show_output FILE: prints the end of a program's output as remarks.
show_output()
{
    tail -n 25 "$1" | sed "s|^|# $(basename "$1"): |"
}

# at server|client: called before that end of a pair starts. wire.sh selects its libraries here.
at() { :; }

# start FILE PROGRAM ARGUMENT...: runs a program in the background with its output in FILE. $pid is the pid of
# timeout(1), which ends it after the limit.
start()
{
    out=$1 program=$2
    shift 2
    : >"$out" # before it is read
    LD_LIBRARY_PATH=$libraries DAT_OVERRIDE=$conf \
        timeout --foreground -k 5 "${life:-$timeout_s}" stdbuf -oL -eL "$programs/$program" "$@" >"$out" 2>&1 </dev/null &
    pid=$!
}

# ended PID NAME: waits for a program. Fails if a timeout or a signal has ended the program.
ended()
{
    wait "$1"
    status=$?
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        remark "$2: ran out of time after $timeout_s seconds"
        return 1
    elif [ "$status" -gt 128 ] && [ "$status" -le 192 ]; then
        remark "$2: ended by signal $((status - 128))"
        return 1
    fi
}

# until_so PID COMMAND...: waits until COMMAND succeeds. Fails if the program ends or after a timeout.
until_so()
{
    program_pid=$1
    shift
    tries=$((timeout_s * 20))
    while ! "$@" 2>/dev/null; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] && kill -0 "$program_pid" 2>/dev/null || return 1
        sleep 0.05
    done
}

# passed FILE TEXT: succeeds if the output contains TEXT and no error.
passed()
{
    grep -q -e "$2" "$1" && clean "$1"
}

# Succeeds if a process listens at the TCP port at which dtest, dtestcm and dtestx send their addresses to clients.
listens()
{
    grep -qi ": [0-9A-F]*:3DD4 [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6
}

port_is_free()
{
    ! listens
}

# clean FILE: succeeds if no line reports an error. Permits the warning of dtest -c, which uses one CNO for two EVDs.
clean()
{
    ! grep -v 'WARNING: CNO notification: without EVD?' "$1" | grep -Eiq '(^|[^a-z_])(err|error|fail|fails|failed|failure|mismatch|warning|unexpected|could not|can ?not|couldn.t)([^a-z_]|$)'
}

# introduced: starts introduce, and waits until the server of dtestx -v has created its service point.
introduced()
{
    until_so "$server_pid" listens || return
    : >"$work/introduce" # before it is read
    timeout -k 5 "$timeout_s" "$introduce" "$work/server" 'waiting for connect[0] request' >"$work/introduce" 2>&1 &
    until_so "$server_pid" grep -q ready "$work/introduce"
}

# pair NAME READY PASSED SERVER -- CLIENT: runs both commands. READY is "listens", "introduced", or a text that the
# server prints before clients may connect. PASSED is a text that both print after success.
#
# Servers at a TCP port create their service point after they have sent their address. A client that connects earlier is
# rejected and does not retry, so the pair is repeated.
pair()
{
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        try_pair "$@"
        # The numbers of the event of a rejected connection, for connections and for datagrams.
        if [ $good -eq 0 ] || [ "$2" != listens ] || ! grep -q -e 0x4003 -e 0x40003 "$work/client"; then
            break
        fi
        remark "attempt $attempt: the client came before the service point"
        sleep 0.2
    done
    result $good "$1"
    if [ $good -ne 0 ]; then
        show_output "$work/server"
        show_output "$work/client"
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
    # A server without its client waits indefinitely.
    [ $good -eq 0 ] || kill "$server_pid" 2>/dev/null
    ended "$server_pid" "$name: server" && passed "$work/server" "$text" || good=1
    case $ready in listens | introduced) until_so $$ port_is_free ;; esac
}

# alone NAME PASSED PROGRAM ARGUMENT...: runs a program without a server. Over TCP, its fixed ports are among those that
# the kernel gives to other programs, so it runs again, up to 60 times, while one of them is in use.
alone()
{
    name=$1 text=$2 runs=0
    shift 2
    at client
    while :; do
        start "$work/client" "$@"
        good=0 runs=$((runs + 1))
        ended "$pid" "$name" && passed "$work/client" "$text" || good=1
        grep -q DAT_CONN_QUAL_IN_USE "$work/client" && [ $runs -lt 60 ] || break
        sleep 1
    done
    result $good "$name"
    [ $good -eq 0 ] || show_output "$work/client"
}

# daplserver: starts the server of dapltest. daplclient NAME PASSED ARGUMENT...: runs a client. daplquit NAME: ends the
# server.
daplserver()
{
    at server
    # All following clients use this server, each with its own limit.
    life=$((10 * timeout_s))
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
    [ $good -eq 0 ] || show_output "$work/dapltest"
}

# supports ATTRIBUTE NAME: succeeds if the adapter has this named attribute with the value TRUE. Otherwise skips the test
# NAME. The C library's provider has the value TRUE on each device.
supports()
{
    LD_LIBRARY_PATH=$ours DAT_OVERRIDE=$work/dat.conf \
        timeout "$timeout_s" "$programs/dtestx" -P "$ia" -q >"$work/attributes" 2>&1 </dev/null
    grep -q "$1=TRUE" "$work/attributes" && return
    number=$((number + 1))
    echo "ok $number - $2 # SKIP the adapter lacks $1"
    return 1
}

# immediate NAME: immediate data and atomics.
immediate()
{
    ! supports DAT_IB_IMMED_DATA "$1: dtestx: immediate data and atomics" ||
        pair "$1: dtestx: immediate data and atomics" listens "$done_dtestx" \
            dtestx -P "$ia" -s -- dtestx -P "$ia" -c -h localhost
}

# with_library NAME: runs the tests that each libdat2 must pass.
with_library()
{
    # shellcheck disable=SC2086 # words are wanted
    pair "$1: dtest" listens "$done_dtest" \
        dtest -P "$ia" -s $size -- dtest -P "$ia" -h localhost $size
    pair "$1: dtestcm: $endpoints endpoints" listens "$done_dtestcm" \
        dtestcm -P "$ia" -c $endpoints -- dtestcm -P "$ia" -c $endpoints -h localhost
    pair "$1: dtestsrq: 10 endpoints, bursts of 10" 'ready on port' "$done_dtestsrq" \
        dtestsrq -P "$ia" -c 10 -B 10 -- dtestsrq -P "$ia" -h "$address" -c 10 -B 10
    immediate "$1"
    if supports DAT_IB_UD "$1: dtestx -u, dtestcm -u, dtestsrq -u"; then
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

finish()
{
    echo "1..$number"
    exit $failed
}
