#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# wireguard.sh - runs the commands of docs/security.md that encrypt the traffic between two hosts, and exchanges
# messages over the tunnel. In the document, a prompt begins with "first" or "second" for the host. Needs the kernel
# module wireguard, the command wg, and root. Prints TAP.
set -u
. "$(dirname "$0")/hosts.sh"
document=$(cd "$(dirname "$0")/../.." && pwd)/docs/security.md

command -v wg >/dev/null || { echo '1..0 # SKIP there is no wg (package wireguard-tools)'; exit; }
if ! ip link add probe type wireguard 2>/dev/null; then
    echo '1..0 # SKIP the kernel has no WireGuard, or this user may not use it'
    exit
fi
ip link del probe
PATH=$programs:$PATH
mkdir "$work/first" "$work/second"

first() { (cd "$work/first" && far "$@"); }
second() { (cd "$work/second" && "$@"); }

# commands PATTERN: prints the document's commands that match, each after the name of its host.
commands() { sed -n 's/^    \(first\|second\)[#$] /\1 /p' "$document" | grep -e "$1"; }

# executed PATTERN NUMBER: executes the commands that match. Succeeds if that number of commands match and all succeed.
executed()
{
    commands "$1" >"$work/commands" && [ "$(wc -l <"$work/commands")" = "$2" ] || return 1
    while read -r host command; do
        $host sh -c "$command" </dev/null || { echo "$host: $command"; return 1; }
    done <"$work/commands"
}

# delivered: copies the public key of each host to the other host.
delivered() { cp "$work/first/wg0.pub" "$work/second/peer.pub" && cp "$work/second/wg0.pub" "$work/first/peer.pub"; }

# private: succeeds if the service point listens only at the address of the tunnel.
private()
{
    far ss -Hltn | awk '{ print $4 }' | tee "$work/listening.out"
    grep -q '^10\.8\.0\.1:' "$work/listening.out" && ! grep -qv '^10\.8\.0\.1:' "$work/listening.out"
}

# encrypted: succeeds if WireGuard has transferred at least the bytes of three rounds.
encrypted()
{
    wg show wg0 transfer >"$work/transfer.out" && awk '{ exit !($2 > 60000 && $3 > 60000) }' "$work/transfer.out"
}

# refused: succeeds if the address outside the tunnel refuses the connection.
refused() { ! second dat-ping tcp-w4 192.0.2.7 --count 1 >"$work/refused.out" 2>&1 && grep -q REJECTED "$work/refused.out"; }

far ip addr add 192.0.2.7/24 dev w4
ip addr add 192.0.2.8/24 dev w4
ok 'each host makes a key' executed 'wg genkey' 2
ok 'the hosts exchange their public keys' delivered
ok 'both ends of the tunnel' executed ' \(ip\|wg set\) ' 8
ok 'the document starts a server' commands '^first dat-ping tcp-wg0$'
ok 'dat-ping listens in the tunnel' serve server dat-ping tcp-wg0
ok 'dat-ping reaches it' executed '^second dat-ping' 1
ok 'only the address in the tunnel listens' private
ok 'the address outside refuses' refused
ok 'the tunnel has carried the bytes' encrypted
echo "1..$number"
exit $failed
