#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# deb.sh DIRECTORY - builds Debian packages of this tree in DIRECTORY, with a copy of the sources.
# deb.sh --needs   - only checks whether the required packages are installed.
#
# CARGO_TARGET_DIR names the build directory (default DIRECTORY/target). Libraries and tools that it contains are not
# rebuilt. Cargo's registry must contain the crates, because this script downloads nothing.
set -eu
LC_ALL=C.UTF-8
export LC_ALL
umask 022

root=$(cd "$(dirname "$0")/.." && pwd)
missing=
for pair in dpkg-buildpackage=dpkg-dev dh=debhelper; do
    command -v "${pair%%=*}" >/dev/null || missing="$missing ${pair#*=}"
done
missing=$missing$("$root/src/transport/verbs/needs.sh" | sed 's/^/ /' | tr -d '\n')
if [ -n "$missing" ]; then
    echo "deb.sh: these Debian packages are missing:$missing" >&2
    exit 1
fi
[ "$1" != --needs ] || exit 0

mkdir -p "$1"
out=$(cd "$1" && pwd)
# debhelper changes HOME, where cargo and rustup would search.
: "${CARGO_HOME:=$HOME/.cargo}" "${RUSTUP_HOME:=$HOME/.rustup}" "${CARGO_TARGET_DIR:=$out/target}"
export CARGO_HOME RUSTUP_HOME CARGO_TARGET_DIR

rm -rf "$out/libdat"
rm -f "$out"/*.deb "$out"/*.changes "$out"/*.buildinfo
"$root/packaging/sources.sh" "$out/libdat"
cp -R "$root/packaging/debian" "$out/libdat/debian"
cd "$out/libdat"

# No package contains a compiler of rustup, so this profile omits the build dependency.
profiles=
[ -d /usr/share/doc/rustc ] && [ "$(command -v cargo)" = /usr/bin/cargo ] || profiles=-Ppkg.libdat.rustup
dpkg-buildpackage -b -us -uc $profiles
