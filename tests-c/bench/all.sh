#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# all.sh - runs the benchmark for `make bench`: on shm, the instructions of a round, TCP, an RDMA device.
#
#   all.sh PROGRAMS LIBDIR OUT FAST_PATH
#
# bench.sh describes the first three arguments and the variables. FAST_PATH is the program of tests-c/perf. A complete
# run with the default rounds draws docs/bench.svg with $XTASK.
#
#   VERBS=1         also an RDMA device (verbs.sh), unless QUICK=1
#   TCP=1           also TCP over the loopback interface, with pinned and with unpinned processes
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
[ $# -eq 4 ] || { sed -n '6,9p' "$0" >&2; exit 2; }
programs=$1 libdir=$2 out=$3 fast_path=$4
: "${XTASK:?is the command that runs src/dev/xtask}" "${QUICK:=0}" "${AGAINST:=}" "${ROWS:=}" "${VERBS:=auto}"
# For the other scripts, TCP is a network interface.
tcp=${TCP:-0} TCP=

"$here/bench.sh" "$programs" "$libdir" "$out"
status=$?

if [ "$QUICK" = 0 ] && [ -z "$AGAINST$ROWS" ] && [ "$status" -eq 0 ]; then
    awk -v machine="$("$here/machine.sh")" -f "$here/lines.awk" "$out/shm.csv" |
        $XTASK chart >"$out/bench.svg" && [ -z "${ROUNDS:-}${BUDGET:-}" ] && cp "$out/bench.svg" "$root/docs/bench.svg"
    echo
    "$root/tests-c/perf/instructions.sh" "$fast_path" "$libdir" >"$out/instructions.txt" &&
        awk 'BEGIN { print "Instructions of a round on one thread; of send they should be <= 800, and must be <= 1400" }
            { print }' "$out/instructions.txt"
fi

if [ "$tcp" = 1 ]; then
    for pin in 1 0; do
        echo
        TCP=lo PIN=$pin "$here/bench.sh" "$programs" "$libdir" "$out" || status=1
    done
fi
if [ "$VERBS" = 1 ] && [ "$QUICK" = 0 ]; then
    echo
    "$here/verbs.sh" "$programs" "$libdir" "$out" || status=1
elif [ "$QUICK" = 0 ]; then
    echo 'Without VERBS=1 nothing ran on an RDMA device.'
fi
echo "The raw numbers are in $out."
exit "$status"
