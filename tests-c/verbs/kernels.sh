#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# kernels.sh ADAPTER - tests that vm.sh rejects a kernel or root file system that it cannot use, before it starts a
# virtual machine, and changes nothing in the directories of its caller. Prints TAP.
set -u
LC_ALL=C
export LC_ALL

vm=$(cd "$(dirname "$0")" && pwd)/vm.sh
for need in qemu-system-x86_64 busybox modprobe cpio rdma apt-get; do
    PATH=$PATH:/sbin:/usr/sbin command -v $need >/dev/null || { echo "1..0 # SKIP no $need here"; exit; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../common/tap.sh"

# rejects TEXT VARIABLE=VALUE...: vm.sh exits with 2, names the reason, and leaves the directory $work/own as it was.
rejects()
{
    text=$1
    shift
    find "$work/own" | sort >"$work/before"
    status=0
    env -u VM_TREE -u VM_ROOT -u VM_RDMA "VM_CACHE=$work/cache" "$@" bash "$vm" true >"$work/output" 2>&1 || status=$?
    find "$work/own" | sort | cmp -s - "$work/before" || { echo 'the directory has changed'; return 1; }
    [ $status -eq 2 ] && grep -qF -e "$text" "$work/output" || { echo "status $status"; cat "$work/output"; return 1; }
}

# A kernel without modules, one with modules of another release, and two kernels.
mkdir -p "$work/own/empty" "$work/own/image/boot" "$work/own/other/boot" "$work/own/other/lib/modules/6.1/kernel" \
    "$work/own/two/usr/lib/modules/7.1/kernel" "$work/own/two/usr/lib/modules/7.2/kernel" "$work/own/root"
touch "$work/own/image/boot/vmlinuz-6.1" "$work/own/other/boot/vmlinuz-6.2" "$work/own/two/usr/lib/modules/7.1/vmlinuz" \
    "$work/own/two/usr/lib/modules/7.2/vmlinuz"

ok 'a directory without a kernel' rejects "not one kernel in $work/own/empty" "VM_KERNEL=$work/own/empty"
ok 'a kernel without modules' rejects "not one kernel in $work/own/image" "VM_KERNEL=$work/own/image"
ok 'a kernel with modules of another release' rejects 'the release 6.1' "VM_KERNEL=$work/own/other"
ok 'a directory with two kernels' rejects "not one kernel in $work/own/two" "VM_KERNEL=$work/own/two"
ok 'a directory that does not exist' rejects "no directory $work/own/none" "VM_KERNEL=$work/own/none"
mv "$work/own/other/boot/vmlinuz-6.2" "$work/own/other/boot/vmlinuz-6.1"
ok 'a kernel without the modules of a device' rejects 'lacks the module' "VM_KERNEL=$work/own/other"
ok 'a root file system that does not exist' rejects "no directory $work/own/none" "VM_KERNEL=$work/own/other" \
    "VM_ROOT=$work/own/none"
ok 'a root file system without files' rejects "no root file system in $work/own/root" "VM_KERNEL=$work/own/other" \
    "VM_ROOT=$work/own/root"
echo "1..$number"
exit $failed
