#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# rpm.sh DIRECTORY - builds RPM packages of this tree in DIRECTORY.
# rpm.sh --needs   - only checks whether the required packages are installed.
#
# CARGO_TARGET_DIR names the build directory (default DIRECTORY/target). Libraries and tools that it contains are not
# rebuilt. Cargo's registry must contain the crates, because this script downloads nothing.
set -eu
LC_ALL=C.UTF-8
export LC_ALL
umask 022

root=$(cd "$(dirname "$0")/.." && pwd)
spec=$root/packaging/rpm/libdat.spec

missing()
{
    echo "rpm.sh: the package $1 is missing" >&2
    exit 1
}
command -v rpmbuild >/dev/null || missing 'rpm (Debian) or rpm-build'
# Without eu-strip, rpmbuild succeeds, but packs unstripped libraries and no debugging symbols.
command -v eu-strip >/dev/null || missing 'elfutils, with eu-strip,'
[ "$1" != --needs ] || exit 0

mkdir -p "$1"
out=$(cd "$1" && pwd)
: "${CARGO_TARGET_DIR:=$out/target}" "${CARGO_NET_OFFLINE:=true}"
export CARGO_TARGET_DIR CARGO_NET_OFFLINE

name=libdat-$(sed -n 's/^Version: *//p' "$spec")
work=$out/work
rm -rf "$work"
rm -f "$out"/*.rpm
mkdir -p "$work/SOURCES"
"$root/packaging/sources.sh" "$work/$name"
tar -C "$work" --sort=name --owner=0 --group=0 -cf "$work/SOURCES/$name.tar" "$name"
rm -rf "${work:?}/$name"

# If the tools are not installed from RPM packages, rpm's database contains none of the build dependencies.
nodeps=
[ "$(rpm -qa 2>/dev/null | wc -l)" -ne 0 ] || nodeps=--nodeps
rpmbuild -bb $nodeps --define "_topdir $work" "$spec"
mv "$work"/RPMS/*/*.rpm "$out"
rm -rf "$work"
