# SPDX-License-Identifier: MIT OR Apache-2.0
#
# device.sh - the other end for scripts that try a tool on the RDMA device of the adapter $ia, which read this file.
# shellcheck shell=sh disable=SC2034 # the scripts use what is set here

# The other end is another device, if there is one: then all goes over a wire.
other=$(awk -v ia="$ia" '$1 ~ /^verbs-/ && $1 != ia { print $1; exit }' "$DAT_OVERRIDE")
: "${other:=$ia}"
address=$(ip -4 -o address show dev "${other#verbs-}" | awk '{ sub("/.*", "", $4); print $4; exit }')
# The longest time in seconds for whatever is waited for.
patience=$(awk "BEGIN { print int(60 * $DAT_TEST_SCALE) }")
