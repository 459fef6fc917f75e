#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# hosts.sh - what programs choose that search the list of adapters, as MPI libraries do (choose.c), on one and on two
# hosts, with several configurations. A host is a network namespace with its own /etc and its own rendezvous directory;
# the adapter "fabric", over TCP on a wire between the hosts, represents a device. $DAT_TEST_LIBDIR is the directory of
# the libraries. Prints TAP.
set -u
LC_ALL=C PATH=$PATH:/sbin:/usr/sbin
export LC_ALL PATH
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG DAT_OVERRIDE
programs=$(dirname "${DAT_TEST_LIBDIR:?the directory of the libraries}")
api=${DAT_TEST_API:-1.2}
major=${api%%.*}

if [ -z "${DAT_TEST_HOSTS:-}" ]; then
    for tool in ip nsenter unshare; do
        command -v $tool >/dev/null || { echo "1..0 # SKIP there is no $tool"; exit; }
    done
    unshare -r -m -n -p -f --mount-proc mount -t tmpfs none /etc 2>/dev/null ||
        { echo '1..0 # SKIP no namespaces of users'; exit; }
    DAT_TEST_HOSTS=1 exec unshare -r -m -n -p -f --kill-child --mount-proc sh "$0" "$@"
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../common/tap.sh"
LD_LIBRARY_PATH=$DAT_TEST_LIBDIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# ---- Two hosts ----

mkdir -p -m 700 "/tmp/dat-shm-$(id -u)"
# The commands of a host that make /etc and the rendezvous directory its own.
own="mount -t tmpfs none /etc && mount -t tmpfs -o mode=700 none /tmp/dat-shm-$(id -u) && ip link set lo up"
unshare -m -n sh -c "$own && touch '$work/up' && exec sleep 100000" &
far=$!
eval "$own" || exit 2
tries=200
until [ -e "$work/up" ]; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || { echo '1..0 # SKIP no second host'; exit; }
    sleep 0.1
done
near() { "$@"; }
far() { nsenter -t $far -m -n "$@"; }
ip link add f0 type veth peer name f0 netns $far 2>/dev/null || { echo '1..0 # SKIP no veth'; exit; }
ip address add 192.0.2.1/24 dev f0 && ip link set f0 up && far ip address add 192.0.2.2/24 dev f0 &&
    far ip link set f0 up || exit 2

# ---- Configurations ----

fabric="fabric u$api threadsafe default libdapltcp.so.$major libdat.$api \"tcp f0\" \"\""
dead="$(for n in 0 1; do
    echo "dead-$n-1 u$api nonthreadsafe default libdaplmissing.so.$major dapl.$api \"none$n 1\" \"\""
    echo "dead-tcp$n u$api nonthreadsafe default libdapltcp.so.$major dapl.$api \"tcp none$n\" \"\""
done)"

# configure HOST none|TEXT: writes the /etc/dat.conf of a host.
configure()
{
    if [ "$2" = none ]; then "$1" rm -f /etc/dat.conf; else printf '%s' "$2" | "$1" sh -c 'cat >/etc/dat.conf'; fi
}

# pair WAY HOST: runs a process on the near host, and one on HOST. Prints both results.
pair()
{
    rm -rf "$work/pair"
    mkdir "$work/pair"
    "$2" "$programs/registry/choose" "$1" 1 "$work/pair" >"$work/second.out" 2>&1 &
    second=$!
    "$programs/registry/choose" "$1" 0 "$work/pair" >"$work/first.out" 2>&1
    wait $second
    cat "$work/first.out" "$work/second.out"
}

# chooses WAY HOST RESULT: checks that both processes print this result.
chooses()
{
    pair "$1" "$2" >"$work/results"
    printf '%s\n%s\n' "$3" "$3" | diff - "$work/results"
}

# row CONFIGURATION NEAR FAR ONE-FIRST ONE-EVERY TWO-FIRST TWO-EVERY: the results on one host, and on two.
row()
{
    configure near "$2"
    configure far "$3"
    ok "$1, one host, the first adapter: $4" chooses first near "$4"
    ok "$1, one host, every adapter: $5" chooses every near "$5"
    ok "$1, two hosts, the first adapter: $6" chooses first far "$6"
    ok "$1, two hosts, every adapter: $7" chooses every far "$7"
}

# apart: checks that the processes of two hosts select shm, and do not connect.
apart()
{
    pair first far >"$work/results"
    [ "$(grep -c '^shm: event 0x' "$work/results")" = 2 ] || { cat "$work/results"; return 1; }
}

tcp='own tcp' yes='fabric connects'
devices=$(ls /sys/class/infiniband 2>/dev/null)
if [ -z "$devices" ]; then
    row 'no file' none none "$tcp" "$tcp" "$tcp" "$tcp"
    row 'an empty file' '' '' "$tcp" "$tcp" "$tcp" "$tcp"
else
    skip 'no file, and an empty file' 'RDMA devices are listed'
fi
row 'dead entries' "$dead" "$dead" "$tcp" "$tcp" "$tcp" "$tcp"
row 'a fabric' "$fabric" "$fabric" "$yes" "$yes" "$yes" "$yes"
row 'a fabric after dead entries' "$dead
$fabric" "$fabric" "$yes" "$yes" "$yes" "$yes"
row 'a fabric on one host' "$fabric" none "$yes" "$yes" 'fabric against none' "$tcp"
row 'a fabric on one host, dead on the other' "$fabric" "$dead" "$yes" "$yes" 'fabric against none' "$tcp"
row 'shm before a fabric' "shm u$api threadsafe default libdaplshm.so.$major libdat.$api \"\" \"\"
$fabric" "$fabric" 'shm connects' 'shm connects' 'shm against fabric' "$yes"
other=2.0
[ "$api" = 1.2 ] || other=1.2
of_other="entries of $other"
if [ -n "$devices" ]; then
    skip "$of_other" 'RDMA devices are listed'
else
    text="fabric u$other threadsafe default libdapltcp.so.${other%%.*} libdat.$other \"tcp f0\" \"\""
    row "$of_other" "$text" "$text" "$tcp" "$tcp" "$tcp" "$tcp"
fi
configure near none
configure far none
DAT_OVERRIDE=builtin
export DAT_OVERRIDE
ok 'DAT_OVERRIDE=builtin, one host, the first adapter: shm connects' chooses first near 'shm connects'
ok 'DAT_OVERRIDE=builtin, two hosts, the first adapter: shm reaches no peer' apart
echo "1..$number"
exit $failed
