#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# output.sh - the tools when standard output or error cannot be written, or is closed. Prints TAP; all.sh sets $BIN and
# $LIB.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
. "$(dirname "$0")/../common/tap.sh"
DAT_OVERRIDE=$work/dat.conf
export DAT_OVERRIDE
# A private rendezvous directory.
mkdir -m 700 "$work/meet"
echo "shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 \"$work/meet\" \"\"" >"$DAT_OVERRIDE"

# full STATUS COMMAND...: runs the tool with a full standard output. It must print this error and exit with STATUS.
full()
{
    wanted=$1
    shift
    timeout 120 "$BIN/$@" >/dev/full 2>"$work/err"
    got=$?
    cat "$work/err"
    [ "$got" -eq "$wanted" ] && ! grep -q panic "$work/err" &&
        grep -q "^$1: .*cannot write to standard output: No space left" "$work/err"
}

# silent STATUS COMMAND...: runs the tool with full standard output and error. It must exit with STATUS.
silent()
{
    wanted=$1
    shift
    timeout 120 "$BIN/$@" >/dev/full 2>/dev/full
    got=$?
    [ "$got" -eq "$wanted" ] || { echo "exit status $got"; return 1; }
}

# unread COMMAND...: runs the tool with a pipe whose reader exits. The tool must print no error.
unread()
{
    { timeout 120 "$BIN/$@" 2>"$work/err"; } | true
    cat "$work/err"
    [ ! -s "$work/err" ]
}

if [ ! -c /dev/full ]; then
    skip 'an output that is full' 'there is no /dev/full'
else
    while read -r command; do
        # shellcheck disable=SC2086
        ok "standard output is full: $command" full 1 $command
    done <<END
dat-info
dat-info --json
dat-info shm
dat-info shm --json
dat-info --explain
dat-info --explain --json
dat-info --help
dat-info --version
dat-ping shm
dat-ping shm --self -c 1
dat-ping shm --self -c 1 --json
dat-ping shm --self -c 100 -f
dat-ping --help
dat-perf shm --self -s 8 -n 20 -t send_lat
dat-perf shm --self -s 8 -n 20 -t send_lat --json
dat-perf shm --self -s 8 -n 20 -t send_lat --csv
dat-perf shm --verbose
dat-perf --version
END
    while read -r status command; do
        # shellcheck disable=SC2086
        ok "both outputs are full: $command" silent "$status" $command
    done <<END
1 dat-info
2 dat-info --none
1 dat-info none
1 dat-ping shm --self -c 1
1 dat-ping none --self
1 dat-perf none --self
2 dat-perf shm --json
END
fi
while read -r command; do
    # shellcheck disable=SC2086
    ok "nobody reads: $command" unread $command
done <<END
dat-info --explain
dat-ping shm --self -c 2 -i 0
dat-perf shm --self -s 8 -n 20 -t send_lat
dat-perf --help
END

echo "1..$number"
[ "$failed" -eq 0 ]
