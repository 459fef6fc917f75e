#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# sources.sh FOLDER - copies the sources of this tree into FOLDER, which is made: what git knows, as it stands in the tree,
# or without git everything but what was built. The copies are as old as this command, since packages have the times of files
# that are older than their changelog, and these would be of one tree alone.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$root"
if git -C "$root" rev-parse --show-toplevel 2>/dev/null | grep -qxF "$root"; then
    git -C "$root" ls-files -z --cached --others --exclude-standard
else
    find . \( -path ./target -o -path ./tests-c/build -o -path ./.git \) -prune -o ! -type d -print0
fi | tar -c --null --ignore-failed-read --no-recursion -T - | tar -x -m -C "$folder"
