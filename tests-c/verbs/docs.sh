#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# docs.sh ADAPTER - runs the commands of docs/network.md in the virtual machine of vm.sh, also those that change the machine
# or need a device. First creates the document's interface, eth0. Prints TAP.
set -u
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/../.." && pwd)

# Only vm.sh creates this file. Other machines must not be changed.
if [ ! -e /run/order/main ]; then
    echo '1..0 # SKIP this is not the virtual machine of vm.sh'
    exit
fi
if [ ! -e "$VM_MODULES/modules.dep" ]; then
    echo "1..0 # SKIP depmod has not written $VM_MODULES/modules.dep"
    exit
fi
for taken in /sys/class/net/eth0 /etc/dat.conf; do
    if [ -e $taken ]; then
        echo "1..0 # SKIP there is $taken"
        exit
    fi
done

# Restores the state for later tests.
cleanup()
{
    rm -f /etc/dat.conf
    rdma link del rxe_eth0
    ip link del eth0
} 2>/dev/null
trap cleanup EXIT
ip link add eth0 type veth peer name eth1
ip addr add 192.0.2.7/24 dev eth0
ip link set eth0 up
ip link set eth1 up

# The modules of vm.sh's kernel are not in /lib/modules.
mkdir -p /lib/modules
ln -s "$VM_MODULES" /lib/modules/

CARGO_TARGET_DIR=${TARGET:-${CARGO_TARGET_DIR:-$root/target}}
export CARGO_TARGET_DIR
"$root/tests-c/docs/run.py" --machine "$root/docs/network.md"
