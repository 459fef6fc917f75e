#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# dtest.sh [COMMAND...] - runs a server and a client of dtest, of Debian's dapl2-utils, over shm. COMMAND starts dtest.
# Prints the uDAPL libraries that the server has loaded. Exits with 1 if the server or the client fails. packages.sh
# runs this script in a clean root, glibc.sh with an old loader, both with a time limit.
set -u

[ $# -gt 0 ] || set -- dtest
# The default buffers of 4 MiB take 1.7 GB.
set -- "$@" -P shm -b 262144
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT

# Succeeds if the server listens at the TCP port at which it sends its address to the client.
listens()
{
    grep -qi ": [0-9A-F]*:3DD4 [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6
}

# The server creates its service point later. A client that connects earlier is rejected and does not retry, so the pair
# is repeated.
for attempt in 1 2 3 4 5 6 7 8 9 10; do
    while listens; do
        sleep 0.05
    done
    "$@" -s >"$work/server" 2>&1 &
    server=$!
    until listens; do
        kill -0 $server 2>/dev/null || break
        sleep 0.05
    done
    sed -n 's|.* \(/.*/libda[^/]*\)$|\1|p' /proc/$server/maps | sort -u >"$work/loaded"
    "$@" -h 127.0.0.1 >"$work/client" 2>&1
    client=$?
    # A server whose client was rejected waits indefinitely.
    [ $client -eq 0 ] || kill $server 2>/dev/null
    wait $server
    served=$?
    if [ $client -eq 0 ] && [ $served -eq 0 ] &&
        grep -q 'DAPL Test Complete. PASSED' "$work/client" && grep -q 'DAPL Test Complete. PASSED' "$work/server"; then
        cat "$work/loaded"
        exit
    fi
    echo "# status of the client: $client, of the server: $served" >&2
    grep -q 0x4003 "$work/client" || break
    sleep 0.2
done
tail -n 20 "$work/server" "$work/client" | sed 's/^/# /' >&2
exit 1
