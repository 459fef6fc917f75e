#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# dapl-absent-device.sh - codes of the C providers for a device that does not exist
#
# Version: libdapl2 and libdapl-dev 2.1.10.1.f1e05b7a-3+b1 (Debian 12), on a machine without an RDMA device.
# Behaviour: without the device of an entry, dat_ia_open returns codes that its manual page does not list, and without
# the bit of the error class. The provider over rdma_cm distinguishes an interface that does not exist from one without
# an RDMA device.
# Seen:
#   libdaplofa.so.2 "none0 0": 0x00120000 DAT_INVALID_ADDRESS
#   libdaplofa.so.2 "lo 0": 0x00040000 DAT_INTERNAL_ERROR
#   libdaploscm.so.2 "none0 1": 0x00040000 DAT_INTERNAL_ERROR
#   libdaploucm.so.2 "none0 1": 0x00040000 DAT_INTERNAL_ERROR
# Exit status: 0 if the behaviour is as described, 1 if it changed, 77 if a package is unavailable or there is a device.
set -eu

if [ -n "$(ls /sys/class/infiniband 2>/dev/null)" ]; then
    echo 'this machine has an RDMA device'
    exit 77
fi
version=2.1.10.1.f1e05b7a-3+b1
wanted=$(sed -n 's/^#   \(libdapl.*\)/\1/p' "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -qq -o APT::Sandbox::User=root download "libdapl2=$version" "libdapl-dev=$version" ||
    { echo "libdapl2 $version is unavailable"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
libraries=$work/$(dirname "$(find usr -name libdat2.so.2)")

cat >open.c <<'END'
#include <dat2/udat.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
        DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
        DAT_RETURN result = dat_ia_open(argv[i], 8, &evd, &ia);
        const char *major = "", *minor = "";
        dat_strerror(result, &major, &minor);
        printf("%s: 0x%08x %s\n", argv[i + 1], (unsigned)result, major);
    }
    return 0;
}
END
cc -Iusr/include open.c -L"$libraries" -ldat2 -Wl,--allow-shlib-undefined -o open
: >dat.conf
set --
for entry in libdaplofa:'none0 0' libdaplofa:'lo 0' libdaploscm:'none0 1' libdaploucm:'none0 1'; do
    library=${entry%%:*}.so.2 data=${entry#*:}
    echo "a$# u2.0 nonthreadsafe default $libraries/$library dapl.2.0 \"$data\" \"\"" >>dat.conf
    set -- "$@" "a$#" "$library \"$data\""
done
DAT_OVERRIDE=$work/dat.conf LD_LIBRARY_PATH=$libraries ./open "$@" 2>errors | grep '^libdapl' | tee seen
[ "$(cat seen)" = "$wanted" ]
