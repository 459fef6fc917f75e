#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# dist.sh FOLDER - makes FOLDER/libdat-VERSION.tar.xz: the sources of the last commit with all crates, so that they build
# where there is no network. The same commit gives the same bytes.
set -eu
LC_ALL=C.UTF-8
export LC_ALL
umask 022

root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$root"
name=libdat-$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
if ! git rev-parse --show-toplevel 2>/dev/null | grep -qxF "$root"; then
    echo 'dist.sh: this needs the git repository' >&2
    exit 1
fi
[ -z "$(git status --porcelain)" ] || echo 'dist.sh: what is not committed is left out' >&2

rm -rf "${folder:?}/$name" "$folder/$name.tar.xz"
commit=$(git rev-parse HEAD)
git archive --prefix="$name/" "$commit" | tar -x -C "$folder"
cd "$folder/$name"
mkdir .cargo
# It prints the configuration with which cargo finds the crates.
"${CARGO:-cargo}" vendor --locked --versioned-dirs >.cargo/config.toml 2>"$folder/vendor.log" || {
    tail -n 5 "$folder/vendor.log" >&2
    exit 1
}
# Of crates for Windows alone, half of all the bytes, the manifest is enough: cargo reads it, and builds nothing of them.
for crate in vendor/windows* vendor/winapi*; do
    find "$crate" -mindepth 1 -maxdepth 1 ! -name Cargo.toml ! -name .cargo-checksum.json -exec rm -r {} +
    mkdir "$crate/src"
    : >"$crate/src/lib.rs"
    sed -i 's/"files":{[^}]*}/"files":{}/' "$crate/.cargo-checksum.json"
done
cd ..
# One thread, since the bytes depend on how the work is divided.
tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$(git -C "$root" log -1 --format=%ct "$commit")" \
    -c "$name" | xz -T1 >"$name.tar.xz"
rm -rf "$name" vendor.log
echo "$folder/$name.tar.xz"
