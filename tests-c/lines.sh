#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# lines.sh - how large the project is: lines of Rust, long files and functions, words of docs/architecture.md, marks of memory
# order. Nothing is judged.
#
# Lines of product are those of src/*/src, with comments, without the files of tests, of what only tests use, of the conformance
# suite and of the fuzzers.
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."

LONG_FILE=600
LONG_FUNCTION=80

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find src/*/src -name '*.rs' | grep -vE '^src/(conformance|fuzz)/|/(tests|testing|model|fuzzing|twin)(\.rs$|/)' | sort >"$work/files"

xargs awk -v long="$LONG_FUNCTION" -v functions="$work/functions" -v lengths="$work/lengths" '
    FNR == 1 { inside = open = 0 }
    { lines[FILENAME]++; total++ }
    !inside && /^ *((pub(\([a-z]*\))?|const|async|unsafe|extern "[A-Za-z-]*") )*fn [a-z_0-9]+/ {
        match($0, /^ */)
        indent = substr($0, 1, RLENGTH)
        name = $0
        sub(/.*[^a-z_]?fn /, "", name)
        sub(/[^a-z_0-9].*/, "", name)
        inside = 1
        began = FNR
        open = 0
    }
    inside {
        if (/\{$/) open = 1
        if ((!open && /;$/) || (FNR == began && /\}$/)) inside = 0
        else if ($0 == indent "}") {
            length_ = FNR - began + 1
            if (length_ > long) printf "%d %s %s\n", length_, FILENAME, name >functions
            inside = 0
        }
    }
    END { for (file in lines) printf "%d %s\n", lines[file], file >lengths; print total }
' <"$work/files" >"$work/total"
touch "$work/functions"

echo "lines of product: $(cat "$work/total") in $(wc -l <"$work/files") files"
echo "files above $LONG_FILE lines:"
awk -v long="$LONG_FILE" '$1 > long' "$work/lengths" | sort -rn | sed 's/^/  /'
echo "functions above $LONG_FUNCTION lines:"
sort -rn "$work/functions" | sed 's/^/  /'
echo "words of docs/architecture.md: $(wc -w <docs/architecture.md)"
echo "marks of memory order: $(tests-c/marks.sh --names | wc -l), in $(tests-c/marks.sh --places | wc -l) places"
