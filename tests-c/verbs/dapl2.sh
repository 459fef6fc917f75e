#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# dapl2.sh DIR - fetches the C implementation of uDAPL 2.0, with which tests connect and beside which the
# benchmark runs, and its programs, which tests run, and prints where it is: DIR/dapl2, with usr/include/dat2,
# usr/lib and usr/bin, and the packages themselves in the folder packages. It is not installed, since its package has
# a configuration for the whole machine. The exit status is 1 if it cannot be fetched; then a line on standard error
# tells why.
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
if ! fetch >"$fetched/told" 2>&1 && [ "$(id -u)" -eq 0 ]; then
    apt-get -qq update >>"$fetched/told" 2>&1
    fetch >>"$fetched/told" 2>&1
fi
mkdir -p "$fetched/tree/packages"
for package in $packages; do
    dpkg-deb -x "$fetched/$package"_*.deb "$fetched/tree" 2>>"$fetched/told" || {
        echo "dapl2.sh: no package $package: $(tail -n 1 "$fetched/told")" >&2
        exit 1
    }
    mv "$fetched/$package"_*.deb "$fetched/tree/packages"
done
mkdir -p "$1" && rm -rf "$dir" && mv "$fetched/tree" "$dir" && echo "$dir"
