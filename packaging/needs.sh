#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# needs.sh - prints the missing Debian packages for building the libraries except verbs, and the tools, one per line.
# src/transport/verbs/needs.sh prints the packages for verbs.
#
#   CARGO, CC   the commands that the build uses (cargo, cc)
set -u
cd "$(dirname "$0")/.." || exit 2

command -v "${CC:-cc}" >/dev/null 2>&1 || echo build-essential

oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
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
