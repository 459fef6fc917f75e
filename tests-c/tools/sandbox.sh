#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# sandbox.sh - the tools in sandboxes that refuse to list the network interfaces. Prints TAP; all.sh sets $BIN and $LIB.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
. "$(dirname "$0")/../common/tap.sh"
. "$(dirname "$0")/../common/said.sh"
tests=$(cd "$(dirname "$0")/.." && pwd)
DAT_OVERRIDE=$work/dat.conf
export DAT_OVERRIDE

# line NAME INSTANCE API: prints an entry for the provider over TCP.
line()
{
    library=$(awk '$5 == "tcp" { print $2 }' "$tests/../packaging/libraries.txt").so.${3%.*}
    printf '%s u%s threadsafe default %s libdat.%s "%s" ""\n' "$1" "$3" "$library" "$3" "$2"
}
for api in 1.2 2.0; do
    line tcp tcp $api
    line tcp-lo 'tcp lo' $api
    line first 'tcp d0' $api
    line label 'tcp d0:1' $api
    line second 'tcp 198.51.100.7' $api
    line six 'tcp 2001:db8::7' $api
done >"$DAT_OVERRIDE"

# in_sandbox NETLINK LIST COMMAND...: runs a command in a network with aliases and IPv6, with the errors of refused.c.
# Its output is in $work/out.
in_sandbox()
{
    unshare -rn sh -c 'PATH=$PATH:/sbin:/usr/sbin && ip link set lo up &&
        ip link add d0 type veth peer name d1 && ip link set d0 up && ip link set d1 up &&
        ip address add 192.0.2.7/24 dev d0 && ip address add 192.0.2.8/24 dev d0 label d0:1 &&
        ip address add 198.51.100.7/32 dev d0 && ip address add 2001:db8::7/64 dev d1 nodad &&
        ip route add default dev d0 && exec "$@"' sh "$work/refused" "$@" >"$work/out" 2>&1 </dev/null
}

# fails COMMAND...: succeeds if the command exits with status 1.
fails()
{
    "$@"
    got=$?
    [ $got -eq 1 ] || { echo "exit status $got:"; cat "$work/out"; return 1; }
}

if ! "${CC:-cc}" -std=c99 -I"$tests" -o "$work/refused" "$tests/registry/refused.c" 2>"$work/lacks" ||
    ! in_sandbox 97 1 true; then
    echo "1..0 # SKIP needs a compiler, seccomp, namespaces of users, and ip of iproute2: $(cat "$work/lacks" "$work/out")"
    exit 0
fi

# 97 is EAFNOSUPPORT, 1 is EPERM.
ok 'dat-info: the adapters are listed' in_sandbox 0 0 "$BIN/dat-info" --json
cp "$work/out" "$work/wanted"
for errno in 97 1; do
    ok "dat-info, without netlink, error $errno: the same addresses" in_sandbox $errno 0 "$BIN/dat-info" --json
    ok "dat-info, without netlink, error $errno: nothing differs" diff "$work/wanted" "$work/out"
    for name in tcp tcp-lo first label second six; do
        for api in 1.2 2.0; do
            ok "dat-ping $name --self, $api, without netlink, error $errno: all bytes arrive" \
                in_sandbox $errno 0 "$BIN/dat-ping" $name --self --count 2 --api $api
            ok "dat-ping $name --self, $api, without netlink, error $errno: it says so" says '2 rounds, 2 complete'
        done
    done
    ok "dat-info --explain, without netlink, error $errno: nothing is wrong" \
        in_sandbox $errno 0 "$BIN/dat-info" --explain first
done

list='SIOCGIFCONF: Operation not permitted (os error 1)'
both="cannot list the IP addresses of this host: netlink: Address family not supported by protocol (os error 97), $list"
ok 'dat-info --explain, both refused: status 1' fails in_sandbox 97 1 "$BIN/dat-info" --explain tcp-lo
ok 'dat-info --explain, both refused: each error, and what to do' says "$both" '#interface-list'
ok 'dat-info --explain, both refused: no false cause' never_says 'has an address' 'no network interface' 'is down'
ok 'dat-ping, both refused: status 1' fails in_sandbox 97 1 env DAT_LOG=error "$BIN/dat-ping" tcp-lo --self --count 1
ok 'dat-ping, both refused: each error' says "$both [interface-list]"
ok 'dat-info, both refused: status 1' fails in_sandbox 97 1 "$BIN/dat-info"
ok 'dat-info, both refused: it reports that addresses are missing' says "$both"

# without_proc ARGUMENT...: runs dat-info with an empty /proc.
without_proc()
{
    unshare -rm sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$BIN/dat-info" "$@" >"$work/out" 2>&1 </dev/null
}

DAT_OVERRIDE=builtin
ok 'dat-info --explain, without /proc: status 1' fails without_proc --explain tcp-nowhere7
ok 'dat-info --explain, without /proc: the list of interfaces is missing' says \
    'cannot list the network interfaces: /proc/thread-self/net/dev: No such file or directory (os error 2)' \
    '#interface-list'
ok 'dat-info --explain, without /proc: no false cause' never_says 'there is no network interface'
echo "1..$number"
exit $failed
