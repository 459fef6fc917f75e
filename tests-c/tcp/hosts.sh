# SPDX-License-Identifier: MIT OR Apache-2.0
#
# hosts.sh - two hosts for scripts that source this file: network namespaces with three wires. The script runs on the
# near host, and its files are in $work. All processes of the script end with it. If the system has no network
# namespaces, the script is skipped.
#
#   wire  near        far
#   w4    10.99.0.1   10.99.0.2
#   v4    10.98.0.1   10.98.0.2
#   w6    fd99::1     fd99::2
# shellcheck shell=sh disable=SC2034 # the scripts use these variables
LC_ALL=C NO_COLOR=1
export LC_ALL NO_COLOR
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG

programs=$(dirname "${DAT_TEST_LIBDIR:?the directory of the libraries}")/tcp
if [ -z "${DAT_TEST_HOSTS:-}" ]; then
    for tool in ip tc nsenter unshare "$programs/dat-ping" "$programs/dat-perf"; do
        command -v "$tool" >/dev/null || { echo "1..0 # SKIP there is no ${tool##*/}"; exit; }
    done
    unshare -n -p -f --mount-proc true 2>/dev/null || { echo '1..0 # SKIP no network namespaces'; exit; }
    DAT_TEST_HOSTS=1 exec unshare -n -p -f --kill-child --mount-proc sh "$0" "$@"
fi
: "${DAT_TEST_SCALE:=1}"
# Maximum time in seconds of operations that take a few seconds.
timeout_s=$(awk "BEGIN { print int(30 * $DAT_TEST_SCALE) }")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../common/tap.sh"

far() { nsenter -t "$far" -n "$@"; }
both() { "$@" && far "$@"; }

# new_far: starts a far host without addresses.
new_far()
{
    unshare -n sleep 100000 &
    far=$!
    until [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
    far ip link set lo up
}

# addresses NUMBER: prints commands that set a host's addresses, which end with NUMBER.
addresses()
{
    echo "ip addr add 10.99.0.$1/24 dev w4 && ip addr add 10.98.0.$1/24 dev v4 && ip addr add fd99::$1/64 dev w6 nodad &&
        ip link set w4 up && ip link set v4 up && ip link set w6 up"
}

# within SECONDS COMMAND...: repeats the command until it succeeds. Fails after that time.
within()
{
    deadline=$(($(date +%s) + $1))
    shift
    until "$@"; do
        [ "$(date +%s)" -lt "$deadline" ] || return 1
        sleep 0.2
    done
}

# serve FILE PROGRAM ARGUMENT...: starts a server, $server, on the far host with its output in FILE.out, and waits until
# it listens.
serve()
{
    output=$work/$1.out
    tool=$programs/$2
    shift 2
    far "$tool" "$@" >"$output" 2>&1 </dev/null &
    server=$!
    within "$timeout_s" grep -q qualifier "$output"
}

ip link set lo up
new_far
for wire in w4 v4 w6; do
    ip link add $wire type veth peer name $wire netns "$far" 2>/dev/null || { echo '1..0 # SKIP no veth'; exit; }
done
addresses 1 | sh && addresses 2 | far sh || exit 1
