#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# needs.sh - prints the Debian packages without which this crate cannot be built here, one a line.
#
# The build of rdma-sys finds the two libraries with pkg-config and reads their headers with
# libclang, which needs the headers of its compiler. $LIBCLANG_PATH names a libclang elsewhere.
set -u

# exist PATTERN...: whether a file is there.
exist()
{
    for file; do
        [ -e "$file" ] && return 0
    done
    return 1
}

libclang()
{
    if [ -n "${LIBCLANG_PATH:-}" ]; then
        [ -f "$LIBCLANG_PATH" ] || exist "$LIBCLANG_PATH"/libclang.so* "$LIBCLANG_PATH"/libclang-[0-9]*.so*
        return
    fi
    found=
    for folder in /usr/lib /usr/lib64 /usr/local/lib /usr/local/lib64; do
        exist "$folder"/libclang.so* "$folder"/*/libclang.so* "$folder"/*/*/libclang.so* \
            "$folder"/libclang-[0-9]*.so* "$folder"/*/libclang-[0-9]*.so* && found=yes
    done
    [ -n "$found" ] && exist /usr/lib*/clang/*/include/stddef.h /usr/lib*/llvm*/lib*/clang/*/include/stddef.h \
        /usr/local/lib*/clang/*/include/stddef.h
}

if command -v "${PKG_CONFIG:=pkg-config}" >/dev/null 2>&1; then
    "$PKG_CONFIG" --exists 'libibverbs >= 1.8.28' || echo libibverbs-dev
    "$PKG_CONFIG" --exists 'librdmacm >= 1.2.28' || echo librdmacm-dev
else
    echo pkg-config
    exist /usr/include/infiniband/verbs.h || echo libibverbs-dev
    exist /usr/include/rdma/rdma_cma.h || echo librdmacm-dev
fi
libclang || echo libclang-dev
exit 0
