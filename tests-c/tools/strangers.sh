#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# strangers.sh - a server over TCP to whose port those connect who are no programs of uDAPL. Prints TAP.
#
# BIN names the folder with the tools, LIB the one with the libraries.
set -u
LC_ALL=C NO_COLOR=1
export LC_ALL NO_COLOR
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG LD_PRELOAD
LD_LIBRARY_PATH=$LIB DAT_OVERRIDE=builtin
export LD_LIBRARY_PATH DAT_OVERRIDE

if ! ldconfig -p | grep -q 'libfabric\.so\.1 ' || ! command -v python3 >/dev/null; then
    echo '1..0 # SKIP needs libfabric1 and python3'
    exit 0
fi
exec python3 "$(dirname "$0")/strangers.py" "$BIN/dat-ping"
