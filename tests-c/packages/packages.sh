#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# packages.sh - builds the packages, and uses those for Debian in a clean root of its own. Prints TAP.
#
#   CARGO_TARGET_DIR  the build directory; what make has built there is packed
#   AGAIN=1           builds all a second time, from a copy of the sources in another folder: it must be the same. That takes
#                     minutes and runs beside the rest, so the comparison comes last
set -u
LC_ALL=C.UTF-8
DEBIAN_FRONTEND=noninteractive
export LC_ALL DEBIAN_FRONTEND
unset DAT_OVERRIDE DAT_DBG_TYPE DAPL_DBG_TYPE RUST_LOG LD_LIBRARY_PATH LD_PRELOAD

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
make="${MAKE:-make} --no-print-directory -C $root"
work=$target/packages
clean=$work/root
rm -rf "$work"
mkdir -p "$work" || exit 2
second=
trap '[ -z "$second" ] || kill "$second" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
number=0 failed=0

# ok NAME COMMAND...: the end of the output of the command is shown if it fails.
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

# ---- Building ----

for need in dpkg-buildpackage dh; do
    have $need || { skip 'packages for Debian' "no $need here"; finish; }
done
lacking=$("$root/src/verbs/needs.sh" | tr '\n' ' ')
[ -z "$lacking" ] || { skip 'packages for Debian' "not installed: $lacking"; finish; }

debs=$target/deb
ok 'make deb' $make deb || finish
if [ "${AGAIN:-0}" = 1 ]; then
    env -u CARGO_TARGET_DIR nice "$root/packaging/deb.sh" "$work/second" >"$work/second.log" 2>&1 </dev/null &
    second=$!
fi

packages='libdat1 libdat1-verbs libdat2-2 libdat2-2-verbs libdat-dev libdat2-dev dat-tools'
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
arch=$(dpkg --print-architecture)

versions_agree()
{
    for deb in "$debs"/*.deb; do
        case $(dpkg-deb -f "$deb" Version) in "$version"-*) ;; *) echo "$deb"; return 1 ;; esac
    done
    grep -x "Version: *$version" "$root/packaging/rpm/libdat.spec"
}
ok 'all packages have the version of Cargo.toml' versions_agree

every_package()
{
    for package in libdat1 libdat1-verbs libdat2-2 libdat2-2-verbs dat-tools; do
        [ "$(ls "$debs/${package}_"*"_$arch.deb" "$debs/$package-dbgsym_"*"_$arch.deb" | wc -l)" -eq 2 ] || return 1
    done
    ls "$debs"/libdat-dev_*.deb "$debs"/libdat2-dev_*.deb
}
ok 'each package is there, and debugging symbols of each that has code' every_package

if have lintian; then
    # The packages are not for Debian's archive, whose first upload of one closes the report that asks for it. What else is
    # passed over stands in packaging/debian, with the reason.
    ok 'lintian finds no error and warns of nothing' lintian --allow-root --fail-on error,warning \
        --suppress-tags initial-upload-closes-no-bugs "$debs"/*.changes
else
    skip 'lintian finds no error and warns of nothing' 'no lintian here'
fi

mkdir "$work/files" "$work/symbols"
for deb in "$debs"/*.deb; do
    case $deb in
    *-dbgsym_*) dpkg-deb -x "$deb" "$work/symbols" ;;
    *) dpkg-deb -x "$deb" "$work/files" ;;
    esac
done
binaries=$(find "$work/files" -type f \( -name '*.so.[12]' -o -path '*/bin/*' \))

# Addresses of functions are read before anything runs, and then neither they nor the stack nor code can be written.
hardened()
{
    for file in $binaries; do
        readelf -dW "$file" | grep -q BIND_NOW || { echo "$file: not BIND_NOW"; return 1; }
        readelf -lW "$file" | grep -q GNU_RELRO || { echo "$file: no RELRO"; return 1; }
        readelf -lW "$file" | grep GNU_STACK | grep -q ' RW ' || { echo "$file: stack"; return 1; }
        readelf -hW "$file" | grep -q 'Type: *DYN' || { echo "$file: has a fixed place"; return 1; }
        ! readelf -dW "$file" | grep -E 'TEXTREL|RPATH|RUNPATH' || { echo "$file"; return 1; }
    done
}
ok 'every library and tool is hardened' hardened

# A line of the table is: | file | bytes |.
sizes_are_told()
{
    told=$(awk -F '[| `]+' '/^\| `/ && $3 ~ /^[0-9,]+$/ { gsub(",", "", $3); print $2, $3 }' "$root/docs/packages.md")
    [ -n "$told" ] || return 1
    for file in $(printf '%s\n' $binaries | grep '\.so\.'); do
        echo "$told" | awk -v name="${file##*/}" -v size="$(stat -c %s "$file")" '
            $1 == name { found = 1; if (size > $2 * 1.1 || size < $2 * 0.9) { print name " has " size; exit 1 } }
            END { if (!found) { print name " is not in the table"; exit 1 } }' || return 1
    done
}
ok 'docs/packages.md tells the size of each library, within a tenth' sizes_are_told

symbols_apart()
{
    for file in $binaries; do
        ! readelf -SW "$file" | grep -E '\.(debug_info|symtab)' || { echo "$file"; return 1; }
        id=$(readelf -n "$file" | sed -n 's/^ *Build ID: *//p')
        rest=${id#??}
        debug=$work/symbols/usr/lib/debug/.build-id/${id%"$rest"}/$rest.debug
        readelf -SW "$debug" | grep -q '\.debug_info' || { echo "$file: $debug"; return 1; }
    done
}
ok 'they are stripped, and the packages of symbols have what was taken' symbols_apart

names_no_folder()
{
    ! grep -raoF -e "$root" -e "$target" -e "${CARGO_HOME:-$HOME/.cargo}" "$work/files" "$work/symbols"
}
ok 'no file names a folder of the build' names_no_folder

# leads_somewhere FILE...: every link of these documents leads to a file of the same package.
leads_somewhere()
{
    for document in "$@"; do
        for link in $(grep -o '](\([^):#]*\)' "$document" | sed 's/](//'); do
            [ -e "$(dirname "$document")/$link" ] || { echo "$document: $link"; return 1; }
        done
    done
}
documents=$work/files/usr/share/doc/libdat-dev
ok 'libdat-dev has the pages that its README.md leads to' test -e "$documents/docs/getting-started.md"
ok 'links of its documents lead to files that are there' leads_somewhere "$documents"/*.md "$documents"/docs/*.md

# ---- RPM ----

if have rpmbuild; then
    ok 'make rpm' $make rpm
    every_rpm()
    {
        for package in libdat1 libdat1-verbs libdat2-2 libdat2-2-verbs libdat-devel libdat2-devel dat-tools; do
            ls "$target/rpm/$package-$version"-*.rpm || return 1
        done
    }
    ok 'each package is there' every_rpm
    rpm -qpl "$target/rpm/libdat1-$version"-*.rpm >"$work/list" 2>/dev/null
    ok 'libdat1 has the library and dat.conf' \
        sh -c 'grep "/libdat\.so\.1$" "$0" && grep -x /etc/dat.conf "$0"' "$work/list"
    ok 'dat.conf is a file that upgrades leave alone' \
        sh -c 'rpm -qp --qf "[%{filenames} %{fileflags:fflags}\n]" "$0" | grep "^/etc/dat.conf cn$"' \
        "$target/rpm/libdat1-$version"-*.rpm
    if have rpmlint; then
        ok 'rpmlint finds no error' rpmlint -c "$root/packaging/rpm/rpmlint.toml" "$root/packaging/rpm/libdat.spec" \
            "$target"/rpm/*.rpm
    else
        skip 'rpmlint finds no error' 'no rpmlint here'
    fi
else
    skip 'make rpm' 'no rpmbuild here'
fi

# ---- In a clean root ----

# in_root COMMAND...: runs it there, with a /tmp and a list of processes of its own, which end with it.
in_root()
{
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$0/proc" && mount -t tmpfs -o mode=1777 tmpfs "$0/tmp" &&
            mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm" &&
            exec env -i DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$@"' \
        "$clean" "$@"
}
as_root() { in_root "$clean" "$@"; }
as_nobody() { in_root --userspec=nobody:nogroup "$clean" "$@"; }
apt_get() { as_root apt-get -q -y --no-install-recommends "$@"; }

if ! have mmdebstrap; then
    skip 'the packages in a clean root' 'no mmdebstrap here'
elif [ "$(id -u)" -ne 0 ] || ! unshare --mount --pid --fork true 2>/dev/null; then
    skip 'the packages in a clean root' 'needs root, and namespaces'
elif ! mmdebstrap --quiet --variant=apt --format=directory --include=gcc,libc6-dev,pkg-config,libibverbs1,librdmacm1 \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$clean" >"$work/mmdebstrap.log" 2>&1; then
    skip 'the packages in a clean root' "mmdebstrap: $(grep -m 1 -e '^E:' -e rror "$work/mmdebstrap.log")"
else
    # Files beside those in which dpkg, apt and ldconfig keep their own records.
    files_of_root()
    {
        (cd "$clean" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/log -o -path ./var/cache \
            -o -path ./debs -o -path ./etc/ld.so.cache \) -prune -o -print | sort)
    }
    mkdir "$clean/debs"
    cp "$debs"/*.deb "$clean/debs"
    rm "$clean"/debs/*-dbgsym_*
    # An older libdat1, with another dat.conf.
    dpkg-deb -R "$debs/libdat1_"*"_$arch.deb" "$work/old"
    sed -i 's/^Version: .*/Version: 0.0.1-1/' "$work/old/DEBIAN/control"
    echo '# This line is from an older package.' >>"$work/old/etc/dat.conf"
    rm "$work/old/DEBIAN/md5sums"
    dpkg-deb -b "$work/old" "$clean/debs/old.deb" >/dev/null

    files_of_root >"$work/before"
    ok 'apt-get installs an older libdat1 alone' apt_get install /debs/old.deb
    echo '# mine' >>"$clean/etc/dat.conf"
    rm "$clean/debs/old.deb"
    ok 'apt-get installs all packages, over the older one' \
        apt_get -o Dpkg::Options::=--force-confdef install $(ls "$clean/debs" | sed 's|^|/debs/|')
    ok 'the dat.conf that was changed is as it was' grep -x '# mine' "$clean/etc/dat.conf"
    as_root dpkg --verify $packages >"$work/verify" 2>&1
    ok 'dpkg finds every file as it was packed, but dat.conf' same_result "$(sed 's/.* //' "$work/verify")" /etc/dat.conf
    ok 'the libraries are in the folder of the architecture' \
        test -e "$clean/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/libdat.so.1"
    ok 'dat-ping shm --self as nobody: dat.conf hides nothing' as_nobody dat-ping shm --self --count 3
    cat >"$clean/debs/build.sh" <<'BUILD'
set -e
cc -Wall -Wextra -Werror -o /debs/demo /usr/share/doc/libdat-dev/examples/*.c $(pkg-config --cflags --libs dat)
printf '#include <dat2/udat.h>\n#include <stdio.h>\n%s\n' 'int main(void) {
    char shm[] = "shm"; DAT_EVD_HANDLE evd = DAT_HANDLE_NULL; DAT_IA_HANDLE ia;
    if (dat_ia_open(shm, 8, &evd, &ia) != DAT_SUCCESS) return 1;
    return dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG) != DAT_SUCCESS; }' >/debs/second.c
cc -Wall -Wextra -Werror -o /debs/second /debs/second.c $(pkg-config --cflags --libs dat2)
BUILD
    ok 'programs compile with pkg-config dat and pkg-config dat2' as_root sh /debs/build.sh
    ok 'the program of uDAPL 1.2 runs as nobody' as_nobody /debs/demo shm
    ok 'the program of uDAPL 2.0 runs as nobody' as_nobody /debs/second
    ok 'man finds dat.conf(5), a call and a tool by the names of the files' \
        sh -c 'ls "$0"/man5/dat.conf.5dat.gz "$0"/man3/dat_ia_open.3.gz "$0"/man1/dat-ping.1.gz' "$clean/usr/share/man"
    ok 'apt-get removes them' apt_get remove $packages
    ok 'dat.conf is still there' grep -x '# mine' "$clean/etc/dat.conf"
    ok 'apt-get purges libdat1' apt_get purge libdat1
    files_of_root >"$work/after"
    ok 'nothing is left' diff "$work/before" "$work/after"
fi

# ---- The second build ----

if [ -z "$second" ]; then
    skip 'the packages are the same from another folder' 'AGAIN=1 builds them a second time'
    finish
fi
wait "$second"
status=$?
second=
ok 'the packages are built from another folder' sh -c 'tail -n 20 "$1"; exit "$0"' $status "$work/second.log"
same_packages()
{
    for deb in "$debs"/*.deb; do
        cmp "$deb" "$work/second/${deb##*/}" || return 1
    done
}
ok 'they are the same, byte for byte' same_packages
finish
