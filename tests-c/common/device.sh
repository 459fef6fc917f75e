# SPDX-License-Identifier: MIT OR Apache-2.0
#
# device.sh - variables for scripts that test a tool on the RDMA device of the adapter $ia. The scripts read this file.
# shellcheck shell=sh disable=SC2034 # the scripts use these variables

# The peer is another device, if there is one, so that data crosses a wire.
other=$(awk -v ia="$ia" '$1 ~ /^verbs-/ && $1 != ia { print $1; exit }' "$DAT_OVERRIDE")
: "${other:=$ia}"
address=$(ip -4 -o address show dev "${other#verbs-}" | awk '{ sub("/.*", "", $4); print $4; exit }')
# Deadline of each wait, in seconds.
patience=$(awk "BEGIN { print int(60 * $DAT_TEST_SCALE) }")
