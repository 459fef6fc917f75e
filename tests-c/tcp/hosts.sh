# SPDX-License-Identifier: MIT OR Apache-2.0
#
# hosts.sh - two hosts for shell scripts, which read this file first: two network namespaces with three wires. The interfaces
# are w4 and v4, which have IPv4 addresses only, and w6, which has IPv6 addresses only. The near host has 10.99.0.1, 10.98.0.1
# and fd99::1, and the far host the same with 2. Skips the script where the kernel has no namespaces.
#
# The script runs on the near host. All its processes end with it. Its directory is $work.
# shellcheck shell=sh disable=SC2034 # the scripts use what is set here
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
# The longest time, in seconds, of what takes a few seconds.
patience=$(awk "BEGIN { print int(30 * $DAT_TEST_SCALE) }")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../common/tap.sh"

far() { nsenter -t "$far" -n "$@"; }
both() { "$@" && far "$@"; }

# new_far: starts another far host, which has no addresses.
new_far()
{
    unshare -n sleep 100000 &
    far=$!
    until [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
    far ip link set lo up
}

# addresses NUMBER: sets the addresses of a host, which end with that number. Prints commands for sh.
addresses()
{
    echo "ip addr add 10.99.0.$1/24 dev w4 && ip addr add 10.98.0.$1/24 dev v4 && ip addr add fd99::$1/64 dev w6 nodad &&
        ip link set w4 up && ip link set v4 up && ip link set w6 up"
}

# within SECONDS COMMAND...: waits until the command succeeds.
within()
{
    deadline=$(($(date +%s) + $1))
    shift
    until "$@"; do
        [ "$(date +%s)" -lt "$deadline" ] || return 1
        sleep 0.2
    done
}

# serve FILE PROGRAM ARGUMENT...: starts a server on the far host with its output in FILE.out, and waits until it listens. Its
# process is $server.
serve()
{
    output=$work/$1.out
    tool=$programs/$2
    shift 2
    far "$tool" "$@" >"$output" 2>&1 </dev/null &
    server=$!
    within "$patience" grep -q qualifier "$output"
}

ip link set lo up
new_far
for wire in w4 v4 w6; do
    ip link add $wire type veth peer name $wire netns "$far" 2>/dev/null || { echo '1..0 # SKIP no veth'; exit; }
done
addresses 1 | sh && addresses 2 | far sh || exit 1
