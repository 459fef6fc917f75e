#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# place.sh FROM TO NAME... - copies tools, and libraries by their crates, from FROM to TO, under their installed names and
# with their links. FROM is the directory of cargo's files, or of files with installed names. A file that FROM lacks is
# left out. A file that differs is replaced by renaming, so that a process that runs keeps its own.
set -eu

table=$(dirname "$0")/libraries.txt
from=$1 to=$2
shift 2
mkdir -p "$to"
awk -v names="$*" '
    BEGIN { split(names, list, " "); for (i in list) wanted[list[i]] }
    $1 == "link" && ($3 in placed) { print "link", $2, $3 }
    $1 ~ /^[12b]/ && ($2 in wanted) { delete wanted[$2]; placed[$4]; print "file", $3, $4 }
    END { for (name in wanted) print "file", name, name }' "$table" |
    while read -r kind name file; do
        if [ $kind = link ]; then
            [ ! -e "$to/$file" ] || ln -sf "$file" "$to/$name"
            continue
        fi
        [ -e "$from/$name" ] || name=$file
        if [ -e "$from/$name" ] && ! cmp -s "$from/$name" "$to/$file"; then
            cp "$from/$name" "$to/$file.$$"
            mv "$to/$file.$$" "$to/$file"
        fi
    done
