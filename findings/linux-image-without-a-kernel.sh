#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# linux-image-without-a-kernel.sh - Debian's package linux-image-RELEASE of Linux 7.3 contains neither a kernel nor modules
#
# Version: linux 7.3.4-1~bpo13+1 (Debian 13, backports).
# Behaviour: up to Linux 6.12, linux-image-RELEASE contains boot/vmlinuz-RELEASE and all modules. From 7.x on, it contains
# only documentation. The image is in linux-binary-RELEASE, under usr/lib/modules/RELEASE/vmlinuz, and the modules are in
# linux-modules-RELEASE. So a program that unpacks the package on which linux-image-amd64 depends finds no kernel, and one
# that searches boot/ finds none in any of the packages. The module crc32_generic is in none of them: the checksum that
# rdma_rxe requested by this name until 6.12 is built in.
# Seen:
#   linux-image: 0 images, 0 modules; linux-binary: 0 files in boot/, image ./usr/lib/modules/7.3.4+deb13-amd64/vmlinuz
#   linux-modules: rdma_rxe 1, crc32_generic 0
# Exit status: 0 if the behaviour is as described, 1 if it changed, 77 if the packages are unavailable.
set -eu

release=7.3.4+deb13-amd64
version=7.3.4-1~bpo13+1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# Lists of another suite, from the archive that this machine uses. They are kept in the temporary directory only.
suite=trixie-backports
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

for part in image binary modules; do
    apt-get "$@" download "linux-$part-$release=$version" || { echo "linux-$part $version is unavailable"; exit 77; }
    dpkg-deb --contents linux-"$part"-*.deb | awk '$1 !~ /^d/ { print $6 }' >"$part"
done

images=$(grep -c vmlinuz image || true)
modules=$(grep -c '\.ko' image || true)
boot=$(grep -c '^\./boot/' binary || true)
found=$(grep '/vmlinuz$' binary || true)
rxe=$(grep -c '/rdma_rxe\.ko' modules || true)
crc=$(grep -c '/crc32_generic\.ko' modules || true)
echo "linux-image: $images images, $modules modules; linux-binary: $boot files in boot/, image $found"
echo "linux-modules: rdma_rxe $rxe, crc32_generic $crc"
[ "$images $modules $boot $rxe $crc" = '0 0 0 1 0' ] && [ "$found" = "./usr/lib/modules/$release/vmlinuz" ]
