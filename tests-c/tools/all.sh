#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# all.sh - runs the test scripts in this directory, which print TAP.
#
# usage: BIN=target/bin LIB=target/lib tests-c/tools/all.sh [NAME...]
#
# BIN contains the tools, LIB the libraries. The scripts get both, and LIB in LD_LIBRARY_PATH. NAME is a script without
# its suffix; default: all. Prints "N passed, N failed, N skipped" last. Exits with 0 if no test failed.
set -u
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd) || exit 2
BIN=$(cd "${BIN:-$here/../../target/bin}" && pwd) || exit 2
LIB=$(cd "${LIB:-$here/../../target/lib}" && pwd) || exit 2
copies=$(mktemp -d) || exit 2
chmod 755 "$copies"
trap 'rm -rf "$copies"' EXIT
trap 'exit 2' HUP INT TERM
. "$here/../common/reach.sh"
reach "$copies" || exit 2
LD_LIBRARY_PATH=$LIB
export BIN LIB LD_LIBRARY_PATH
unset DAT_OVERRIDE DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG NO_COLOR CLICOLOR CLICOLOR_FORCE

out=$copies/out
if [ $# -eq 0 ]; then
    for script in "$here"/*.sh; do
        [ "$script" = "$here/all.sh" ] || set -- "$@" "$(basename "$script" .sh)"
    done
fi
for name in "$@"; do
    # Status 1 means failed tests, which the output contains.
    sh "$here/$name.sh" || [ $? -eq 1 ] || echo "not ok - $name: it did not come to its end"
done | tee "$out"
set -- $(awk '/^ok / { if (/# SKIP/) s++; else p++ } /^not ok / { f++ } END { print p + 0, f + 0, s + 0 }' "$out")
echo "$1 passed, $2 failed, $3 skipped"
[ "$1" -gt 0 ] && [ "$2" -eq 0 ]
