# SPDX-License-Identifier: MIT OR Apache-2.0
#
# reach.sh - for scripts that start programs as another user. $BIN contains the tools, $LIB the libraries.
# shellcheck shell=sh

# reach DIRECTORY: as root, if another user cannot execute the tools or read the libraries, sets BIN and LIB to copies in
# DIRECTORY. This is so if only root can enter a directory above them, such as its home.
reach()
{
    if [ "$(id -u)" -eq 0 ] && ! setpriv --reuid=65534 --regid=65534 --clear-groups sh -c \
        'test -x "$0/dat-info" && for file in "$1"/*.so.*; do test -r "$file" || exit; done' "$BIN" "$LIB"; then
        cp -RL "$BIN" "$1/bin" && cp -RL "$LIB" "$1/lib" && chmod -R a+rX "$1" && BIN=$1/bin LIB=$1/lib
    fi
}
