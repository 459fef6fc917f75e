#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# deb.sh FOLDER - makes the Debian packages of this tree, into FOLDER.
#
# CARGO_TARGET_DIR names the build directory. The libraries and tools in it are packed as they are; what it lacks is built.
# Without it all is built in FOLDER. The crates must be in cargo's registry folder: nothing is fetched here.
#
# The sources are copied into FOLDER, where dpkg-buildpackage finds debian/ in its place.
set -eu
LC_ALL=C.UTF-8
export LC_ALL
umask 022

root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
# debhelper has a HOME of its own; that of cargo and rustup is this one's.
: "${CARGO_HOME:=$HOME/.cargo}" "${RUSTUP_HOME:=$HOME/.rustup}" "${CARGO_TARGET_DIR:=$folder/target}"
export CARGO_HOME RUSTUP_HOME CARGO_TARGET_DIR

missing=
for pair in dpkg-buildpackage=dpkg-dev dh=debhelper; do
    command -v "${pair%%=*}" >/dev/null || missing="$missing ${pair#*=}"
done
missing=$missing$("$root/src/transport/verbs/needs.sh" | sed 's/^/ /' | tr -d '\n')
if [ -n "$missing" ]; then
    echo "deb.sh: these Debian packages are missing:$missing" >&2
    exit 1
fi

rm -rf "$folder/libdat"
rm -f "$folder"/*.deb "$folder"/*.changes "$folder"/*.buildinfo
"$root/packaging/sources.sh" "$folder/libdat"
cp -R "$root/packaging/debian" "$folder/libdat/debian"
cd "$folder/libdat"

# A compiler that rustup has brought is in no package.
profiles=
[ -d /usr/share/doc/rustc ] && [ "$(command -v cargo)" = /usr/bin/cargo ] || profiles=-Ppkg.libdat.rustup
dpkg-buildpackage -b -us -uc $profiles
