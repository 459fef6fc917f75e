#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# setup.sh ADAPTER - sets up and takes down 64 connections, eight of each of eight threads, with dapltest as Debian ships it:
# over the C library and over ours in turn. $DAT_TEST_LIBDIR has our libraries, and $DAT_TEST_DAPL2 the unpacked packages
# (see dapl2.sh).
set -u
LC_ALL=C
export LC_ALL
unset DAT_DBG_TYPE DAPL_DBG_TYPE RUST_LOG

ROUNDS=3
# The median of our times, in percent of that of the C library, on a machine that may do other things as well. On a quiet one
# it is some 125, and was more than 200 when completion queues were made before they were needed.
MOST=170

ia=${1:?the name of an adapter} ours=${DAT_TEST_LIBDIR:?the directory of the libraries}
if [ -z "${DAT_TEST_DAPL2:-}" ]; then
    echo '1..0 # SKIP DAT_TEST_DAPL2 does not name the packages of Debian'
    exit
fi
netdev=${ia#verbs-}
theirs=$(dirname "$(find "$DAT_TEST_DAPL2/usr/lib" -name libdaplofa.so.2 | head -n 1)")
dapltest=$DAT_TEST_DAPL2/usr/bin/dapltest
address=$(ip -4 -o address show dev "$netdev" | awk '{ sub("/.*", "", $4); print $4; exit }')
patience=$(awk "BEGIN { print int(60 * ${DAT_TEST_SCALE:-1}) }")
work=$(mktemp -d) || exit 1
server=
trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
echo "setup u2.0 nonthreadsafe default $theirs/libdaplofa.so.2 x.1.0 \"$netdev 0\" \"\"" >"$work/theirs.conf"
echo "setup u2.0 nonthreadsafe default $ours/libdaplverbs.so.2 x.1.0 \"$netdev\" \"\"" >"$work/ours.conf"

# over WHOSE LIBRARIES: starts a server, has a client make its connections, ends the server; adds the milliseconds to a file.
over()
{
    export LD_LIBRARY_PATH="$2" DAT_OVERRIDE="$work/$1.conf"
    timeout "$patience" "$dapltest" -T S -D setup >"$work/server" 2>&1 &
    server=$!
    tries=$((patience * 10))
    until grep -q 'Service Point Ready' "$work/server" || [ $tries -eq 0 ]; do
        tries=$((tries - 1))
        sleep 0.1
    done
    began=$(date +%s%N)
    timeout "$patience" "$dapltest" -T T -s "$address" -D setup -i 10 -t 8 -w 8 client SR 256 server SR 256 \
        >"$work/client" 2>&1
    status=$?
    ended=$(date +%s%N)
    timeout "$patience" "$dapltest" -T Q -s "$address" -D setup >/dev/null 2>&1
    wait "$server"
    unset LD_LIBRARY_PATH DAT_OVERRIDE
    if [ $status -ne 0 ] || ! grep -q 'End of Work -- Client Exiting' "$work/client"; then
        sed 's/^/# /' "$work/client" "$work/server"
        return 1
    fi
    echo $(((ended - began) / 1000000)) >>"$work/$1"
}

median()
{
    sort -n "$work/$1" | awk '{ line[NR] = $0 } END { print line[int((NR + 1) / 2)] }'
}

echo 1..2
round=0 ran=0
while [ $round -lt $ROUNDS ] && over theirs "$theirs" && over ours "$ours"; do
    round=$((round + 1))
done
[ $round -eq $ROUNDS ] || { ran=1; printf 'not '; }
echo "ok 1 - 64 connections are made and ended $ROUNDS times over either library"
if [ $ran -ne 0 ]; then
    echo 'not ok 2 - nothing was measured'
    exit 1
fi
percent=$((100 * $(median ours) / $(median theirs)))
echo "# $(median ours) ms over ours, $(median theirs) ms over the C library: $percent %"
[ $percent -le $MOST ] || printf 'not '
echo "ok 2 - it takes at most $MOST % of the time over the C library"
[ $percent -le $MOST ]
