#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# marks.sh - prints the marks of memory order, see docs/dev/memory-order.md.
#
#   marks.sh            prints one table per mark
#   marks.sh --places   prints one line per place: mark, file, function, operation, reason
#   marks.sh --names    prints the names of the marks
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."

places()
{
    find src -name '*.rs' | sort | xargs awk -f tests-c/marks.awk | sort -s -t '	' -k 1,1
}

tables()
{
    places | awk -F '\t' '
        $1 != mark {
            mark = $1
            printf "\n**%s**\n\n| place | operation | order |\n|---|---|---|\n", mark
        }
        {
            gsub(/\|/, "\\|", $5)
            printf "| `%s` `%s` | %s | %s |\n", $2, $3, $4, $5
        }'
}

case ${1:-} in
'') tables ;;
--places) places ;;
--names) places | cut -f 1 | uniq ;;
*)
    echo 'marks.sh: [--places | --names]' >&2
    exit 2
    ;;
esac
