#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# aliases.sh ADAPTER - adds IPv4 and IPv6 addresses to the adapter's interface, configures an adapter for each, and runs
# aliases_reach.c, which connects them. $DAT_TEST_LIBDIR contains the libraries.
set -u
LC_ALL=C
export LC_ALL

: "${1:?the name of an adapter}" "${DAT_TEST_LIBDIR:?the directory of the libraries}" "${DAT_TEST_API:=1.2}"
netdev=${1#verbs-}
program=$(dirname "$DAT_TEST_LIBDIR")/verbs/aliases_reach

# Addresses reserved for documentation.
four='192.0.2.1 192.0.2.9'
six='2001:db8::1 2001:db8::9'

# Prints the number of these addresses in the device's GID table, which Soft-RoCE updates asynchronously.
served()
{
    cat /sys/class/infiniband/*/ports/*/gids/* 2>/dev/null |
        grep -c -e '^0000:0000:0000:0000:0000:ffff:c000:02' -e '^2001:0db8:0000:0000:0000:0000:0000:'
}

if [ "$(id -u)" -ne 0 ] || ! ip -o link show dev "$netdev" type veth 2>/dev/null | grep -q .; then
    echo '1..0 # SKIP addresses are added to virtual interfaces alone, by root'
    exit
fi
work=$(mktemp -d) || exit 2
change() # add nodad, or del: all addresses
{
    for address in $four; do ip address "$1" "$address/32" dev "$netdev" || return 1; done
    for address in $six; do ip address "$1" "$address/128" dev "$netdev" ${2:-} || return 1; done
}
trap 'change del >/dev/null 2>&1; rm -rf "$work"' EXIT
[ -e /proc/net/if_inet6 ] || six=
change add nodad || exit 2
wanted=$(echo $four $six | wc -w)
tries=400
until [ "$(served)" -ge "$wanted" ] || [ $tries -eq 0 ]; do
    tries=$((tries - 1))
    sleep 0.05
done

# The configuration also contains the suite's adapters.
cat "${DAT_OVERRIDE:?the configuration of the suite}" >"$work/dat.conf"
for address in $four $six; do
    echo "at-$address u$DAT_TEST_API threadsafe default $DAT_TEST_LIBDIR/libdaplverbs.so.${DAT_TEST_API%%.*} x.1.0 \"$address\" \"\""
done >>"$work/dat.conf"
# shellcheck disable=SC2086 # words are wanted
DAT_OVERRIDE=$work/dat.conf "$program" "$1" $(printf 'at-%s ' $four $six)
