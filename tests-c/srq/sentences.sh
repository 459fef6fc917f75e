#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# sentences.sh - sentences.md names tests that exist and have passed on the adapter.
#
# A row of a table has a number, a sentence, tests, and a column for each transport. The tests are a program in
# backticks, then its subtests in quotation marks, repeatedly. If the column of the adapter contains "yes", each subtest
# must have passed. Any other text must be the letter of a note, and the subtest must not have failed.
#
# The script reads the results of the programs that ran, so it must run last.
set -u
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd)
page=$here/sentences.md
results=${DAT_TEST_RESULTS:-}
ia=${1:-}

# is_iwarp: returns whether the device of the adapter is an RNIC, whose node type is 4.
is_iwarp()
{
    rdma link show 2>/dev/null |
        awk -v netdev="${ia#verbs-}" '{
            for (i = 1; i < NF; i++)
                if ($i == "netdev" && $(i + 1) == netdev) {
                    sub("/.*", "", $2)
                    print $2
                }
        }' |
        while read -r device; do cat "/sys/class/infiniband/$device/node_type"; done | grep -q '^4:'
}

case $ia in
shm) column=1 ;;
tcp*) column=2 ;;
verbs*) if is_iwarp; then column=4; else column=3; fi ;;
*)
    echo "1..0 # SKIP the tables have no column for $ia"
    exit 0
    ;;
esac
if [ -z "$results" ]; then
    echo "1..0 # SKIP no results"
    exit 0
elif [ "${DAT_TEST_VALGRIND:-0}" != 0 ]; then
    echo "1..0 # SKIP under valgrind, programs skip what is slow"
    exit 0
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$here/../common/tap.sh"

# One line for each test: row, content of the column, program, subtest. Rows with another form go to the file malformed.
grep '^| [A-Z][0-9]' "$page" | awk -F ' [|] ' -v column=$column -v malformed="$work/malformed" '
    {
        row = $1
        sub(/^[|] /, "", row)
        sub(/ [|]$/, "", $7)
        n = split($3, part, "\"")
        program = ""
        if (NF != 7 || n < 3)
            print row > malformed
        for (i = 1; i <= n; i += 2) {
            if (match(part[i], /`[a-z0-9_]+\/[a-z0-9_]+`/))
                program = substr(part[i], RSTART + 1, RLENGTH - 2)
            if (i < n)
                print row "\t" $(column + 3) "\t" program "\t" part[i + 1]
        }
    }' >"$work/tests"
touch "$work/malformed"
[ -s "$work/tests" ] || echo "no row" >"$work/malformed"
none "each row has a sentence, tests and four columns" "$work/malformed"

cut -f 3 "$work/tests" | sort -u | while read -r program; do
    [ -f "$here/../$program.c" ] || echo "no $program"
done >"$work/unknown"
none "each program exists" "$work/unknown"

cut -f 2 "$work/tests" | sort -u | grep -vx yes | while read -r note; do
    grep -q "^- $note: " "$page" || echo "no note $note"
done >"$work/notes"
none "each letter has a note" "$work/notes"

# Only programs that the run has selected have current results.
cut -f 3 "$work/tests" | sort -u | grep -e "${DAT_TEST_PATTERN:-.}" >"$work/selected"
while read -r program; do
    tap=$results/$(echo "$program" | tr / .).tap
    [ -f "$tap" ] || continue
    echo "$program" >>"$work/ran"
    sed -n "s|^\(not ok\) [0-9]* - |\1	$program	|p; s|^\(ok\) [0-9]* - |\1	$program	|p" "$tap"
done <"$work/selected" >"$work/results"
awk -F '\t' -v results="$work/results" -v ran="$work/ran" '
    BEGIN {
        while ((getline <results) > 0) {
            sub(/ # SKIP not implemented.*/, " # SKIP", $3)
            if ($1 == "ok" && $3 !~ / # SKIP/)
                passed[$2, $3] = 1
            else if ($1 != "ok")
                bad[$2, $3] = 1
        }
        while ((getline program <ran) > 0)
            has_run[program] = 1
    }
    has_run[$3] && (bad[$3, $4] || ($2 == "yes" && !passed[$3, $4])) { print $1 ": " $3 ": " $4 }
    ' "$work/tests" >"$work/missing"
none "each named test of the programs that ran has passed" "$work/missing"

echo "1..$number"
exit $failed
