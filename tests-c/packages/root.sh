# SPDX-License-Identifier: MIT OR Apache-2.0
#
# root.sh - a clean root of a version of Debian, and tests in it, for scripts that print TAP and read this file.
# $CARGO_TARGET_DIR names the build directory.
#
# The scripts use these variables: root is the source tree, work a directory that is removed at the end, clean the root,
# which needs no_root empty.
# shellcheck shell=sh disable=SC2034
set -u
LC_ALL=C.UTF-8
DEBIAN_FRONTEND=noninteractive
export LC_ALL DEBIAN_FRONTEND
unset DAT_OVERRIDE DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG LD_LIBRARY_PATH LD_PRELOAD

root=$(cd "$(dirname "$0")/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=$target/$(basename "$0" .sh)
clean=$work/root
rm -rf "$work"
mkdir -p "$work" || exit 2
# The background jobs of aside(). They end first, because they write into the directory.
jobs=
trap 'for job in $jobs; do kill -- "-$job" && wait "$job"; done 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
number=0 failed=0

# ok NAME COMMAND...: runs one test, and shows the end of its output after a failure.
ok()
{
    name=$1
    shift
    number=$((number + 1))
    if "$@" >"$work/output" 2>&1; then
        echo "ok $number - $name"
    else
        failed=1
        echo "not ok $number - $name"
        tail -n 30 "$work/output" | sed 's/^/# /'
        return 1
    fi
}

skip()
{
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

same_result()
{
    [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }
}

finish()
{
    echo "1..$number"
    exit $failed
}

have()
{
    command -v "$1" >/dev/null 2>&1
}

# aside OUTPUT COMMAND...: runs the command in the background in its own process group, $!.
aside()
{
    output=$1
    shift
    setsid "$@" >"$output" 2>&1 </dev/null &
    jobs="$jobs $!"
}

# await JOB: waits for a job of aside(), and returns its status.
await()
{
    wait "$1"
    status=$?
    jobs=$(echo "$jobs" | sed "s/ $1\( \|\$\)/\1/")
    return $status
}

# bootstrap SUITE DIRECTORY PACKAGES [OPTION...]: creates a root in the background, $bootstrap, from the mirror of this
# machine. After a failure, no_root contains the reason.
bootstrap()
{
    suite=$1 directory=$2 include=$3
    shift 3
    bootstrap=
    if ! have mmdebstrap; then
        no_root='no mmdebstrap here'
    elif [ "$(id -u)" -ne 0 ] || ! unshare --mount --pid --fork true 2>/dev/null; then
        no_root='needs root, and namespaces'
    else
        mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' 'Created-By: Packages' | head -n 1)
        aside "$directory.log" mmdebstrap --quiet --variant=apt --format=directory --dpkgopt=force-unsafe-io \
            --include="mount,$include" "$@" "$suite" "$directory" ${mirror:+"deb $mirror $suite main"}
        bootstrap=$!
        no_root=
    fi
}

# bootstrapped DIRECTORY: waits for the root.
bootstrapped()
{
    [ -z "$bootstrap" ] || await "$bootstrap" || no_root="mmdebstrap: $(grep -m 1 -e '^E:' -e rror "$1.log")"
    bootstrap=
}

# in_root USER:GROUP COMMAND...: runs the command in the root, with a separate /tmp and separate processes, which end with
# it. The root becomes that of a mount namespace, because a process below chroot(2) cannot create a user namespace.
in_root()
{
    unshare --mount --pid --fork --kill-child sh -c '
        cd "$0" && mount --bind . . && cd "$0" && mount -t proc proc proc && mount -t tmpfs -o mode=1777 tmpfs tmp &&
            mount -t tmpfs -o mode=1777 tmpfs dev/shm && mount -t devpts devpts dev/pts && pivot_root . mnt &&
            umount -l /mnt && user=$1 && shift && exec env -i DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
            PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot --userspec="$user" / "$@"' "$clean" "$@"
}
as_root() { in_root root:root "$@"; }
as_nobody() { in_root nobody:nogroup "$@"; }
apt_get() { as_root apt-get -q -y --no-install-recommends "$@"; }

# Lists the files, except the records of package managers, ldconfig and mount, and what the tests themselves bring.
files_of_root()
{
    (cd "$clean" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/lib/rpm -o -path ./var/log \
        -o -path ./var/cache -o -path ./run/mount -o -path ./debs -o -path ./home -o -path ./etc/ld.so.cache \) \
        -prune -o -print | sort)
}
