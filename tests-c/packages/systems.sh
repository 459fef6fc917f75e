#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# systems.sh - builds the project in clean roots of other versions of Debian, with their compilers. Prints TAP.
#
#   Debian 13  an ordinary user runs the commands of the README and part of the suite, and builds packages; root installs
#              and purges them, and runs tests in a directory that only its owner can enter
#   sid        all crates compile
#
#   FULL=1     release builds are optimised, and the user runs make check. Takes half an hour. By default, they are not,
#              so that the builds take a quarter of the time
. "$(dirname "$0")/root.sh"

# ---- The sources with their crates, and the roots ----

# Only apt-get uses the network: what is tested is the compiler, not the registry.
sources()
{
    "$root/packaging/sources.sh" "$work/sources" && mkdir -p "$work/sources/.cargo" &&
        (cd "$work/sources" && "${CARGO:-cargo}" vendor --locked --versioned-dirs >.cargo/config.toml)
}

# The packages in the README, as it adapts them to Debian 13.
packages=$(sed -n 's/^sudo apt-get install //p' "$root/README.md" | sed 's/cargo-web rustc-web/cargo rustc/' |
    tr '\n' ' ' | sed 's/ $//')
wanted=$(echo "$packages" | tr ' ' ',')

# No build uses the static libraries of llvm, which are half of all bytes.
exclude='--dpkgopt=path-exclude=/usr/lib/llvm-*/lib/*.a'
bootstrap trixie "$clean" "$wanted,debhelper,python3" "$exclude"
if [ -z "$no_root" ]; then
    ok 'the sources with all crates' sources || finish
fi
bootstrapped "$clean"
[ -z "$no_root" ] || { skip 'Debian 13' "$no_root"; finish; }
# sid can be inconsistent, and mirrors of it can be old.
sid=$work/sid
bootstrap sid "$sid" "$wanted" "$exclude" --aptopt='Acquire::Check-Valid-Until "false"'

# ---- Debian 13 ----

# as_user COMMANDS: runs them in the sources as their owner.
as_user()
{
    in_root dat:dat env HOME=/home/dat MAKEFLAGS=--no-print-directory $fast \
        sh -c 'cd ~/sources && exec sh -ec "$0"' "$1"
}
# in_home COMMANDS: runs them in the sources as root.
in_home()
{
    as_root env HOME=/root MAKEFLAGS=--no-print-directory $fast sh -c 'cd /home/dat/sources && exec sh -ec "$0"' "$1"
}
fast=
[ "${FULL:-0}" = 1 ] ||
    fast='CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16'

as_root useradd --create-home dat
mv "$work/sources" "$clean/home/dat" && as_root chown -R dat:dat /home/dat/sources && chmod 700 "$clean/home/dat"

ok 'Debian 13: its compiler is that of the oldest that Cargo.toml allows' \
    sh -c 'grep "^rust-version = \"$(echo "$0" | sed "s/rustc \([0-9]*\.[0-9]*\).*/\1/")\"" "$1/Cargo.toml"' \
    "$(as_root rustc --version)" "$root"
ok 'Debian 13: nothing that the build of verbs needs is missing' same_result "$(as_user src/transport/verbs/needs.sh)" ''
ok 'Debian 13: make demo, as an ordinary user' as_user 'make demo' || finish
ok 'Debian 13: make deb' as_user 'make deb' || finish
ok 'Debian 13: the commands of README.md and install.md' as_user 'tests-c/docs/run.py README.md docs/install.md'
ok 'Debian 13: make install, and the tools of the installed tree' as_user 'make install PREFIX=$HOME/udapl
    export PATH=$HOME/udapl/bin:$PATH
    dat-info --explain && dat-ping shm --self --count 3 && dat-ping tcp-lo --self --count 3 --api 2.0'

packages_work()
{
    files_of_root >"$work/before"
    in_home 'apt-get -q -y --no-install-recommends install ./target/deb/*.deb' && as_nobody dat-ping shm --self --count 3 &&
        as_nobody dat-ping tcp-lo --self --count 3 --api 2.0 && as_root ldd "/usr/lib/$(uname -m)-linux-gnu/libdaplverbs.so.2" &&
        in_home 'apt-get -q -y purge $(for deb in target/deb/*.deb; do dpkg-deb -f $deb Package; done)' || return
    files_of_root >"$work/after"
    diff "$work/before" "$work/after"
}
ok 'Debian 13: apt-get installs the packages, their programs work, and after a purge nothing is left' packages_work

if [ "${FULL:-0}" = 1 ]; then
    ok 'Debian 13: make check' as_user 'make check KEEP_GOING=1'
fi
ok 'Debian 13: a part of the suite, 1.2' as_user "make check-c API=1.2 TESTS='^srq/\\|^registry/'"
ok 'Debian 13: a part of the suite, 2.0' as_user "make check-c API=2.0 TESTS='^objects/'"
ok 'Debian 13: root in a directory of mode 0700 runs processes of another user' \
    in_home "make check-c TESTS='^containers/\\|^neighbours/leftovers'"

# ---- sid ----

bootstrapped "$sid"
if [ -n "$no_root" ]; then
    skip 'sid' "$no_root"
    finish
fi
mv "$clean/home/dat/sources" "$sid/sources"
clean=$sid
ok 'sid: all crates compile' as_root sh -c 'cd /sources && CARGO_TARGET_DIR=/target cargo check --quiet --locked --workspace \
    --features dat-fuzz/verbs --lib --bins --tests --examples'
finish
