#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# needs.sh [--install] - prints the missing Debian packages for building the libraries except verbs, and the tools, one
# per line. src/transport/verbs/needs.sh prints the packages for verbs.
#
# With --install, root on Debian installs them. Others, or if that fails, get a message about them and status 1.
#
#   CARGO, CC       the commands that the build uses (cargo, cc)
#   CHECK_INSTALL   0: --install installs nothing
set -u
cd "$(dirname "$0")/.." || exit 2
oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)

if [ "${1:-}" = --install ]; then
    needs=$(packaging/needs.sh | tr '\n' ' ')
    [ -n "$needs" ] || exit 0
    if [ "${CHECK_INSTALL:-1}" != 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "make: installing Debian packages (CHECK_INSTALL=0 prevents it): $needs"
        log=$(mktemp)
        { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $needs; } \
            >"$log" 2>&1 || tail -n 5 "$log" >&2
        rm "$log"
        needs=$(packaging/needs.sh | tr '\n' ' ')
        [ -n "$needs" ] || exit 0
    fi
    printf '%s\n' \
        "make: the build needs a C compiler, lld, and cargo and rustc $oldest or newer. Debian's packages:" \
        "    sudo apt-get install $needs" "https://rustup.rs also has compilers, with lld" >&2
    exit 1
fi

command -v "${CC:-cc}" >/dev/null 2>&1 || echo build-essential

version=$("${CARGO:-cargo}" --version 2>/dev/null | cut -d ' ' -f 2)
if [ -z "$version" ] || ! printf '%s\n' "$oldest" "$version" | sort -CV; then
    # Debian 12 has the newer compiler under another name.
    case $(sed -n 's/^VERSION_ID=//p' /etc/os-release 2>/dev/null) in
    *12*) printf '%s\n' cargo-web rustc-web ;;
    *) printf '%s\n' cargo rustc ;;
    esac
    libdir=
else
    libdir=$(rustc --print target-libdir 2>/dev/null)
fi
# The compilers of rustup contain it.
command -v ld.lld >/dev/null 2>&1 || [ -e "${libdir%/*}/bin/gcc-ld/ld.lld" ] || echo lld
exit 0
