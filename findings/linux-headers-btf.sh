#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# linux-headers-btf.sh - with Debian 13's kernel headers, a build of any module on Debian 12 needs another compiler, another
# glibc and pahole, although the headers unpack and configure without an error
#
# Version: linux-headers-6.12.117+deb13-amd64 6.12.117-1 (Debian 13), on a machine with Debian 12's glibc.
# Behaviour: three steps of `make modules` fail in turn, for a module of one line:
#   - .kernelvariables demands gcc-14; with CC=cc, an older gcc rejects -fmin-function-alignment=16;
#   - objtool and modpost need GLIBC_2.38;
#   - the headers contain a vmlinux, unlike those of 6.1, so the build describes the module's types with pahole
#     (CONFIG_DEBUG_INFO_BTF_MODULES). An empty value of this variable on make's command line omits the step.
# Seen:
#   compiler: gcc-14; vmlinux: 1; BTF for modules: 1
#   objtool needs GLIBC_2.38
# Exit status: 0 if the behaviour is as described, 1 if it changed, 77 if the packages are unavailable.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# Lists of another suite, from the archive that this machine uses. They are kept in the temporary directory only.
suite=trixie
read -r uri entry <<END
$(apt-get indextargets --format '$(REPO_URI) $(SOURCESENTRY) $(COMPONENT) $(CREATED_BY) $(ORIGIN)' |
    awk '$3 == "main" && $4 == "Packages" && $5 == "Debian" { print $1, $2; exit }')
END
keys=$(sed -n 's/^[^#]*[Ss]igned-[Bb]y *[:=] *\(\/[^] ]*\).*/\1/p' "${entry%:*}" | head -n 1)
mkdir -p lists/partial cache/archives/partial
echo "deb [arch=amd64${keys:+ signed-by=$keys}] $uri $suite main" >sources.list
set -- -qq -o APT::Sandbox::User=root -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$work/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$work/cache" -o Acquire::Languages=none
apt-get "$@" update >/dev/null 2>&1 || { echo "no package lists of $suite"; exit 77; }

depends() { apt-cache "$@" | awk '$1 == "Depends:" { print $2 }'; }
headers=linux-headers-6.12.117+deb13-amd64
kbuild=$(depends "$@" depends --important "$headers" | grep '^linux-kbuild-')
for package in "$headers=6.12.117-1" "$kbuild=6.12.117-1"; do
    apt-get "$@" download "$package" || { echo "$package is unavailable"; exit 77; }
done
for deb in ./*.deb; do dpkg-deb -x "$deb" .; done

build=usr/src/$headers
compiler=$(sed -n 's/^CC = .*\(gcc-[0-9]*\)$/\1/p' "$build/.kernelvariables" | tail -n 1)
vmlinux=$(find "$build" -maxdepth 1 -name vmlinux | wc -l)
btf=$(grep -c '^CONFIG_DEBUG_INFO_BTF_MODULES=y' "$build/include/config/auto.conf")
glibc=$(find "usr/lib/$kbuild/tools/objtool" -type f -exec readelf -V {} + 2>/dev/null | grep -o 'GLIBC_2\.[0-9]*' |
    sort -uV | tail -n 1)
echo "compiler: $compiler; vmlinux: $vmlinux; BTF for modules: $btf"
echo "objtool needs $glibc"
[ "$vmlinux" = 1 ] && [ "$btf" = 1 ] && [ "$glibc" = GLIBC_2.38 ] && [ "$compiler" = gcc-14 ]
