#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# check.sh - builds libraries and tests for 64-bit ARM, and runs them on a machine that QEMU emulates. An emulator of
# single programs lacks the kernel's copies between processes, futexes and membarrier. `make check-arm` calls this.
#
#   TARGET   build directory of cargo (default target)
#   TESTS    basic regular expression for "subject/program", for uDAPL 2.0 "v20/program", for Rust "rust/program"
#            (default: all for uDAPL 1.2 and Rust, parts for 2.0)
#   SCALE    factor for timeouts on the emulated CPU (4)
#   LIMIT    maximum time of the machine in seconds (3000)
#   CHECK_INSTALL=0  installs neither missing Debian packages nor Rust's standard library for ARM
#
# Prints "N passed, N failed, N skipped" last. Exits with 0 if no test failed, and with 77 and one line if a
# prerequisite of the machine is missing.
set -u
LC_ALL=C
CARGO_TERM_COLOR=never
export LC_ALL CARGO_TERM_COLOR

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
: "${TARGET:=${CARGO_TARGET_DIR:-$root/target}}" "${TESTS:=.}" "${SCALE:=4}" "${LIMIT:=3000}"
: "${CARGO:=cargo}" "${MAKE:=make}" "${CHECK_INSTALL:=1}"
OUT=$TARGET/arm
mkdir -p "$OUT" || exit 2
triple=aarch64-unknown-linux-gnu
compiler=aarch64-linux-gnu-gcc
LIB=$OUT/lib
table=$root/packaging/libraries.txt
# Tests of code that only the libraries of 2.0 contain. All other code is the same as for 1.2.
TESTS_20='^v20/\|^abi/\|^flow/connect\|^flow/rdma'
# Tests with smaller numbers, because they would take minutes on an emulated machine.
QUICK='stress.words stress.threads stress.handles stress.bursts stress.polled stress.asleep stress.killed stress.churn'
QUICK="$QUICK srq.model srq.joining srq.many flow.sizes"
# Scripts that compile headers and read symbols, which run on this machine.
WITHOUT='abi/check_headers.sh abi/header_compile.sh abi/symbols.sh'
# Tests of CPU time, which an emulated CPU does not reproduce.
WITHOUT="$WITHOUT stress/beside stress/idle"

have() { command -v "$1" >/dev/null 2>&1; }
matches() { echo "$1" | grep -q -e "$TESTS"; }

# ---- Prerequisites ----

packages()
{
    for pair in $compiler=gcc-aarch64-linux-gnu qemu-system-aarch64=qemu-system-arm mmdebstrap=mmdebstrap \
        modprobe=kmod cpio=cpio readelf=binutils; do
        have "${pair%%=*}" || echo "${pair#*=}"
    done
    [ -e /usr/aarch64-linux-gnu/include/stdio.h ] || echo libc6-dev-arm64-cross
}

std_is_here() { [ -d "$(cd "$root" && rustc --print target-libdir --target $triple 2>/dev/null)" ]; }

# Installs missing prerequisites if permitted. Exits with 77 if some are still missing.
install()
{
    lacking=$(packages | tr '\n' ' ')
    if [ "$CHECK_INSTALL" != 0 ]; then
        if [ -n "$lacking" ] && [ "$(id -u)" -eq 0 ] && have apt-get; then
            echo "arm/check.sh installs these Debian packages (CHECK_INSTALL=0 leaves them out): $lacking"
            # shellcheck disable=SC2086 # words are wanted
            { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -q -y \
                --no-install-recommends $lacking; } >"$OUT/apt.log" 2>&1
        fi
        std_is_here || { have rustup && (cd "$root" && rustup target add $triple) >"$OUT/rustup.log" 2>&1; }
    fi
    lacking=$(packages | tr '\n' ' ')
    std_is_here || lacking="$lacking Rust's standard library for $triple"
    [ -z "$lacking" ] || { echo "arm/check.sh: not installed: $lacking"; exit 77; }
}

# The machine's file system: ARM packages of this machine's release, unpacked but not configured, because that would
# execute their programs.
tree()
{
    [ -e "$OUT/tree/complete" ] && return
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    rm -rf "$OUT/tree"
    mmdebstrap --quiet --variant=extract --arch=arm64 --include=bash,coreutils,sed,grep,mawk,diffutils,findutils \
        --include=util-linux,mount,procps,libgcc-s1,make,busybox-static,kmod,linux-image-arm64 \
        "$release" "$OUT/tree" >"$OUT/tree.log" 2>&1 || {
        echo "arm/check.sh: no packages for the machine: $(tail -n 1 "$OUT/tree.log")"
        exit 77
    }
    # Normally done by the packages' configuration.
    ln -sf bash "$OUT/tree/bin/sh"
    ln -sf mawk "$OUT/tree/usr/bin/awk"
    /sbin/depmod -b "$OUT/tree" "$(ls "$OUT/tree/lib/modules")" && : >"$OUT/tree/complete"
}

# ---- Builds, on this machine ----

suite()
{
    api=$1
    shift
    "$MAKE" --no-print-directory -C "$root/tests-c" API="$api" CC=$compiler XTASK="$XTASK" OUT="$OUT/suite-$api" LIBDIR="$LIB" "$@"
}

# build COMMAND...: runs the command, and shows the end of its output after a failure.
build()
{
    "$@" >>"$OUT/build.log" 2>&1 || { tail -n 40 "$OUT/build.log"; echo '0 passed, 1 failed, 0 skipped'; exit 1; }
}

cross_cargo()
{
    (cd "$root" && CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$compiler CARGO_TARGET_DIR=$TARGET "$CARGO" "$@" \
        --locked --target $triple)
}

# The profile for fuzzing is optimised for speed, but has all checks of the debug build. Excluded are crates that need
# rdma-core for ARM, and the tools with dat-measure, which are not part of the libraries.
rust_tests()
{
    rm -rf "$OUT/rust"
    [ "$TESTS" = . ] || echo "$TESTS" | grep -q rust || return 0
    # shellcheck disable=SC2046 # words are wanted
    cross_cargo test --profile fuzz --no-run --workspace --exclude dat-derived \
        $(awk '$7 == "verbs" { print "--exclude dat-" $5, "--exclude", $2 }' "$table") \
        --exclude dat-fuzz --exclude dat-link --exclude dat-measure --exclude dat-tools >"$OUT/cargo.log" 2>&1 || {
        cat "$OUT/cargo.log"
        return 1
    }
    mkdir "$OUT/rust" &&
        (cd "$root" && sed -n 's/^ *Executable .*(\(.*\))$/\1/p' "$OUT/cargo.log" | xargs cp -t "$OUT/rust")
}

libraries()
{
    # shellcheck disable=SC2046 # words are wanted
    crates=$(awk '$7 == "always" { print $2 }' "$table")
    cross_cargo build --release $(printf -- '-p %s ' $crates) &&
        "$root/packaging/place.sh" "$TARGET/$triple/release" "$LIB" $crates
}

# Compiles the headers for ARM, and checks the symbols of the libraries.
headers()
{
    set --
    for script in abi/header_compile abi/symbols; do
        ! matches "$script" || set -- "$@" "$root/tests-c/$script.sh"
    done
    [ $# -gt 0 ] || return 0
    for api in 1.2 2.0; do
        DAT_TEST_CC=$compiler "$TARGET/debug/xtask" suite --api $api --libdir "$LIB" --pattern "$TESTS" --out "$OUT/headers-$api" "$@"
    done
}

# Builds xtask for this machine and for the emulated machine.
runners()
{
    (cd "$root" && CARGO_TARGET_DIR=$TARGET "$CARGO" build --locked --workspace --bin xtask) && cross_cargo build -p xtask
}

# ---- Runs, on the emulated machine ----

rust_results()
{
    for program in "$OUT"/rust/*; do
        name=rust/$(basename "$program" | sed 's/-[0-9a-f]*$//')
        matches "$name" || continue
        began=$(date +%s)
        # Tests need a crate's directory and variable; src/core serves all.
        (cd "$root/src/core" && CARGO_MANIFEST_DIR=$PWD timeout 600 "$program" --test-threads=2) >"$OUT/rust.one" 2>&1 </dev/null
        status=$?
        awk -v name="$name" -v status=$status -v seconds=$(($(date +%s) - began)) '
            /^test result:/ { for (i = 2; i <= NF; i++) {
                if ($i == "passed;") p += $(i - 1)
                if ($i == "failed;") f += $(i - 1)
                if ($i == "ignored;") s += $(i - 1) } }
            END {
                if (status && !f) f = 1
                printf "%-34s %4d passed %3d failed %3d skipped  %3ds\n", name, p, f, s, seconds
                print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped" }' "$OUT/rust.one"
        [ $status -eq 0 ] || { echo "    status $status"; tail -n 30 "$OUT/rust.one" | sed 's/^/    ! /'; }
    done
}

if [ "${1:-}" = run ]; then
    XTASK=$TARGET/$triple/debug/xtask
    uname -srm
    [ ! -d "$OUT/rust" ] || rust_results
    # A suite that does not finish has failed.
    counted()
    {
        suite "$@" QUICK="$QUICK" WITHOUT="$WITHOUT" | tee "$OUT/suite.one"
        tail -n 1 "$OUT/suite.one" | grep -q ' passed, .* skipped$' || echo '0 passed, 1 failed, 0 skipped'
    }
    counted 1.2 check TESTS="$TESTS"
    [ "$TESTS" = . ] || TESTS_20=$TESTS
    counted 2.0 check TESTS="$TESTS_20"
    exit 0
fi

: >"$OUT/build.log"
install
tree
build runners
XTASK=$TARGET/debug/xtask
build libraries
build suite 1.2 programs
build suite 2.0 programs
build rust_tests
: >"$OUT/log"
{
    headers
    export TARGET TESTS MAKE
    VM_TREE=$OUT/tree VM_SHOW=$root VM_OUT=$OUT VM_CACHE=$OUT VM_TIMEOUT=$LIMIT DAT_TEST_SCALE=$SCALE \
        "$root/tests-c/verbs/vm.sh" "$here/check.sh" run || echo "$0: the machine ended with status $?"
} 2>&1 | tee "$OUT/log" | sed -u '/^[0-9]* passed, [0-9]* failed, [0-9]* skipped$/d'
# A machine that does not finish has failed.
awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5 }
     / the machine ended with status / { f++ }
     END { print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped"; exit f > 0 || p == 0 }' "$OUT/log"
