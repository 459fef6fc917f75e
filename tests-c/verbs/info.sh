#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# info.sh ADAPTER - tests dat-info's output for an adapter on a device, and its diagnosis if the device is unusable. $BIN
# contains the tools. Prints TAP.
set -u
LC_ALL=C NO_COLOR=1
export LC_ALL NO_COLOR
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG DAT_OVERRIDE

ia=${1:?the name of an adapter}
netdev=${ia#verbs-}
LIB=${DAT_TEST_LIBDIR:?the directory of the libraries}
if [ ! -x "${BIN:=}/dat-info" ]; then
    echo '1..0 # SKIP BIN does not name the folder of dat-info'
    exit
fi
if [ -e /etc/dat.conf ] || [ -e /etc/rdma/dat.conf ]; then
    echo '1..0 # SKIP this host has a dat.conf'
    exit
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
. "$(dirname "$0")/../common/tap.sh"
. "$(dirname "$0")/../common/reach.sh"
reach "$work"
info=$BIN/dat-info
LD_LIBRARY_PATH=$LIB
export LD_LIBRARY_PATH

# run STATUS COMMAND...: succeeds if the command exits with this status. Its output is in run.out.
run()
{
    wanted=$1
    shift
    "$@" >"$work/run.out" 2>&1 </dev/null
    [ $? -eq "$wanted" ]
}

says() { grep -qE -e "$1" "$work/run.out"; }

address=$(ip -4 -o address show dev "$netdev" | awk '{ sub("/.*", "", $4); print $4; exit }')
device=$(rdma link | awk -v netdev="$netdev" '{ sub("/1$", "", $2); for (i = 1; i < NF; i++)
    if ($i == "netdev" && $(i + 1) == netdev) { print $2; exit } }')
ok 'dat-info: status 0' run 0 "$info"
ok "dat-info: $ia, built in, with device, port, state and address" \
    says "^$ia  *1\.2  *safe  *$device  *1  *active  *$address  *built in  *.*/libdaplverbs"
ok "dat-info $ia: status 0" run 0 "$info" "$ia"
ok "dat-info $ia: its address" says "Address  *$address"
ok "dat-info --explain $ia: status 0" run 0 "$info" --explain "$ia"
ok '--explain: it opens' says 'it opens, address'
ok '--explain: status 0' run 0 "$info" --explain --all
ok '--explain: the port with its interface' says "ok  *$device port 1 .*active, interface $netdev.*$address"
ok '--explain: memory that can be registered' says '(ulimit -l|any amount of memory)'

# Permissions of device files may be changed only in the virtual machine.
if [ "$device" = rxe0 ] && [ "$(id -u)" -eq 0 ] && [ -e /run/order/main ]; then
    chmod 600 /dev/infiniband/*
    nobody() { setpriv --reuid=65534 --clear-groups "$@"; }
    ok 'another user, without rights to the device files: status 1' run 1 nobody "$info" --explain "$ia"
    ok 'another user: it says so' says 'no permission for /dev/infiniband/rdma_cm'
    ok 'another user: where to read' says 'see: docs/troubleshooting.md#device-files'
    chmod 666 /dev/infiniband/*
    ok 'another user, who may open them: status 0' run 0 nobody "$info" --explain "$ia"
    ok 'little locked memory: status 0' run 0 nobody sh -c 'ulimit -l 64; exec "$0" --explain' "$info"
    ok 'little locked memory: it says so' says 'only 64 KiB of memory can be registered'

    # A separate interface, so that those of other tests keep their routes.
    ip link add info0 type veth peer name info1 && ip addr add 10.9.0.1/24 dev info0 &&
        ip link set info0 up && ip link set info1 up
    ok 'an interface without a device: status 1' run 1 "$info" --explain verbs-info0
    ok 'an interface without a device: it says so' says 'WRONG  info0 has no RDMA device'
    ok 'an interface without a device: where to read' says 'see: docs/troubleshooting.md#no-rdma-device'
    rdma link add rxe2 type rxe netdev info0
    ok 'an interface that got a device: status 0' run 0 "$info" --explain verbs-info0
    ok 'an interface that got a device: it is shown' says 'ok  *rxe2 port 1 .*active, interface info0, 10.9.0.1'
    ip link set info0 down
    ok 'an interface that is down: status 1' run 1 "$info" --explain verbs-info0
    ok 'an interface that is down: the port is named' says 'WRONG  rxe2 port 1 .*interface info0: the port is down'
    ok 'an interface that is down: where to read' says 'see: docs/troubleshooting.md#inactive-port'
    rdma link delete rxe2
    ip link delete info0
else
    skip 'rights of device files, limits, links' 'not in the virtual machine'
fi
echo "1..$number"
