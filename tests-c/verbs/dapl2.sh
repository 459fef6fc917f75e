#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# dapl2.sh DIR - downloads the C implementation of uDAPL 2.0 and its programs for tests and benchmarks, and prints their
# directory, DIR/dapl2. It contains usr/include/dat2, usr/lib, usr/bin, and the packages in packages. They are not
# installed, because libdapl2 contains a configuration for the whole machine. After a failure, prints a line on standard
# error and exits with 1.
set -u

packages='libdapl2 libdapl-dev dapl2-utils'
dir=$1/dapl2
if [ -x "$dir/usr/bin/dtest" ] && [ -d "$dir/packages" ]; then
    echo "$dir"
    exit
fi
fetched=$(mktemp -d) || exit
trap 'rm -rf "$fetched"' EXIT
fetch() { (cd "$fetched" && apt-get -qq -o APT::Sandbox::User=root download $packages); }
if ! fetch >"$fetched/log" 2>&1 && [ "$(id -u)" -eq 0 ]; then
    apt-get -qq update >>"$fetched/log" 2>&1
    fetch >>"$fetched/log" 2>&1
fi
mkdir -p "$fetched/tree/packages"
for package in $packages; do
    dpkg-deb -x "$fetched/$package"_*.deb "$fetched/tree" 2>>"$fetched/log" || {
        echo "dapl2.sh: no package $package: $(tail -n 1 "$fetched/log")" >&2
        exit 1
    }
    mv "$fetched/$package"_*.deb "$fetched/tree/packages"
done
mkdir -p "$1" && rm -rf "$dir" && mv "$fetched/tree" "$dir" && echo "$dir"
