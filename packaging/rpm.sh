#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# rpm.sh FOLDER - makes packages for distributions with RPM from this tree, into FOLDER.
#
# CARGO_TARGET_DIR names the build directory. The libraries and tools in it are packed as they are; what it lacks is built.
# Without it all is built in FOLDER. The crates must be in cargo's registry folder: nothing is fetched here.
set -eu
LC_ALL=C.UTF-8
export LC_ALL
umask 022

root=$(cd "$(dirname "$0")/.." && pwd)
spec=$root/packaging/rpm/libdat.spec
mkdir -p "$1"
folder=$(cd "$1" && pwd)
: "${CARGO_TARGET_DIR:=$folder/target}" "${CARGO_NET_OFFLINE:=true}"
export CARGO_TARGET_DIR CARGO_NET_OFFLINE

missing()
{
    echo "rpm.sh: the package $1 is missing" >&2
    exit 1
}
command -v rpmbuild >/dev/null || missing 'rpm (Debian) or rpm-build'
# Without it rpmbuild packs unstripped libraries, and no debugging symbols, and does not fail.
command -v eu-strip >/dev/null || missing 'elfutils, with eu-strip,'

name=libdat-$(sed -n 's/^Version: *//p' "$spec")
work=$folder/work
rm -rf "$work"
rm -f "$folder"/*.rpm
mkdir -p "$work/SOURCES"
"$root/packaging/sources.sh" "$work/$name"
tar -C "$work" --sort=name --owner=0 --group=0 -cf "$work/SOURCES/$name.tar" "$name"
rm -rf "${work:?}/$name"

# Where the tools come from other packages than of RPM, its list of what is installed knows none of them.
nodeps=
[ "$(rpm -qa 2>/dev/null | wc -l)" -ne 0 ] || nodeps=--nodeps
rpmbuild -bb $nodeps --define "_topdir $work" "$spec"
mv "$work"/RPMS/*/*.rpm "$folder"
rm -rf "$work"
