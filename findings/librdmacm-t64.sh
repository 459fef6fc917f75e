#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# librdmacm-t64.sh - of the libraries of rdma-core, Debian 13 renamed only librdmacm1, and apt cannot download the old name
#
# Version: rdma-core 56.1-1 (Debian 13).
# Behaviour: librdmacm1 is now librdmacm1t64, with the same soname librdmacm.so.1, although 64-bit time_t changes nothing on
# amd64. libibverbs1 and ibverbs-providers of the same source kept their names. librdmacm1t64 provides librdmacm1, so
# dependencies and `apt-get install librdmacm1` work, but `apt-get download librdmacm1` fails.
# Seen:
#   librdmacm-dev: librdmacm1t64; libibverbs-dev: libibverbs1; soname librdmacm.so.1
#   E: Can't select candidate version from package librdmacm1 as it has no candidate
# Exit status: 0 if the behaviour is as described, 1 if it changed, 77 if the packages are unavailable.
set -eu
export LC_ALL=C

version=56.1-1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# Lists of another suite, from the archive that this machine uses. They are kept in the temporary directory only.
suite=trixie
read -r uri entry <<END
$(apt-get indextargets --format '$(REPO_URI) $(SOURCESENTRY) $(COMPONENT) $(CREATED_BY) $(ORIGIN)' |
    awk '$3 == "main" && $4 == "Packages" && $5 == "Debian" { print $1, $2; exit }')
END
keys=$(sed -n 's/^[^#]*[Ss]igned-[Bb]y *[:=] *\(\/[^] ]*\).*/\1/p' "${entry%:*}" | head -n 1)
mkdir -p lists/partial cache/archives/partial
echo "deb [arch=amd64${keys:+ signed-by=$keys}] $uri $suite main" >sources.list
set -- -qq -o APT::Sandbox::User=root -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$work/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$work/cache" -o Acquire::Languages=none
apt-get "$@" update >/dev/null 2>&1 || { echo "no package lists of $suite"; exit 77; }

depends() { apt-cache "$@" | awk '$1 == "Depends:" { print $2 }'; }
apt-get "$@" download "librdmacm1t64=$version" || { echo "librdmacm1t64 $version is unavailable"; exit 77; }
dpkg-deb -x librdmacm1t64_*.deb .
cm=$(depends "$@" depends --important librdmacm-dev | grep '^librdmacm1')
verbs=$(depends "$@" depends --important libibverbs-dev | grep '^libibverbs1')
soname=$(readelf -d usr/lib/*/librdmacm.so.1 | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
echo "librdmacm-dev: $cm; libibverbs-dev: $verbs; soname $soname"
! apt-get "$@" download librdmacm1 2>error || exit 1
cat error
[ "$cm $verbs $soname" = 'librdmacm1t64 libibverbs1 librdmacm.so.1' ] && grep -q 'no candidate' error
