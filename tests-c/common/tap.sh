# SPDX-License-Identifier: MIT OR Apache-2.0
#
# tap.sh - prints TAP, for shell scripts that read this file. A script creates the directory $work, and ends with
# "1..$number" and the status $failed.
# shellcheck shell=sh disable=SC2034 # the scripts use these variables
number=0 failed=0

# ok NAME COMMAND...: runs the command. If it fails, prints its output and the files $work/*.out and $work/*.err.
ok()
{
    what=$1
    shift
    number=$((number + 1))
    if "$@" >"$work/output" 2>&1; then
        echo "ok $number - $what"
    else
        failed=1
        echo "not ok $number - $what"
        sed 's/^\(# \)*/# /' "$work/output"
        for file in "$work"/*.out "$work"/*.err; do
            [ ! -s "$file" ] || sed "s|^|# ${file##*/}: |" "$file"
        done
    fi
}

# none NAME FILE: checks that the file is empty. Otherwise prints its lines.
none()
{
    number=$((number + 1))
    if [ -s "$2" ]; then
        failed=1
        echo "not ok $number - $1"
        sed 's/^/# /' "$2"
    else
        echo "ok $number - $1"
    fi
}

skip()
{
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}
