#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# setup.sh ADAPTER - compares the time for 64 connections (eight threads with eight each) of Debian's dapltest over the C
# library and over ours; see dapl2/pairs.sh. Prints TAP.
. "$(dirname "$0")/../dapl2/pairs.sh"

# Limit of our least time, in percent of the C library's. On an idle machine it is 104 to 132, and was more than 200 when
# completion queues were created before first use. Beside other steps it is up to 225, because more threads wait for the
# CPUs, and so is the CPU time, up to 336. Other load only adds time, so up to MAX_ROUNDS rounds follow while our least
# time exceeds the limit.
MAX_PERCENT=170
[ -z "${DAT_TEST_BUSY:-}" ] || MAX_PERCENT=300
MIN_ROUNDS=3
MAX_ROUNDS=9

echo "$ia u2.0 nonthreadsafe default $theirs/libdaplofa.so.2 dapl.2.0 \"$instance\" \"\"" >"$work/their.conf"

transaction='T -i 10 -t 8 -w 8 client SR 256 server SR 256'
now() { date +%s%N; }
# took BEGAN NAME: appends the milliseconds since then to NAME.times.
took() { echo $((($(now) - $1) / 1000000)) >>"$work/$2.times"; }
least() { sort -n "$work/$1.times" | head -n 1; }

# over_c: one round over the C library. Its errors are not ours: on a busy machine its server may report that the last
# send was flushed, and over soft-iWARP it cannot create all completion queues.
over_c()
{
    libraries=$theirs conf=$work/their.conf
    daplserver
    began=$(now)
    # shellcheck disable=SC2086 # words are wanted
    daplrun "$done_transaction" $transaction && took "$began" C
    daplrun 'End of Work' Q || kill "$dapl_pid"
    ended "$dapl_pid" 'C: server'
    : >"$work/remarks"
}

over_ours()
{
    libraries=$ours conf=$ours_conf
    daplserver
    began=$(now)
    # shellcheck disable=SC2086 # words are wanted
    daplclient 'ours: 64 connections are made and ended' "$done_transaction" $transaction
    [ $good -ne 0 ] || took "$began" ours
    daplquit ours
}

# daplrun PASSED KIND ARGUMENT...: does what daplclient does, without a result. Succeeds if the client does.
daplrun()
{
    text=$1 kind=$2
    shift 2
    start "$work/client" dapltest -T "$kind" -s "$address" -D "$ia" "$@"
    ended "$pid" "C: $kind" && passed "$work/client" "$text"
}

ours_conf=$conf
over_c
# Once more, for a busy machine.
[ -s "$work/C.times" ] || over_c
if [ ! -s "$work/C.times" ]; then
    echo '1..0 # SKIP the C library does not make these connections here'
    exit
fi
round=0
slow=1
while [ $round -lt $MAX_ROUNDS ] && [ $failed -eq 0 ] && { [ $round -lt $MIN_ROUNDS ] || [ $slow -ne 0 ]; }; do
    over_ours
    over_c
    round=$((round + 1))
    if [ $failed -eq 0 ]; then
        percent=$((100 * $(least ours) / $(least C)))
        remark "$(least ours) ms over ours, $(least C) ms over the C library: $percent %, $round rounds"
        [ $percent -gt $MAX_PERCENT ]
        slow=$((1 - $?))
    fi
done
result $slow "it takes at most $MAX_PERCENT % of the time over the C library"
finish
