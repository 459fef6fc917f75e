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
#                   the script builds it from the package linux-source and keeps it with the kernel. It corrects the
#                   fault that a message which arrives while the kernel completes an accept waits for the next message
#   VM_TREE=DIR     a root file system of 64-bit ARM, with a kernel, bash and busybox, instead of the host's. Of the
#                   host's files, the guest sees only the directory $VM_SHOW. This guest has no RDMA device
#   VM_OUT=DIR      a directory of the host that the guest can write
#   VM_TIMEOUT=S    maximum time of the guest, in seconds (900)
#   VM_START=S      maximum time until the command starts (300). A guest that hangs while it boots is started once more
#   VM_CPUS=N       number of CPUs (2)
#   VM_MEM=MIB      memory (2048)
#   VM_CACHE=DIR    directory for the kernel and the initial file system (~/.cache/libdat-vm)
#   VM_ACCEL=ACCEL  QEMU's accelerator (tcg,thread=multi)
#   VM_KERNEL=DIR   an unpacked kernel package to use, with boot/ and lib/modules/ ($VM_TREE, if there is one)
#
# In the guest without $VM_TREE: device rxe0 (siw0) on v0, 10.1.0.1; rxe1 (siw1) on v1, 10.1.0.2; no limit on locked memory.
# Packets between the two addresses go over the veth pair, by the routes in the tables 101 and 102.
set -euo pipefail

[ $# -gt 0 ] || { sed -n '3,29s/^# \{0,1\}//p' "$0"; exit 2; }

say() { echo "vm.sh: $*" >&2; }
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
    initial=$cache/initial-$processor.gz
else
    processor=x86_64
    busybox=$(command -v busybox || true)
    console=ttyS0 answers=ttyS1
    # Load crc32_generic first: rdma_rxe requests this checksum by name, and the kernel cannot load the module in time.
    wanted="crc32_generic $wanted veth $driver ib_uverbs rdma_ucm sch_netem wireguard"
    initial=$cache/initial-$rdma.gz
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
    need dpkg-deb dpkg
fi
if [ -z "$tree" ] && [ "$rdma" = siw ]; then
    need make make
    need xz xz-utils
    need strip binutils
fi
if [ -n "$missing" ]; then
    say "not installed:$missing"
    exit 77
fi

kernel_name()
{
    apt-cache depends --important linux-image-amd64 2>/dev/null |
        awk '/Depends: linux-image-[0-9]/ && !name { name = $2 } END { print name }'
}

# download PACKAGE...: into the current directory.
download() { apt-get -qq -o APT::Sandbox::User=root download "$@"; }

# kernel DIR: unpacks the package on which linux-image-amd64 depends into DIR, and does not install it.
kernel()
{
    local name
    # The package lists of a minimal system are empty.
    name=$(kernel_name)
    if [ -z "$name" ] && [ "$(id -u)" -eq 0 ]; then
        apt-get -qq update >/dev/null 2>&1 || true
        name=$(kernel_name)
    fi
    if [ -z "$name" ]; then
        say "the package lists know no kernel: apt-get update"
        exit 77
    fi
    mkdir -p "$1"
    (cd "$1" && download "$name" && dpkg-deb -x "$name"_*.deb . &&
        rm -f "$name"_*.deb) || { say "cannot fetch $name"; exit 77; }
    # Kernel packages have /lib, others /usr/lib.
    [ -d "$1/lib/modules" ] || ln -s usr/lib "$1/lib"
    depmod -b "$1" "$(ls "$1/lib/modules")"
}

# headers RELEASE DIR: unpacks the headers of the kernel RELEASE into DIR, and does not install them.
headers()
{
    local names package
    names="linux-headers-$1 $(apt-cache depends --important "linux-headers-$1" 2>/dev/null |
        awk '$1 == "Depends:" && $2 ~ /^linux-(headers|kbuild)-/ { print $2 }' | paste -s -d ' ')"
    # shellcheck disable=SC2086 # words are wanted
    (cd "$2" && download $names && for package in ./*.deb; do dpkg-deb -x "$package" . || exit; done) || return
    # The Makefile contains the directory in which the package would be installed.
    sed -i "s|/usr/src/|$2/usr/src/|" "$2/usr/src/linux-headers-$1/Makefile"
}

# siw KERNEL: builds the module siw for the unpacked kernel in the directory KERNEL, and adds it to the modules there.
siw()
{
    local release version work compiler log status
    # Hands the socket to the queue pair before the peer can send, not after.
    local early='/^int siw_accept/,/^}/{
        s/^\trv = siw_send_mpareqrep/\tif (!wait_for_peer_rts)\n\t\tsiw_qp_socket_assoc(cep, qp);\n&/
        /^\t\tsiw_qp_socket_assoc(cep, qp);$/d
    }'
    release=$(ls "$1/lib/modules")
    version=$(expr "$release" : '\([0-9]*\.[0-9]*\)')
    log=$cache/siw.log
    work=$(mktemp -d "$cache/siw.XXXXXX")
    status=1
    say "building the module siw for $release, once"
    if ! { mkdir "$work/headers" "$work/source" && headers "$release" "$work/headers"; } >"$log" 2>&1; then
        say "no headers of the kernel $release; without $unpacked the next run fetches another kernel: $log"
    elif ! (cd "$work" && download "linux-source-$version" && dpkg-deb --fsys-tarfile linux-source-*.deb |
        tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
        tar -xJ -C source --strip-components=5 --wildcards '*/drivers/infiniband/sw/siw') >>"$log" 2>&1; then
        say "cannot fetch linux-source-$version: $log"
    else
        sed -i.orig "$early" "$work/source/siw_cm.c"
        ! cmp -s "$work/source/siw_cm.c" "$work/source/siw_cm.c.orig" || say "siw_accept is not corrected: first messages may stall"
        compiler=$(sed -n 's/^CC = .*\(gcc-[0-9]*\)$/\1/p' "$work/headers/usr/src/linux-headers-$release/.kernelvariables")
        if ! command -v "${compiler:-cc}" >/dev/null 2>&1; then
            say "not installed: $compiler"
        elif ! make -C "$work/headers/usr/src/linux-headers-$release" M="$work/source" CONFIG_RDMA_SIW=m modules \
            >>"$log" 2>&1 || ! strip -g "$work/source/siw.ko"; then
            say "the module siw cannot be built: $log"
        else
            mkdir -p "$1/lib/modules/$release/updates"
            mv "$work/source/siw.ko" "$1/lib/modules/$release/updates/siw.ko" && depmod -b "$1" "$release" && status=0
        fi
    fi
    rm -rf "$work"
    [ "$status" -eq 0 ] || exit 77
}

# first_files KERNEL FILE: writes the initial file system to FILE: busybox, the modules in order of loading, and init.
first_files()
{
    local files version module file
    files=$(mktemp -d)
    version=$(ls "$1/lib/modules")
    mkdir -p "$files/bin" "$files/modules" "$files/proc" "$files/sys" "$files/dev"
    cp "$busybox" "$files/bin/busybox"
    for module in $wanted; do
        modprobe -d "$1" -S "$version" --show-depends "$module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
        cp "$file" "$files/modules/"
        basename "$file" >>"$files/modules/order"
    done
    init >"$files/init"
    chmod 755 "$files/init"
    (cd "$files" && find . -print0 | cpio -0 -o -H newc --quiet | gzip -1) >"$2.new"
    mv "$2.new" "$2"
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
share root /below ro,cache=loose
mount -t tmpfs none /above
mkdir /above/files /above/work
mount -t overlay -o lowerdir=/below,upperdir=/above/files,workdir=/above/work none /root
mount -t proc none /root/proc
mount -t sysfs none /root/sys
mount -t devtmpfs none /root/dev
mkdir -p /root/dev/shm /root/dev/pts
mount -t tmpfs none /root/dev/shm
mount -t devpts none /root/dev/pts
mount -t tmpfs none /root/run
share order /order ro
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
unpacked=${VM_KERNEL:-${tree:-$cache/kernel}}
if [ ! -d "$unpacked/boot" ]; then
    fresh=$(mktemp -d "$cache/kernel.XXXXXX")
    (kernel "$fresh") || { status=$?; rm -rf "$fresh"; exit $status; }
    rm -rf "$unpacked"
    mv "$fresh" "$unpacked"
fi
if [ -z "$tree" ] && [ "$rdma" = siw ]; then
    [ -e "$(echo "$unpacked"/lib/modules/*/updates/siw.ko)" ] || siw "$unpacked"
fi
if [ ! "$initial" -nt "$0" ] || [ "$unpacked/boot" -nt "$initial" ]; then
    first_files "$unpacked" "$initial"
fi
flock -u 8

order=$(mktemp -d)
trap 'rm -rf "$order"' EXIT
out=${VM_OUT:+$(realpath "$VM_OUT")}
show=${VM_SHOW:+$(realpath "$VM_SHOW")}
printf '%s' "$out" >"$order/out"
printf '%s' "$show" >"$order/show"
printf '%s' "$answers" >"$order/answers"
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
    -kernel "$(echo "$unpacked"/boot/vmlinuz-*)" -initrd "$initial" \
    -append "console=$console quiet loglevel=3 panic=-1 $relaxed" \
    -pidfile "$order/pid" -virtfs "$(share "${tree:-/}" root readonly=on)" -virtfs "$(share "$order" order readonly=on)"
[ -z "$show" ] || set -- "$@" -virtfs "$(share "$show" show readonly=on)"
[ -z "$out" ] || set -- "$@" -virtfs "$(share "$out" out)"

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
