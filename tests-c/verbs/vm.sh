#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# vm.sh COMMAND [ARG...] - runs a command in a virtual machine: with an RDMA device, or of another architecture
#
# Boots the distribution's kernel in QEMU, by default without KVM, with a software RDMA device on each end of a veth
# pair, and runs the command in this guest as root. The guest sees the host's root file system under the same paths.
# It can write everywhere, but only files in $VM_OUT remain. The exit status is the command's, or 124 after VM_TIMEOUT,
# or 125 if the guest does not start or end correctly. It is 77 if the host lacks a program or package; then a line
# names what is missing.
#
#   VM_RDMA=rxe     the kind of the devices: rxe is Soft-RoCE, siw is soft-iWARP. Debian's kernels lack the module siw:
#                   the script builds it from the package linux-source and keeps it in $VM_CACHE. It corrects the
#                   fault that a message which arrives while the kernel completes an accept waits for the next message
#   VM_KERNEL=SUITE|DIR  the kernel of this suite of Debian, such as trixie or trixie-backports, from the archive that
#                   this machine's apt uses; or the unpacked packages of a kernel in a directory whose name contains a
#                   slash. By default this machine's suite, or $VM_TREE
#   VM_ROOT=SUITE|DIR    libraries that replace the host's: glibc and rdma-core of this suite, or a directory that is
#                   laid over the host's root file system. By default none
#   VM_TREE=DIR     a root file system of 64-bit ARM, with a kernel, bash and busybox, instead of the host's. Of the
#                   host's files, the guest sees only the directory $VM_SHOW. This guest has no RDMA device
#   VM_OUT=DIR      a directory of the host that the guest can write
#   VM_TIMEOUT=S    maximum time of the guest, in seconds (900)
#   VM_START=S      maximum time until the command starts (300). A guest that hangs while it boots is started once more
#   VM_CPUS=N       number of CPUs (2)
#   VM_MEM=MIB      memory (2048)
#   VM_CACHE=DIR    directory for kernels, libraries and initial file systems (~/.cache/libdat-vm)
#   VM_ACCEL=ACCEL  QEMU's accelerator (tcg,thread=multi)
#   VM_APPEND=ARGS  further arguments of the kernel, such as profile=2
#
# In the guest without $VM_TREE: device rxe0 (siw0) on v0, 10.1.0.1; rxe1 (siw1) on v1, 10.1.0.2; no limit on locked memory.
# Packets between the two addresses go over the veth pair, by the routes in the tables 101 and 102.
set -euo pipefail

[ $# -gt 0 ] || { sed -n '3,35s/^# \{0,1\}//p' "$0"; exit 2; }

. "$(dirname "$0")/debian.sh"

say() { echo "vm.sh: $*" >&2; }
directory() { realpath -qe "$1" || { say "no directory $1"; exit 2; }; }
cache=${VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/libdat-vm}
limit=${VM_TIMEOUT:-900}
tree=${VM_TREE:-}
rdma=${VM_RDMA:-rxe}
case $rdma in rxe) driver=rdma_rxe ;; siw) driver=siw ;; *) say "VM_RDMA is rxe or siw, not \"$rdma\""; exit 2 ;; esac
wanted='virtio_pci 9pnet_virtio 9p overlay'
if [ -n "$tree" ]; then
    processor=aarch64
    busybox=$tree/bin/busybox
    # This machine has only one serial line, so the output of the command uses another console.
    console=ttyAMA0 answers=hvc0
    wanted="$wanted virtio_console"
else
    processor=x86_64
    busybox=$(command -v busybox || true)
    console=ttyS0 answers=ttyS1
    # Load crc32_generic first: rdma_rxe requests this checksum by name, and the kernel cannot load the module in time.
    # Newer kernels have no such module, and rdma_rxe calculates the checksum itself.
    wanted="crc32_generic? $wanted veth $driver ib_uverbs rdma_ucm sch_netem wireguard"
fi

missing=
need() { command -v "$1" >/dev/null 2>&1 || case " $missing " in *" $2 "*) ;; *) missing="$missing $2" ;; esac; }
need modprobe kmod
need cpio cpio
if [ -n "$tree" ]; then
    need qemu-system-aarch64 qemu-system-arm
else
    need qemu-system-x86_64 qemu-system-x86
    need busybox busybox-static
    # The initial file system has no libraries, so busybox must be static.
    ! ldd "$busybox" >/dev/null 2>&1 || missing="$missing busybox-static"
    need ip iproute2
    need rdma iproute2
    need apt-get apt
    need dpkg-deb dpkg
    need xz xz-utils
fi
if [ -z "$tree" ] && [ "$rdma" = siw ]; then
    need make make
    need strip binutils
fi
if [ -n "$missing" ]; then
    say "not installed:$missing"
    exit 77
fi

# find_kernel DIR: finds the kernel's image, the directory of its modules, and its release in DIR. Packages before 7.x
# have the image in boot/, later ones next to the modules.
find_kernel()
{
    local images directories
    images=$(realpath -qe "$1"/boot/vmlinuz-* "$1"/{usr/,}lib/modules/*/vmlinuz | sort -u || true)
    directories=$(for modules in "$1"/{usr/,}lib/modules/*/kernel; do realpath -qe "${modules%/kernel}"; done | sort -u || true)
    if [ "$(echo "$images" | grep -c .)" -ne 1 ] || [ "$(echo "$directories" | grep -c .)" -ne 1 ]; then
        say "not one kernel in $1, but these images: ${images//$'\n'/ }; and these modules: ${directories//$'\n'/ }"
        exit 2
    fi
    image=$images modules=$directories release=${directories##*/}
    case $image in
    "$modules/vmlinuz" | */"vmlinuz-$release") ;;
    *) say "the kernel $image is not of the release $release, to which the modules belong"; exit 2 ;;
    esac
}

# first_files FILE: writes the initial file system to FILE: busybox, the modules in order of loading, and init.
first_files()
{
    local files tree part module file name
    files=$(mktemp -d)
    # depmod writes next to the modules, so it gets a directory with links to them.
    tree=$files/tree/lib/modules/$release
    mkdir -p "$files/bin" "$files/modules" "$files/proc" "$files/sys" "$files/dev" "$tree"
    for part in kernel updates modules.builtin modules.builtin.modinfo modules.order; do
        [ ! -e "$modules/$part" ] || cp -as "$modules/$part" "$tree"
    done
    [ -z "$siw" ] || cp "$siw" "$tree/kernel/siw.ko"
    depmod -b "$files/tree" "$release"
    cp "$busybox" "$files/bin/busybox"
    for module in $wanted; do
        modprobe -d "$files/tree" -S "$release" --show-depends "${module%\?}" 2>"$files/error" ||
            [ "$module" != "${module%\?}" ] ||
            { say "the kernel $release in $unpacked lacks the module $module"; rm -rf "$files"; exit 2; }
    done >"$files/wanted"
    awk '$1 == "insmod" && !seen[$2]++ { print $2 }' "$files/wanted" | while read -r file; do
        name=$(basename "$file")
        name=${name%%.ko*}.ko
        case $file in
        *.xz) xz -dc "$file" ;;
        *.zst) zstd -qdc "$file" ;;
        *.gz) gzip -dc "$file" ;;
        *) cat "$file" ;;
        esac >"$files/modules/$name"
        echo "$name" >>"$files/modules/order"
    done
    rm -rf "$files/tree" "$files/wanted" "$files/error"
    init >"$files/init"
    chmod 755 "$files/init"
    (cd "$files" && find . -print0 | cpio -0 -o -H newc --quiet | gzip -1) >"$1.new"
    mv "$1.new" "$1"
    rm -rf "$files"
}

init()
{
    cat <<'END'
#!/bin/busybox sh
PATH=/bin
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
for m in $(cat /modules/order); do
    insmod "/modules/$m" || echo "vm.sh: no module $m"
done
share() { mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" "$1" "$2"; }
mkdir /root /below /above /order
share order /order ro
layer=$(cat /order/layer)
lower=/below
share root /below ro,cache=loose
if [ -n "$layer" ]; then
    mkdir /layer
    share layer /layer ro,cache=loose
    lower=/layer:/below
fi
mount -t tmpfs none /above
mkdir /above/files /above/work
mount -t overlay -o lowerdir=$lower,upperdir=/above/files,workdir=/above/work none /root
mount -t proc none /root/proc
mount -t sysfs none /root/sys
mount -t devtmpfs none /root/dev
mkdir -p /root/dev/shm /root/dev/pts
mount -t tmpfs none /root/dev/shm
mount -t devpts none /root/dev/pts
mount -t tmpfs none /root/run
show=$(cat /order/show)
if [ -n "$show" ]; then
    mkdir -p "/root$show"
    share show "/root$show" ro
fi
out=$(cat /order/out)
if [ -n "$out" ]; then
    mkdir -p "/root$out"
    share out "/root$out" rw
fi
mkdir /root/run/order
cp /order/* /root/run/order
chroot /root /bin/bash /run/order/main >"/dev/$(cat /order/answers)" 2>&1
sync
poweroff -f
END
}

mkdir -p "$cache"
exec 8>"$cache/lock"
flock 8
[ -z "$tree" ] || tree=$(directory "$tree") || exit
case ${VM_KERNEL:-$tree} in
*/*) unpacked=$(directory "${VM_KERNEL:-$tree}") || exit ;;
*)
    from "${VM_KERNEL:-$(machine_suite)}"
    unpacked=$(kept "kernel-$suite" kernel) || exit
    ;;
esac
find_kernel "$unpacked"
siw=
if [ -z "$tree" ] && [ "$rdma" = siw ]; then
    siw=$cache/siw-$release.ko
    if [ ! -e "$siw" ]; then
        [ -n "${suite:-}" ] || from "$(machine_suite)"
        siw "$release" "$siw"
    fi
fi
case ${VM_ROOT:-} in
'') layer= ;;
*/*) layer=$(directory "$VM_ROOT") || exit ;;
*) from "$VM_ROOT" && layer=$(kept "root-$suite" root) || exit ;;
esac
[ -z "$layer" ] || [ -d "$layer/usr" ] || { say "no root file system in $layer"; exit 2; }
# The initial file system is kept for each kernel and device, together with a description of its origin.
initial=$cache/initial-$release-$processor-$rdma-$(echo "$unpacked" | cksum | cut -d ' ' -f 1).gz
# shellcheck disable=SC2086 # words are wanted
origin=$(stat -c '%n %i %s %Y %Z' "$image" "$modules" "$0" $siw)
if [ ! -e "$initial" ] || [ "$(cat "$initial.origin" 2>/dev/null)" != "$origin" ]; then
    first_files "$initial"
    echo "$origin" >"$initial.origin"
fi
flock -u 8

order=$(mktemp -d)
trap 'rm -rf "$order"' EXIT
out=${VM_OUT:+$(realpath "$VM_OUT")}
show=${VM_SHOW:+$(realpath "$VM_SHOW")}
printf '%s' "$out" >"$order/out"
printf '%s' "$show" >"$order/show"
printf '%s' "$layer" >"$order/layer"
printf '%s' "$answers" >"$order/answers"
# docs.sh loads modules in the guest.
export VM_MODULES=$modules
export -p | grep -v -E '^declare -x (HOME|PWD|OLDPWD|SHLVL|TMPDIR|_)=' >"$order/environment" || true

# network: prints the commands that create the veth pair and the RDMA devices in the guest.
network()
{
    # Each end of the pair answers ARP requests only for its own address.
    echo 'sysctl -q -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2'
    echo 'ip link set lo up; ip link add v0 mtu 4200 type veth peer name v1 mtu 4200'
    echo 'ip addr add 10.1.0.1/24 dev v0; ip addr add 10.1.0.2/24 dev v1'
    echo 'ip link set v0 up; ip link set v1 up'
    echo "rdma link add ${rdma}0 type $rdma netdev v0 && rdma link add ${rdma}1 type $rdma netdev v1"
    # Each process that lists devices loads all drivers of libibverbs. This takes long on emulated CPUs.
    echo "find /etc/libibverbs.d -name '*.driver' ! -name $rdma.driver -delete"
    # Route packets between the two addresses over the pair. By default, the kernel delivers them locally.
    echo 'ip rule add pref 100 lookup local; ip rule del pref 0'
    echo 'for f in all v0 v1; do sysctl -q -w net.ipv4.conf.$f.accept_local=1 net.ipv4.conf.$f.rp_filter=0; done'
    echo 'for i in lo v0; do ip rule add pref 10 iif $i from 10.1.0.1 to 10.1.0.2 lookup 101; done'
    echo 'for i in lo v1; do ip rule add pref 10 iif $i from 10.1.0.2 to 10.1.0.1 lookup 102; done'
    echo 'ip route add 10.1.0.2 dev v0 src 10.1.0.1 table 101; ip route add 10.1.0.1 dev v1 src 10.1.0.2 table 102'
}

{
    echo 'echo vm.sh: starts; set +e; . /run/order/environment; export HOME=/root TMPDIR=/tmp; ulimit -l unlimited; ulimit -c 0'
    if [ -n "$tree" ]; then echo 'busybox ip link set lo up'; else network; fi
    printf 'cd %q\n' "$PWD"
    printf '%q ' "$@"
    # shellcheck disable=SC2016
    echo; echo 'printf "\nvm.sh: status %d\n" $?'
} >"$order/main"

# Defences of the kernel that take a tenth of the CPU time on emulated CPUs, such as clearing each page twice.
relaxed='mitigations=off init_on_alloc=0 randomize_kstack_offset=off hardened_usercopy=off apparmor=0'
# QEMU translates code once for each address. At the same addresses, all processes use one translation of a library.
relaxed="$relaxed norandmaps"
# The default does not use KVM, because /dev/kvm can exist and not work. Set VM_ACCEL=kvm if it works.
accel=${VM_ACCEL:-tcg,thread=multi}
share() { echo "local,path=$1,mount_tag=$2,security_model=none,multidevs=remap${3:+,$3}"; }
if [ -n "$tree" ]; then
    # This CPU model lacks signed pointers, whose emulation would take most of the time.
    set -- -machine virt -cpu neoverse-n1 -serial "file:$order/console" \
        -device virtio-serial-pci -chardev stdio,id=answers -device virtconsole,chardev=answers
else
    # This CPU model lacks AVX, whose emulation is slow.
    set -- -cpu Nehalem -serial "file:$order/console" -serial stdio
fi
set -- "$@" -accel "$accel" -smp "${VM_CPUS:-2}" -m "${VM_MEM:-2048}" -nodefaults -nographic -no-reboot \
    -kernel "$image" -initrd "$initial" \
    -append "console=$console quiet loglevel=3 panic=-1 $relaxed ${VM_APPEND:-}" \
    -pidfile "$order/pid" -virtfs "$(share "${tree:-/}" root readonly=on)" -virtfs "$(share "$order" order readonly=on)"
[ -z "$show" ] || set -- "$@" -virtfs "$(share "$show" show readonly=on)"
[ -z "$out" ] || set -- "$@" -virtfs "$(share "$out" out)"
[ -z "$layer" ] || set -- "$@" -virtfs "$(share "$layer" layer readonly=on)"

# end_hung_guest: ends the guest unless the command starts in time.
end_hung_guest()
{
    for ((waited = 0; waited < ${VM_START:-300}; waited++)); do
        [ ! -s "$order/output" ] || return 0
        sleep 1
    done
    say "the command did not start within $waited seconds"
    kill "$(cat "$order/pid")"
}

for attempt in 1 2; do
    status=0
    : >"$order/output"
    end_hung_guest &
    timeout --foreground -k 5 "$limit" "qemu-system-$processor" "$@" </dev/null 2>"$order/qemu" |
        sed -u 's/\r$//' | tee "$order/output" | sed -u '/^vm\.sh: st\(arts$\|atus \)/d' || status=$?
    kill $! 2>/dev/null || true
    [ ! -s "$order/output" ] && [ "$attempt" = 1 ] || break
done
told=$(sed -n 's/^vm\.sh: status \([0-9]*\)$/\1/p' "$order/output" | tail -n 1)
[ -z "$told" ] || exit "$told"
if [ "$status" = 124 ] || [ "$status" = 137 ]; then
    say "nothing after $limit seconds"
    exit 124
fi
tail -n 20 "$order/console" "$order/qemu" >&2 || true
say "the machine ended without an answer"
exit 125
