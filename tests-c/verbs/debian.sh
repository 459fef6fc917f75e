# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# debian.sh - fetches packages of any suite from the archive that this machine's apt uses, and installs nothing. vm.sh
# reads this file, and provides $cache, the directory for what is kept, and say, which prints a line. `from SUITE` comes
# first. The machine's own suite uses the machine's package lists, another suite uses lists in $cache/apt-SUITE.

machine_suite() { (. /etc/os-release && echo "${VERSION_CODENAME:-}") 2>/dev/null; }

# from SUITE: later functions use this suite. Exits with 77 if there are no package lists.
from()
{
    local uri entry keys name dir=$cache/apt-$1
    apt=(-qq -o APT::Sandbox::User=root)
    suite=$1
    if [ "$1" != "$(machine_suite)" ]; then
        # One line for each source: address, names of the suite, component, file with the source.
        # shellcheck disable=SC2016 # apt replaces these
        read -r uri entry < <(apt-get indextargets --format \
            '$(REPO_URI) $(SOURCESENTRY) $(COMPONENT) $(CREATED_BY) $(RELEASE) $(CODENAME)' 2>/dev/null |
            awk -v own="$(machine_suite)" '$3 == "main" && $4 == "Packages" && ($5 == own || $6 == own) { print $1, $2; exit }') ||
            { say "apt has no source of the suite $(machine_suite), from which to derive one of $1"; exit 77; }
        keys=$(sed -n 's/^[^#]*[Ss]igned-[Bb]y *[:=] *\(\/[^] ]*\).*/\1/p' "${entry%:*}" | head -n 1)
        mkdir -p "$dir/lists/partial" "$dir/archives/partial"
        # Packages in backports need packages of the suite itself.
        for name in "${1%-backports}" "$1"; do
            echo "deb [arch=amd64${keys:+ signed-by=$keys}] $uri $name main"
        done | sort -u >"$dir/sources.list"
        apt+=(-o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Acquire::Languages=none
            -o Dir::State::Lists="$dir/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$dir" -o APT::Default-Release="$1")
    fi
    # The package lists of a minimal system are empty.
    [ -n "$(depends linux-image-amd64)" ] || update || true
    [ -n "$(depends linux-image-amd64)" ] || { say "no package lists of the suite $1: $cache/apt.log"; exit 77; }
}

update() { apt-get "${apt[@]}" update >"$cache/apt.log" 2>&1; }

# depends PACKAGE: prints the names of the packages on which it depends.
depends() { apt-cache "${apt[@]}" depends --important "$1" 2>/dev/null | awk '$1 == "Depends:" { print $2 }'; }

# unpack DIR PACKAGE...: unpacks these packages into DIR. Updates the package lists if they are too old to find one.
unpack()
{
    local into=$1 debs
    shift
    debs=$(mktemp -d "$cache/debs.XXXXXX")
    (cd "$debs" && { apt-get "${apt[@]}" download "$@" || { update && apt-get "${apt[@]}" download "$@"; }; } &&
        for deb in ./*.deb; do dpkg-deb -x "$deb" "$into" || exit; done) >>"$cache/apt.log" 2>&1 ||
        { rm -rf "$debs"; return 1; }
    rm -rf "$debs"
}

# kept NAME FUNCTION: prints the directory $cache/NAME. If it does not exist, FUNCTION DIR fills it.
kept()
{
    local fresh
    if [ ! -e "$cache/$1" ]; then
        fresh=$(mktemp -d "$cache/$1.XXXXXX")
        ("$2" "$fresh") || { rm -rf "$fresh"; say "cannot fetch $1: $cache/apt.log"; exit 77; }
        chmod 755 "$fresh"
        mv -T "$fresh" "$cache/$1"
    fi
    echo "$cache/$1"
}

# kernel DIR: unpacks the kernel of the suite. From 7.x on, its files are in several packages.
kernel()
{
    local image modules
    image=$(depends linux-image-amd64 | grep '^linux-image-[0-9]') || return
    # shellcheck disable=SC2046 # words are wanted
    unpack "$1" "$image" $(depends "$image" | grep -E '^linux-(base|binary|modules)-[0-9]') || return
    # depmod needs /lib, and packages may have /usr/lib.
    [ -d "$1/lib" ] || ln -s usr/lib "$1/lib"
    for modules in "$1"/lib/modules/*; do depmod -b "$1" "${modules##*/}"; done
}

# root DIR: unpacks the libraries between a program and an RDMA device. The name of librdmacm1 depends on the suite.
# shellcheck disable=SC2046 # words are wanted
root()
{
    unpack "$1" libc6 libibverbs1 ibverbs-providers libnl-3-200 libnl-route-3-200 \
        $(depends librdmacm-dev | grep '^librdmacm1')
}

# headers RELEASE DIR: unpacks the headers of the kernel RELEASE into DIR, with the programs that build a module.
headers()
{
    local kbuild program elf loader
    kbuild=$(depends "linux-headers-$1" | grep '^linux-kbuild-')
    # shellcheck disable=SC2046 # words are wanted
    unpack "$2" "linux-headers-$1" "$kbuild" $(depends "linux-headers-$1" | grep '^linux-headers-') || return
    # The Makefile contains the directory in which the package would be installed.
    sed -i "s|/usr/src/|$2/usr/src/|" "$2/usr/src/linux-headers-$1/Makefile"
    # The programs of another suite may need a newer glibc than this machine's. Two of them only start another one of the same name.
    [ "$suite" != "$(machine_suite)" ] || return 0
    # shellcheck disable=SC2046 # words are wanted
    unpack "$2/libraries" libc6 zlib1g libzstd1 $(depends "$kbuild" | grep '^libelf1') || return
    loader=$(echo "$2"/libraries/usr/lib*/ld-linux-x86-64.so.2)
    for program in scripts/basic/fixdep scripts/mod/modpost tools/objtool/objtool; do
        program=$2/usr/lib/$kbuild/$program
        for elf in "$program.real-lsb-64" "$program.real-x86"; do [ ! -e "$elf" ] || break; done
        [ -e "$elf" ] || mv "$program" "$elf"
        printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" \
            "$2/libraries/usr/lib/x86_64-linux-gnu" "$elf" >"$program.new"
        chmod 755 "$program.new" && mv "$program.new" "$program"
    done
}

# siw RELEASE FILE: builds the module siw for the kernel RELEASE of the suite as FILE. Exits with 77 if it cannot be built.
siw()
{
    local version=${1%%-*} work log=$cache/siw.log status=0
    work=$(mktemp -d "$cache/siw.XXXXXX")
    say "building the module siw for $1, once"
    (siw_in "$work" "$1" "$(expr "$version" : '\([0-9]*\.[0-9]*\)')" >"$log" 2>&1) || status=$?
    case $status in
    0) mv "$work/source/siw.ko" "$2" ;;
    10) say "the suite $suite has no headers of the kernel $1: $log" ;;
    11) say "cannot fetch the source of the kernel $1: $log" ;;
    *) say "the module siw cannot be built for $1: $log" ;;
    esac
    rm -rf "$work"
    [ "$status" -eq 0 ] || exit 77
}

# siw_in DIR RELEASE VERSION: the parts of siw that print to its log.
siw_in()
{
    local compiler build=$1/headers/usr/src/linux-headers-$2
    # Hands the socket to the queue pair before the peer can send, not after.
    local early='/^int siw_accept/,/^}/{
        s/^\trv = siw_send_mpareqrep/\tif (!wait_for_peer_rts)\n\t\tsiw_qp_socket_assoc(cep, qp);\n&/
        /^\t\tsiw_qp_socket_assoc(cep, qp);$/d
    }'
    mkdir "$1/headers" "$1/package" "$1/source"
    headers "$2" "$1/headers" || return 10
    unpack "$1/package" "linux-source-$3" && tar -xJ -C "$1/source" --strip-components=5 --wildcards \
        -f "$1/package/usr/src/linux-source-$3.tar.xz" '*/drivers/infiniband/sw/siw' || return 11
    sed -i.orig "$early" "$1/source/siw_cm.c"
    ! cmp "$1/source/siw_cm.c" "$1/source/siw_cm.c.orig" || return 1
    compiler=$(sed -n 's/^CC = .*\(gcc-[0-9]*\)$/\1/p' "$build/.kernelvariables")
    command -v "$compiler" || compiler=cc
    # The headers of newer kernels contain a vmlinux. Then the build would describe the types of the module with pahole.
    make -C "$build" M="$1/source" CC="$compiler" CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT= CONFIG_RDMA_SIW=m \
        CONFIG_DEBUG_INFO_BTF_MODULES= modules && strip -g "$1/source/siw.ko"
}
