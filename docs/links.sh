#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# links.sh DIRECTORY - prepares the documents below this directory for installation. A link to a file that does not exist
# there becomes its text, because it leads to the source tree. The comments for tests-c/docs/run.py are removed.
set -eu

find "$1" -name '*.md' | while read -r document; do
    grep -o ']([^)]*)' "$document" | sed 's/^](//; s/)$//' | sort -u | while read -r link; do
        case $link in
        '#'* | *:*) continue ;;
        esac
        [ -e "$(dirname "$document")/${link%%#*}" ] || printf 's|\\[\\([^]]*\\)\\](%s)|\\1|g\n' "$link"
    done >"$document.sed"
    sed -e '/^ *<!-- test:.*-->$/d' -e '/^ *<!-- test:/,/-->$/d' -f "$document.sed" "$document" >"$document.new"
    cat "$document.new" >"$document"
    rm "$document.sed" "$document.new"
done
