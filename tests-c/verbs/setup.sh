#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# setup.sh ADAPTER - sets up and takes down 64 connections, eight of each of eight threads, with Debian's dapltest: over the C
# library and over ours in turn; see dapl2/pairs.sh. Prints TAP.
. "$(dirname "$0")/../dapl2/pairs.sh"

ROUNDS=3
# The median of our times, in percent of that of the C library, on a machine that may do other things as well. On a quiet one
# it is some 125, and was more than 200 when completion queues were made before they were needed.
MOST=170

echo "$ia u2.0 nonthreadsafe default $theirs/libdaplofa.so.2 dapl.2.0 \"$instance\" \"\"" >"$work/their.conf"

# over WHOSE LIBRARIES CONF: a round, whose milliseconds go into a file.
over()
{
    libraries=$2 conf=$3
    daplserver
    began=$(date +%s%N)
    daplclient "$1: 64 connections are made and ended" "$done_transaction" T -i 10 -t 8 -w 8 \
        client SR 256 server SR 256
    [ $good -ne 0 ] || echo $((($(date +%s%N) - began) / 1000000)) >>"$work/$1.times"
    daplquit "$1"
}

median()
{
    sort -n "$work/$1.times" | awk '{ line[NR] = $0 } END { print line[int((NR + 1) / 2)] }'
}

ours_conf=$conf
round=0
while [ $round -lt $ROUNDS ] && [ $failed -eq 0 ]; do
    over C "$theirs" "$work/their.conf"
    over ours "$ours" "$ours_conf"
    round=$((round + 1))
done
within=1
if [ $failed -eq 0 ]; then
    percent=$((100 * $(median ours) / $(median C)))
    remark "$(median ours) ms over ours, $(median C) ms over the C library: $percent %"
    [ $percent -gt $MOST ] || within=0
fi
result $within "it takes at most $MOST % of the time over the C library"
finish
