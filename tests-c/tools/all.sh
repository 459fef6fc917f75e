#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# all.sh - runs the tests of the tools: the scripts beside it, which print TAP.
#
# usage: BIN=target/bin LIB=target/lib tests-c/tools/all.sh [NAME...]
#
# BIN is the directory of dat-info, dat-ping and dat-perf, LIB that of the libraries. The scripts find both in the
# environment, with LIB in LD_LIBRARY_PATH. NAME is a script without its ending; all of them by default. The last
# line is "N passed, N failed, N skipped"; the exit status is 0 when nothing failed.
set -u
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd) || exit 2
BIN=$(cd "${BIN:-$here/../../target/bin}" && pwd) || exit 2
LIB=$(cd "${LIB:-$here/../../target/lib}" && pwd) || exit 2
LD_LIBRARY_PATH=$LIB
export BIN LIB LD_LIBRARY_PATH
unset DAT_OVERRIDE DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG NO_COLOR CLICOLOR CLICOLOR_FORCE

out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
trap 'exit 2' HUP INT TERM
if [ $# -eq 0 ]; then
    for script in "$here"/*.sh; do
        [ "$script" = "$here/all.sh" ] || set -- "$@" "$(basename "$script" .sh)"
    done
fi
for name in "$@"; do
    # 1 says that a test failed, which can be seen.
    sh "$here/$name.sh" || [ $? -eq 1 ] || echo "not ok - $name: it did not come to its end"
done | tee "$out"
set -- $(awk '/^ok / { if (/# SKIP/) s++; else p++ } /^not ok / { f++ } END { print p + 0, f + 0, s + 0 }' "$out")
echo "$1 passed, $2 failed, $3 skipped"
[ "$1" -gt 0 ] && [ "$2" -eq 0 ]
