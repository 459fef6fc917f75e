#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# their_libdat.sh ADAPTER - Debian's programs with Debian's libdat2 and our provider; see pairs.sh. Prints TAP.
. "$(dirname "$0")/pairs.sh"

case $ia in
verbs-*)
    echo '1..0 # SKIP wire.sh does so'
    exit
    ;;
esac
libraries=$theirs
with_library "Debian's libdat2"
finish
