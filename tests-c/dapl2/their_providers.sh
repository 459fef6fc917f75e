#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# their_providers.sh ADAPTER - Debian's providers with our libdat2; see pairs.sh. Each provider must load, and return
# the same codes without a device as with Debian's libdat2. Prints TAP.
. "$(dirname "$0")/pairs.sh"

device=$(basename "$(ls -d /sys/class/infiniband/* 2>/dev/null | head -n 1)")
{
    echo "their-cma u2.0 nonthreadsafe default $theirs/libdaplofa.so.2 dapl.2.0 \"lo 0\" \"\""
    echo "their-scm u2.0 nonthreadsafe default $theirs/libdaploscm.so.2 dapl.2.0 \"${device:-none0} 9\" \"\""
    echo "their-ucm u2.0 nonthreadsafe default $theirs/libdaploucm.so.2 dapl.2.0 \"${device:-none0} 9\" \"\""
} >"$work/dat.conf"
programs=$(dirname "$ours")/dapl2

# probe DIRECTORY: prints the output of probe with the libdat2 in that directory, and whether it failed.
probe()
{
    libraries=$1
    start "$work/probe" probe their-cma their-scm their-ucm
    ended "$pid" probe || echo 'it did not end well'
    grep -e '^their-' -e '^list ' "$work/probe"
}

probe "$theirs" >"$work/wanted"
probe "$ours" >"$work/got"
grep '^list ' "$work/wanted" >"$work/theirs"
[ "$(wc -l <"$work/theirs")" -eq 5 ] && grep '^list ' "$work/got" | cmp -s - "$work/theirs"
result $? "the list of adapters for each room is that of Debian's libdat2"
for name in their-cma their-scm their-ucm; do
    grep "^$name: open" "$work/got" | grep -qv 'open 0x800a'
    result $? "$name: is loaded by our libdat2, and registers itself"
    grep "^$name:" "$work/wanted" >"$work/one"
    grep "^$name:" "$work/got" | cmp -s - "$work/one"
    good=$?
    result $good "$name: its codes are those that it gives under Debian's libdat2"
    [ $good -eq 0 ] || sed 's/^/# /' "$work/wanted" "$work/got"
done
finish
