#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# verbs.sh - runs the benchmark on an RDMA device, with perftest and uDAPL 2.0.
#
#   verbs.sh PROGRAMS LIBDIR OUT      like bench.sh, with the same variables
#
#   RDMA=KIND       in a virtual machine with a device of this kind: rxe is Soft-RoCE, siw is soft-iWARP. Otherwise in
#                   both virtual machines
#   RDMA=NETDEV     on the device of this network interface
#   TARGET=DIR      directory with uDAPL 2.0 (target)
#   LIMIT=SECONDS   maximum time of each virtual machine (420); the rounds get 100 less
#
# Exits with 77 and one line if a prerequisite of the virtual machine is missing.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
[ $# -eq 3 ] || { sed -n '6,14p' "$0" >&2; exit 2; }
mkdir -p "$3" || exit 2
programs=$(cd "$1" && pwd) libdir=$(cd "$2" && pwd) out=$(cd "$3" && pwd)
: "${TARGET:=${CARGO_TARGET_DIR:-$root/target}}" "${RDMA:=}" "${LIMIT:=420}" "${CC:=cc}"
[ -e "$libdir/libdaplverbs.so.1" ] || [ -e "$libdir/libdaplverbs.so" ] || {
    echo "verbs.sh: no libdaplverbs.so.1 in $libdir" >&2
    exit 2
}

# Build bench for uDAPL 2.0, without -Wpedantic, with which the headers of 2.0 do not compile.
if DAPL2=$("$root/tests-c/verbs/dapl2.sh" "$TARGET"); then
    library=$(dirname "$(find "$DAPL2/usr/lib" -name libdat2.so | head -n 1)")
    "$CC" -std=gnu11 -Wall -Wextra -Werror -O2 -g -DDAT2 -isystem "$DAPL2/usr/include" -o "$programs/bench2" \
        "$here"/main.c "$here"/node.c "$here"/latency.c "$here"/stream.c "$here"/delay.c "$here"/calls.c \
        "$here"/mesh.c "$here"/round.c "$here"/connections.c "$here"/link.c -L"$library" -ldat2 || exit
else
    DAPL2=
fi
export DAPL2

case $RDMA in
'') kinds='rxe siw' ;;
rxe | siw) kinds=$RDMA ;;
*)
    NETDEV=$RDMA "$here/bench.sh" "$programs" "$libdir" "$out"
    exit
    ;;
esac
PROGRESS=none
[ ! -t 2 ] || PROGRESS=rounds
# Other load must not matter: on one of two CPUs it would make the polling processes share the other CPU.
first= session=
if [ "$(nice -n -20 nice 2>/dev/null)" = -20 ]; then
    first='nice -n -20'
    session=$(sed -n 's/.* nice //p' /proc/self/autogroup 2>/dev/null)
    [ -z "$session" ] || echo -20 2>/dev/null >/proc/self/autogroup || session=
    trap '[ -z "$session" ] || echo "$session" >/proc/self/autogroup' EXIT
    trap 'exit 130' INT TERM
fi
# A polling program would keep the CPU from ksoftirqd, which does the work of Soft-RoCE. So ksoftirqd gets a higher
# priority, for all programs.

status=0
for kind in $kinds; do
    VM_RDMA=$kind VM_OUT=$out VM_TIMEOUT=$LIMIT $first "$root/tests-c/verbs/vm.sh" \
        env NETDEV=v0 PROGRESS="$PROGRESS" BUDGET=$((LIMIT - 100)) sh -c '
            for thread in $(pgrep "^ksoftirqd/"); do chrt -f -p 1 "$thread"; done
            exec "$0" "$@"' "$here/bench.sh" "$programs" "$libdir" "$out" || status=$?
done
exit "$status"
