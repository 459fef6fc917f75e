#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# needs.sh - prints the missing Debian packages for building this crate, one per line.
#
# rdma-sys finds the two libraries with pkg-config, and parses their headers with the newest libclang, or with the one in
# $LIBCLANG_PATH. libclang needs its compiler's headers.
set -u

exists()
{
    [ -e "$1" ]
}

# finds DEPTH DIRECTORY...: searches for libclang in the directories up to that depth.
finds()
{
    depth=$1
    shift
    find -H "$@" -maxdepth "$depth" \( -name 'libclang.so*' -o -name 'libclang-[0-9]*.so*' \) 2>/dev/null | grep -q .
}

libclang()
{
    if [ -n "${LIBCLANG_PATH:-}" ]; then
        finds 1 "$LIBCLANG_PATH"
    else
        # The patterns match the headers of any version.
        finds 3 "$(llvm-config --prefix 2>/dev/null)/lib" /usr/local/lib* /usr/lib* && {
            exists /usr/lib*/clang/*/include/stddef.h ||
                exists /usr/lib*/llvm*/lib*/clang/*/include/stddef.h ||
                exists /usr/local/lib*/clang/*/include/stddef.h
        }
    fi
}

if command -v "${PKG_CONFIG:=pkg-config}" >/dev/null 2>&1; then
    "$PKG_CONFIG" --exists 'libibverbs >= 1.8.28' || echo libibverbs-dev
    "$PKG_CONFIG" --exists 'librdmacm >= 1.2.28' || echo librdmacm-dev
else
    echo pkg-config
    exists /usr/include/infiniband/verbs.h || echo libibverbs-dev
    exists /usr/include/rdma/rdma_cma.h || echo librdmacm-dev
fi
libclang || echo libclang-dev
exit 0
