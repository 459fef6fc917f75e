#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# setup.sh ADAPTER - compares the time for 64 connections (eight threads with eight each) of Debian's dapltest over the C
# library and over ours; see dapl2/pairs.sh. Prints TAP.
. "$(dirname "$0")/../dapl2/pairs.sh"

ROUNDS=3
# Limit of our median time, in percent of the C library's, on a busy machine. On an idle one it is about 125. It was more
# than 200 when completion queues were created before first use.
MAX_PERCENT=170

echo "$ia u2.0 nonthreadsafe default $theirs/libdaplofa.so.2 dapl.2.0 \"$instance\" \"\"" >"$work/their.conf"

# over NAME LIBRARIES CONF: one round; appends its milliseconds to NAME.times.
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
    [ $percent -gt $MAX_PERCENT ] || within=0
fi
result $within "it takes at most $MAX_PERCENT % of the time over the C library"
finish
