# SPDX-License-Identifier: MIT OR Apache-2.0
#
# said.sh - what a program has printed, for shell scripts that keep it in $work/out.
# shellcheck shell=sh disable=SC2154 # the scripts have $work
# says TEXT...: each of these was printed by the last run.
says()
{
    for text in "$@"; do
        grep -qF -e "$text" "$work/out" || { echo "not said: $text"; cat "$work/out"; return 1; }
    done
}

never_says()
{
    ! says "$@" >/dev/null || { cat "$work/out"; return 1; }
}
