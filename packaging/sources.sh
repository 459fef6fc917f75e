#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# sources.sh DIRECTORY - copies the sources of this tree into DIRECTORY: the working copies of files that git does not
# ignore, or without git everything except build output. All copies get the current time: packages keep the times of
# files older than their changelog, so they would differ between checkouts.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$root"
if git -C "$root" rev-parse --show-toplevel 2>/dev/null | grep -qxF "$root"; then
    git -C "$root" ls-files -z --cached --others --exclude-standard
else
    find . \( -path ./target -o -path ./tests-c/build -o -path ./.git \) -prune -o ! -type d -print0
fi | tar -c --null --ignore-failed-read --no-recursion -T - | tar -x -m -C "$out"
