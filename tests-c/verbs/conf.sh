#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# conf.sh ADAPTER - tests which lines of a configuration open this machine's RDMA device, and the messages of the others.
# ADAPTER is verbs-NETDEV; $DAT_TEST_LIBDIR contains the libraries. Prints TAP.
set -u
LC_ALL=C
export LC_ALL
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG

: "${1:?the name of an adapter}" "${DAT_TEST_LIBDIR:?the directory of the libraries}"
netdev=${1#verbs-}
program=$(dirname "$DAT_TEST_LIBDIR")/verbs/conf_open
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../common/tap.sh"

# Conditions on the last open's standard output and standard error.
said() { grep -q -x -F -e "$1" "$work/run.out"; }
failed_to_open() { grep -q '^DAT_INSUFFICIENT_RESOURCES' "$work/run.out"; }
silent() { [ ! -s "$work/run.err" ]; }
one_line() { [ "$(wc -l <"$work/run.err")" -eq 1 ]; }
told() { grep -q -F -e "$1" "$work/run.err"; }
opened() { said "DAT_SUCCESS $address"; }

# with INSTANCE [VARIABLE=VALUE...]: opens an adapter with these instance data.
with()
{
    printf 'here u1.2 threadsafe default %s/libdaplverbs.so.1 x.1.0 "%s" ""\n' \
        "$DAT_TEST_LIBDIR" "$1" >"$work/dat.conf"
    shift
    env DAT_OVERRIDE="$work/dat.conf" "$@" "$program" here >"$work/run.out" 2>"$work/run.err"
}

# ---- The device ----

with "$netdev 0" DAT_DBG_TYPE=1
address=$(sed -n 's/^DAT_SUCCESS //p' "$work/run.out")
ok "\"NETDEV 0\": opens" test -n "$address"
if [ -z "$address" ]; then
    echo "1..$number"
    exit 1
fi
# The device and port of the interface in sysfs.
where=$(rdma link | sed -n "s|^link \([^/]*\)/\([0-9]*\) .* netdev $netdev *\$|/sys/class/infiniband/\1/ports/\2/|p")
[ -n "$where" ] || where=$(ls -d /sys/class/infiniband/*/device/net/"$netdev" 2>/dev/null | head -n 1)
device=${where#/sys/class/infiniband/}
device=${device%%/*}
port=$(echo "$where" | sed -n 's|.*/ports/\([0-9]*\)/.*|\1|p')
echo "# $netdev: address $address, device $device port ${port:=1}"

# ---- Instance data ----

with "$netdev"
ok '"NETDEV": opens the same' opened
with "$netdev $port"
ok '"NETDEV PORT" with the port of its device: opens the same' opened
with "$device $port"
ok '"DEVICE PORT": opens the same' opened
with "$device 0"
ok '"DEVICE 0": any port' opened
with "$address"
ok 'an address: opens the same' opened
with "$address 0"
ok 'an address and 0: opens the same' opened

# A host name that resolves to the device's address selects the device.
echo "$address dat-test-host" >"$work/hosts"
if unshare -m mount --bind "$work/hosts" /etc/hosts 2>/dev/null; then
    with 'dat-test-host 0' unshare -m sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$work/hosts"
    ok 'the name of a host: opens the same' opened
else
    skip 'the name of a host' 'needs the right to mount over /etc/hosts'
fi

for bad in "$netdev banana" "$netdev 300" "$netdev -1" "$netdev 0 more"; do
    with "$bad" DAT_DBG_TYPE=1
    ok "\"$(echo "$bad" | sed "s/^$netdev/NETDEV/")\": does not open" failed_to_open
    ok "\"$(echo "$bad" | sed "s/^$netdev/NETDEV/")\": one line shows the instance data" \
        eval 'one_line && told "$bad"'
done
with '' DAT_DBG_TYPE=1
ok 'nothing, under a name that tells nothing: does not open, one line' eval 'failed_to_open && one_line'
with "$netdev 77" DAT_DBG_TYPE=1
ok '"NETDEV 77": does not open; the port that it is on is told' \
    eval 'failed_to_open && one_line && told "$device port $port"'
with "$device 77" DAT_DBG_TYPE=1
ok '"DEVICE 77": does not open, one line' eval 'failed_to_open && one_line'

# ---- Diagnostics if there is no such adapter ----

with 'nowhere7 1' DAT_DBG_TYPE=1
ok 'no such device: does not open' failed_to_open
ok 'no such device: one line' one_line
ok 'no such device: what was searched for' told '"nowhere7" port 1'
ok 'no such device: the devices, interfaces and addresses that are there' told "$device ($netdev $address"
with 'lo 0' DAT_DBG_TYPE=1
ok 'an interface without RDMA: one line, with the devices' eval 'failed_to_open && one_line && told "$device ("'
with 198.51.100.1 DAT_DBG_TYPE=1
ok 'an address of another host: one line, with the devices' eval 'failed_to_open && one_line && told "$device ("'
with 'nowhere7 1'
ok 'nobody asks: no line' eval 'failed_to_open && silent'

# ---- The old names, in an installed tree ----

mkdir "$work/lib"
cp "$DAT_TEST_LIBDIR/libdat.so.1" "$DAT_TEST_LIBDIR/libdaplverbs.so.1" "$work/lib"
ln -s libdaplverbs.so.1 "$work/lib/libdaplcma.so.1"
ln -s libdaplverbs.so.1 "$work/lib/libdaplscm.so.1"
cat >"$work/dat.conf" <<END
OpenIB-cma u1.2 nonthreadsafe default libdaplcma.so.1 dapl.1.2 "$netdev 0" ""
OpenIB-$device-$port u1.2 nonthreadsafe default libdaplscm.so.1 dapl.1.2 "$device $port" ""
ofa-v2-$netdev u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "$netdev 0" ""
END
for name in OpenIB-cma "OpenIB-$device-$port"; do
    env LD_LIBRARY_PATH="$work/lib" DAT_OVERRIDE="$work/dat.conf" DAT_DBG_TYPE=1 \
        "$program" "$name" >"$work/run.out" 2>"$work/run.err"
    ok "$(echo "$name" | sed "s/$device-$port/DEVICE-PORT/"): the line of OFED opens, in silence" \
        eval 'opened && silent'
done

# ---- Without a configuration ----

if [ -e /etc/dat.conf ] || [ -e /etc/rdma/dat.conf ]; then
    skip 'without a configuration' 'this host has a dat.conf'
else
    env -u DAT_OVERRIDE LD_LIBRARY_PATH="$work/lib" "$program" "verbs-$netdev" >"$work/run.out" 2>"$work/run.err"
    ok 'without a configuration: verbs-NETDEV opens' opened
    env -u DAT_OVERRIDE LD_LIBRARY_PATH="$work/lib" DAT_DBG_TYPE=1 "$program" verbs-nowhere7 \
        >"$work/run.out" 2>"$work/run.err"
    ok 'without a configuration: another name does not; the line has those that there are' \
        eval 'one_line && told "verbs-$netdev"'
fi

# ---- Locked memory ----

with "$netdev 0"
limit=262144 size=4194304
env DAT_OVERRIDE="$work/dat.conf" DAT_DBG_TYPE=1 "$program" here $size $limit >"$work/run.out" 2>"$work/run.err"
ok 'more memory than may be locked: DAT_INSUFFICIENT_RESOURCES' failed_to_open
ok 'more memory than may be locked: one line' one_line
ok 'more memory than may be locked: the size that was asked for' told "$size bytes"
ok 'more memory than may be locked: the limit and its value' eval 'told "ulimit -l" && told "$limit bytes"'
env DAT_OVERRIDE="$work/dat.conf" DAT_DBG_TYPE=1 "$program" here 65536 $limit >"$work/run.out" 2>"$work/run.err"
ok 'less than may be locked: is registered' said DAT_SUCCESS

echo "1..$number"
exit $failed
