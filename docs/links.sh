#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# links.sh FOLDER - in the documents of this folder and below, a link to a file that is not there becomes its text. So what
# is installed leads nowhere that is in the source tree alone.
set -eu

find "$1" -name '*.md' | while read -r document; do
    grep -o ']([^)]*)' "$document" | sed 's/^](//; s/)$//' | sort -u | while read -r link; do
        case $link in
        '#'* | *:*) continue ;;
        esac
        [ -e "$(dirname "$document")/${link%%#*}" ] || printf 's|\\[\\([^]]*\\)\\](%s)|\\1|g\n' "$link"
    done >"$document.sed"
    sed -f "$document.sed" "$document" >"$document.new"
    cat "$document.new" >"$document"
    rm "$document.sed" "$document.new"
done
