#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# default_route.sh - runs programs of the suite on the built-in adapter tcp, in a network namespace with two interfaces,
# of which one has the default route. $DAT_TEST_LIBDIR is the directory of the libraries. Prints TAP.
set -u
: "${DAT_TEST_LIBDIR:?the directory of the libraries}"
programs=$(dirname "$DAT_TEST_LIBDIR")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../common/tap.sh"
PATH=$PATH:/sbin:/usr/sbin
DAT_OVERRIDE=builtin
export DAT_OVERRIDE

# in_network COMMAND...: runs a command in the namespace.
in_network()
{
    unshare -rn sh -c 'ip link set lo up && ip link add d0 type veth peer name d1 &&
        ip address add 192.0.2.7/24 dev d0 && ip address add 198.51.100.7/24 dev d1 &&
        ip link set d0 up && ip link set d1 up && ip route add default dev d1 && exec "$@"' sh "$@"
}

if ! in_network true 2>"$work/lacks"; then
    echo "1..0 # SKIP needs namespaces of users, and ip of iproute2: $(head -n 1 "$work/lacks")"
    exit 0
fi
for program in flow/connect rely/data srq/order; do
    ok "$program on tcp, without dat.conf" in_network "$programs/$program" tcp
done
echo "1..$number"
exit $failed
