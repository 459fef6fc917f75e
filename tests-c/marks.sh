#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# marks.sh - the marks of memory order in the sources, as the tables in docs/dev/memory-order.md.
#
#   marks.sh            prints the tables
#   marks.sh --write    writes them into the page, behind the line that says where they begin
#   marks.sh --places   prints one line a place: the mark, the file, the function, the operation, the reason
#   marks.sh --names    prints the name of each mark
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."
page=docs/dev/memory-order.md

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
--write)
    written=$(mktemp)
    { sed '/^<!-- marks:/q' "$page" && tables; } >"$written"
    cat "$written" >"$page"
    rm "$written"
    ;;
*)
    echo 'marks.sh: [--write | --places | --names]' >&2
    exit 2
    ;;
esac
