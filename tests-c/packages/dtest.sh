#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# dtest.sh [COMMAND...] - runs a server and a client of dtest, the program of Debian's dapl2-utils, over shm; COMMAND is how it
# is called. Prints the libraries of uDAPL that the server has loaded; the exit status is 1 if either has not passed.
# packages.sh runs it in a root of its own and glibc.sh under an old loader, each with a limit of time.
set -u

[ $# -gt 0 ] || set -- dtest
# Buffers of 4 MiB, as by default, take 1.7 GB.
set -- "$@" -P shm -b 262144
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT

# The TCP port at which the server tells its client where it is.
listens()
{
    grep -qi ": [0-9A-F]*:3DD4 [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6
}

# The server makes its service point after that. A client that is faster is refused, and does not try again; so the pair does.
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
    # A server whose client was refused waits for ever.
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
