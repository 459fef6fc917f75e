#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# dist.sh DIRECTORY - creates DIRECTORY/libdat-VERSION.tar.xz: the sources of the last commit with all crates, which
# build without a network. The archive is reproducible.
set -eu
LC_ALL=C.UTF-8
export LC_ALL
umask 022

root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$root"
name=libdat-$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
if ! git rev-parse --show-toplevel 2>/dev/null | grep -qxF "$root"; then
    echo 'dist.sh: this needs the git repository' >&2
    exit 1
fi
[ -z "$(git status --porcelain)" ] || echo 'dist.sh: what is not committed is left out' >&2

rm -rf "${out:?}/$name" "$out/$name.tar.xz"
commit=$(git rev-parse HEAD)
git archive --prefix="$name/" "$commit" | tar -x -C "$out"
cd "$out/$name"
mkdir .cargo
# cargo prints the configuration for the vendored crates.
"${CARGO:-cargo}" vendor --locked --versioned-dirs >.cargo/config.toml 2>"$out/vendor.log" || {
    tail -n 5 "$out/vendor.log" >&2
    exit 1
}
# Crates only for Windows are half of all bytes. cargo reads only their manifests.
for crate in vendor/windows*; do
    find "$crate" -mindepth 1 -maxdepth 1 ! -name Cargo.toml ! -name .cargo-checksum.json -exec rm -r {} +
    mkdir "$crate/src"
    : >"$crate/src/lib.rs"
    sed -i 's/"files":{[^}]*}/"files":{}/' "$crate/.cargo-checksum.json"
done
cd ..
# One thread, because the division of work changes the output.
tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$(git -C "$root" log -1 --format=%ct "$commit")" \
    -c "$name" | xz -T1 >"$name.tar.xz"
rm -rf "$name" vendor.log
echo "$out/$name.tar.xz"
