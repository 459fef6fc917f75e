#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# dapl-dat-conf.sh - the dat.conf of Debian's libdapl2 names a library that Debian does not ship, and does not end
# with a newline
#
# Version: libdapl2 2.1.10.1.f1e05b7a-3+b1 (Debian 12).
# Behaviour: of the 62 entries in /etc/dat.conf, 19 name libdaplomcm.so.2. The package contains three providers, and
# libdaplomcm.so.2 is none of them. The last line of the file has no newline, so `echo ENTRY >>/etc/dat.conf` appends
# the new entry to the last entry instead of adding a line.
# Seen:
#   62 entries, 19 of them for libdaplomcm.so.2, which is in the package 0 times
#   the last byte is "
# Exit status: 0 if the behaviour is as described, 1 if it changed, 77 if the package is unavailable.
set -eu

version=2.1.10.1.f1e05b7a-3+b1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -qq -o APT::Sandbox::User=root download "libdapl2=$version" || { echo "libdapl2 $version is unavailable"; exit 77; }
dpkg-deb -x libdapl2_*.deb .

entries=$(grep -c '^[^#[:space:]]' etc/dat.conf)
named=$(grep -c '^[^#].*[[:space:]]libdaplomcm\.so\.2[[:space:]]' etc/dat.conf)
shipped=$(find . -name 'libdaplomcm.so*' | wc -l)
last=$(tail -c 1 etc/dat.conf)
echo "$entries entries, $named of them for libdaplomcm.so.2, which is in the package $shipped times"
echo "the last byte is ${last:-a newline}"
[ "$entries" = 62 ] && [ "$named" = 19 ] && [ "$shipped" = 0 ] && [ "$last" = '"' ]
