# SPDX-License-Identifier: MIT OR Apache-2.0
#
# said.sh - checks of a program's output, which scripts write to $work/out.
# shellcheck shell=sh disable=SC2154 # the scripts have $work

# says TEXT...: succeeds if the output contains each text.
says()
{
    for text in "$@"; do
        grep -qF -e "$text" "$work/out" || { echo "not in the output: $text"; cat "$work/out"; return 1; }
    done
}

# never_says TEXT...: succeeds if the output contains none of the texts.
never_says()
{
    for text in "$@"; do
        ! grep -qF -e "$text" "$work/out" || { echo "in the output: $text"; cat "$work/out"; return 1; }
    done
}
