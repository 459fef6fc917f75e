#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# dapl-list-providers.sh - dat_registry_list_providers of the C library succeeds if the array is too small
#
# Version: libdapl2 2.1.10.1.f1e05b7a-3+b1 and libdapl-dev of the same version (Debian 12).
# Behaviour: if more providers are registered than the array has room for, the C library fills the array, stores the
# number of filled entries and returns DAT_SUCCESS, so the caller cannot see that entries are missing. Only with room for
# 0 entries it returns an error, DAT_INVALID_PARAMETER, and stores the number of registered providers.
# Seen, with a dat.conf of three entries:
#   room 0: DAT_INVALID_PARAMETER, number 3, filled 0
#   room 1: DAT_SUCCESS, number 1, filled 1
#   room 2: DAT_SUCCESS, number 2, filled 2
#   room 3: DAT_SUCCESS, number 3, filled 3
#   room 9: DAT_SUCCESS, number 3, filled 3
# Exit status: 0 if the behaviour is as described, 1 if it changed, 77 if a package is unavailable.
set -eu

version=2.1.10.1.f1e05b7a-3+b1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -qq -o APT::Sandbox::User=root download "libdapl2=$version" "libdapl-dev=$version" ||
    { echo "libdapl2 $version is unavailable"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
libraries=$(dirname "$(find . -name libdat2.so.2)")

cat >list.c <<'END'
#include <dat2/udat.h>
#include <stdio.h>

int main(void)
{
    static const int rooms[] = { 0, 1, 2, 3, 9 };
    for (unsigned i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        DAT_PROVIDER_INFO infos[9] = { { "", 0, 0, 0 } };
        DAT_PROVIDER_INFO *pointers[9];
        DAT_COUNT number = -1;
        int filled = 0;
        for (int j = 0; j < 9; j++)
            pointers[j] = &infos[j];
        DAT_RETURN result = dat_registry_list_providers(rooms[i], &number, pointers);
        for (int j = 0; j < 9; j++)
            filled += infos[j].ia_name[0] != 0;
        const char *major = "", *minor = "";
        dat_strerror(result, &major, &minor);
        printf("room %d: %s, number %d, filled %d\n", rooms[i], major, number, filled);
    }
    return 0;
}
END
cc -Iusr/include list.c -L"$libraries" -ldat2 -o list
for name in a b c; do echo "$name u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"lo 0\" \"\""; done >dat.conf
DAT_OVERRIDE=$work/dat.conf LD_LIBRARY_PATH=$libraries ./list | tee seen
cat >wanted <<'END'
room 0: DAT_INVALID_PARAMETER, number 3, filled 0
room 1: DAT_SUCCESS, number 1, filled 1
room 2: DAT_SUCCESS, number 2, filled 2
room 3: DAT_SUCCESS, number 3, filled 3
room 9: DAT_SUCCESS, number 3, filled 3
END
cmp -s seen wanted
