#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# sandbox.sh - runs programs of the suite over TCP without netlink, as in a sandbox. $DAT_TEST_LIBDIR is the directory of
# the libraries. Prints TAP.
set -u
: "${DAT_TEST_LIBDIR:?the directory of the libraries}"
programs=$(dirname "$DAT_TEST_LIBDIR")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../common/tap.sh"
DAT_OVERRIDE=builtin
export DAT_OVERRIDE

if ! "$programs/registry/refused" 97 0 true 2>"$work/lacks"; then
    echo "1..0 # SKIP $(head -n 1 "$work/lacks")"
    exit 0
fi
# 97 is EAFNOSUPPORT, with which systemd's RestrictAddressFamilies refuses a socket; 1 is EPERM.
for errno in 97 1; do
    for program in flow/connect rely/data srq/order; do
        ok "$program on tcp-lo, without netlink, error $errno" \
            "$programs/registry/refused" $errno 0 "$programs/$program" tcp-lo
    done
done
echo "1..$number"
exit $failed
