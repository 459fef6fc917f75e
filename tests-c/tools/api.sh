#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# api.sh - the tools as programs of uDAPL 1.2 and 2.0, also with each other. Prints TAP; all.sh sets $BIN and $LIB.
set -u
work=$(mktemp -d) || exit 2
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
mkdir -m 700 "$work/meet"
. "$(dirname "$0")/../common/tap.sh"
. "$(dirname "$0")/../common/said.sh"

# run STATUS TOOL ARGUMENT...: runs the tool, which must exit with STATUS. Its output is in $work/out.
run()
{
    wanted=$1
    tool=$2
    shift 2
    timeout 60 "$BIN/$tool" "$@" >"$work/out" 2>&1 </dev/null
    got=$?
    [ $got -eq "$wanted" ] || { echo "exit status $got, not $wanted:"; cat "$work/out"; return 1; }
}

# listens: waits up to a minute until the server has printed that it waits for clients.
listens()
{
    for _ in $(seq 600); do
        ! grep -q 'waiting\|listen' "$work/server" || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    cat "$work/server"
    return 1
}

# between SERVER CLIENT TOOL ARGUMENT...: runs a server and a client of these versions.
between()
{
    of_server=$1
    of_client=$2
    tool=$3
    shift 3
    # Without a terminal, the server of dat-perf prints only with --verbose.
    verbose=
    [ "$tool" = dat-ping ] || verbose=--verbose
    # shellcheck disable=SC2086 # no argument, or one
    "$BIN/$tool" shm --api "$of_server" $verbose >"$work/server" 2>&1 </dev/null &
    server=$!
    listens && run 0 "$tool" shm 127.0.0.1 --api "$of_client" "$@"
    result=$?
    kill "$server" 2>/dev/null
    wait "$server" 2>/dev/null
    server=
    return $result
}

printf '%s "%s" ""\n' 'shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2' "$work/meet" \
    'shm u2.0 threadsafe default libdaplshm.so.2 libdat.2.0' "$work/meet" \
    'new u2.0 threadsafe default libdaplshm.so.2 libdat.2.0' "$work/meet" >"$work/dat.conf"
export DAT_OVERRIDE="$work/dat.conf"

# ---- dat-info ----

ok 'dat-info: status 0' run 0 dat-info
ok 'dat-info: the adapters of both versions in one table' says "$work/dat.conf:1" "$work/dat.conf:2" "$work/dat.conf:3"
ok 'dat-info --api 2.0: status 0' run 0 dat-info --api 2.0
ok 'dat-info --api 2.0: those of 2.0 alone' says 'libdaplshm.so.2' "$work/dat.conf:3"
ok 'dat-info --api 2.0: none of 1.2' never_says 'libdaplshm.so.1'
ok 'dat-info --api 3.0: status 2' run 2 dat-info --api 3.0
ok 'dat-info --api 2.0 shm: status 0' run 0 dat-info --api 2.0 shm
ok 'dat-info --api 2.0 shm: its attributes, with those of this version' says 'Largest message' 'of uDAPL 2.0' \
    'Regions may be zero-based' 'Version of the interface                              2.0'
ok 'dat-info --api 1.2 shm: status 0' run 0 dat-info --api 1.2 shm
ok 'dat-info --api 1.2 shm: without these' never_says 'zero-based'
ok 'dat-info new: status 0, by the version that has it' run 0 dat-info new
ok 'dat-info --library of 2.0: status 0' run 0 dat-info --library "$LIB/libdat2.so.2" --explain shm
ok 'dat-info --library of 2.0: it is seen for what it is' says 'libdat2.so.2' 'programs of uDAPL 2.0' 'it opens'
ok 'dat-info --library of the other version: status 1' run 1 dat-info --library "$LIB/libdat2.so.2" --api 1.2
ok 'dat-info --library of the other version: it says so' says 'it is a library of uDAPL 2.0, not 1.2'
ok 'dat-info --explain shm: status 0' run 0 dat-info --explain shm
ok 'dat-info --explain shm: for programs of both versions' says 'dat_ia_open "shm", version 1.2' 'dat_ia_open "shm", version 2.0'

mkdir "$work/lib"
cp "$LIB/libdat2.so.2" "$LIB/libdaplshm.so.2" "$work/lib"
if ldconfig -p 2>/dev/null | grep -q 'libdat\.so\.1 '; then
    skip 'a host with 2.0 alone' 'the loader knows a libdat.so.1'
else
    # The copied tool finds no library next to itself.
    alone() { cp "$BIN/$1" "$work" && (BIN=$work LD_LIBRARY_PATH=$work/lib run 0 "$@"); }
    ok 'a host with 2.0 alone, dat-info: status 0' alone dat-info
    ok 'a host with 2.0 alone, dat-info: its adapters, and that 1.2 is not there' says "$work/dat.conf:2" \
        'libdat.so.1: cannot load the library'
    ok 'a host with 2.0 alone, dat-ping: status 0' alone dat-ping shm --self --count 1
fi

# ---- dat-ping and dat-perf ----

for api in 1.2 2.0; do
    ok "dat-ping --self --api $api: status 0" run 0 dat-ping shm --self --count 2 --api $api
    ok "dat-ping --self --api $api: nothing is lost" says '2 rounds, 2 complete'
done
ok 'dat-ping of an adapter that only 2.0 has: status 0' run 0 dat-ping new --self --count 1
ok 'dat-ping of an adapter that only 2.0 has, --api 1.2: status 1' run 1 dat-ping new --self --count 1 --api 1.2
ok 'dat-ping: a client of 2.0 at a server of 1.2' between 1.2 2.0 dat-ping --count 2
ok 'dat-ping: a client of 1.2 at a server of 2.0' between 2.0 1.2 dat-ping --count 2
short='--test send_lat,send_bw,write_lat,write_bw,read_lat,read_bw --size 64,65536 --iterations 20'
# shellcheck disable=SC2086 # several arguments
ok 'dat-perf --self --api 2.0: status 0' run 0 dat-perf shm --self --wait --api 2.0 $short
ok 'dat-perf --self --api 2.0: all tests have results' says send_lat send_bw write_lat write_bw read_lat read_bw
# shellcheck disable=SC2086 # several arguments
ok 'dat-perf: a client of 2.0 at a server of 1.2' between 1.2 2.0 dat-perf --wait $short
# shellcheck disable=SC2086 # several arguments
ok 'dat-perf: a client of 1.2 at a server of 2.0' between 2.0 1.2 dat-perf --wait $short

echo "1..$number"
exit $failed
