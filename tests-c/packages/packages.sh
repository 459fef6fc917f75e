#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# packages.sh - builds the packages, and tests them in a clean root: Debian's with apt-get, also together with the
# packages of the C implementation and instead of them, and with autopkgtest; those for RPM with rpm. Prints TAP.
#
#   CARGO_TARGET_DIR  build directory, whose libraries and tools are packaged
#   AGAIN=1           also builds everything from a copy of the sources in another directory, and compares the packages. This
#                     takes minutes in the background, so the comparison is last
. "$(dirname "$0")/root.sh"
make="${MAKE:-make} --no-print-directory -C $root"
second= lintian=

# refuses WORDS COMMAND...: succeeds if the command fails and prints WORDS.
refuses()
{
    words=$1
    shift
    "$@" >"$work/refused" 2>&1 && return 1
    cat "$work/refused"
    grep -q "$words" "$work/refused"
}

# ---- Building ----

for need in dpkg-buildpackage dh; do
    have $need || { skip 'packages for Debian' "no $need here"; finish; }
done
lacking=$("$root/src/transport/verbs/needs.sh" | tr '\n' ' ')
[ -z "$lacking" ] || { skip 'packages for Debian' "not installed: $lacking"; finish; }

# The clean root does not depend on the packages, so it is built concurrently.
bootstrap "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$clean" \
    gcc,libc6-dev,pkg-config,libibverbs1,librdmacm1,autopkgtest

debs=$target/deb rpms=$target/rpm
ok 'make deb' $make deb || finish

if [ "${AGAIN:-0}" = 1 ]; then
    mkdir "$work/second"
    # Makes the files older than the packages, as in an old checkout.
    "$root/packaging/sources.sh" "$work/copy" && find "$work/copy" -exec touch -h -d 2001-01-01 {} +
    # As with make, both kinds of packages contain what the first build made.
    aside "$work/second.log" nice env CARGO_TARGET_DIR="$work/second/target" sh -c 'for kind in deb rpm; do
            "$0/copy/packaging/$kind.sh" "$0/second/$kind"
            echo $? >"$0/second/$kind.status"
        done' "$work"
    second=$!
fi

# column CONDITION: prints the packages, sorted, of the lines of the table of libraries for which the condition is true.
column()
{
    awk "\$1 ~ /^[12b]/ { package = \$6 } \$1 == \"link\" { package = \$4 } $1 { print package }" "$root/packaging/libraries.txt" |
        sort -u | tr '\n' ' '
}
# Packages with code; with the providers; for programs of one version.
code=$(column '$1 ~ /^[12b]/')
providers=$(column '$1 == "both"')
only12=$(column 'package ~ /^libdat1/')
only20=$(column 'package ~ /^libdat2-2/')
libraries="$only12$only20$providers"
packages="${libraries}libdat-common libdat-dev libdat2-dev dat-tools"
rpm_packages=$(echo $packages | sed 's/-dev/&el/g')
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
arch=$(dpkg --print-architecture)

versions_agree()
{
    for deb in "$debs"/*.deb; do
        case $(dpkg-deb -f "$deb" Version) in "$version"-*) ;; *) echo "$deb"; return 1 ;; esac
    done
    grep -x "Version: *$version" "$root/packaging/rpm/libdat.spec"
}
ok 'all packages have the version of Cargo.toml' versions_agree

every_package()
{
    for package in $code dat-tools; do
        ls "$debs/$package-dbgsym_"*"_$arch.deb" || return 1
    done
    for package in $packages; do
        ls "$debs/${package}_"*.deb || return 1
    done
}
ok 'each package is there, and debugging symbols of each that has code' every_package

for deb in "$debs"/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -t | grep -v '/$'
done | sort >"$work/packed"
ok 'no two packages have the same file' same_result "$(uniq -d "$work/packed")" ''
ok 'no package has a file in /etc' same_result "$(grep '^./etc/' "$work/packed")" ''

# The packages are not for Debian's archive, where a first upload closes a bug. packaging/debian contains all other
# overrides with reasons. lintian runs while the RPM packages are built.
if have lintian; then
    aside "$work/lintian" lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs \
        "$debs"/*.changes
    lintian=$!
fi

mkdir "$work/files" "$work/symbols"
for deb in "$debs"/*.deb; do
    case $deb in
    *-dbgsym_*) dpkg-deb -x "$deb" "$work/symbols" ;;
    *) dpkg-deb -x "$deb" "$work/files" ;;
    esac
done
binaries=$(find "$work/files" -type f \( -name '*.so.[12]' -o -path '*/bin/*' \))

# Checks that functions are resolved at start, that addresses of functions and code are read-only afterwards, and that
# the stack is not executable.
hardened()
{
    for file in $binaries; do
        readelf -dW "$file" | grep -q BIND_NOW || { echo "$file: not BIND_NOW"; return 1; }
        readelf -lW "$file" | grep -q GNU_RELRO || { echo "$file: no RELRO"; return 1; }
        readelf -lW "$file" | grep GNU_STACK | grep -q ' RW ' || { echo "$file: stack"; return 1; }
        readelf -hW "$file" | grep -q 'Type: *DYN' || { echo "$file: has a fixed place"; return 1; }
        ! readelf -dW "$file" | grep -E 'TEXTREL|RPATH|RUNPATH' || { echo "$file"; return 1; }
    done
}
ok 'every library and tool is hardened' hardened
ok 'the completions of zsh are where the zsh of Debian searches' \
    test -e "$work/files/usr/share/zsh/vendor-completions/_dat-ping"

# Checks the sizes in the table of docs/dev/packaging.md, whose lines have the form: | file | bytes |.
sizes_are_told()
{
    told=$(awk -F '[| `]+' '/^\| `/ && $3 ~ /^[0-9,]+$/ { gsub(",", "", $3); print $2, $3 }' "$root/docs/dev/packaging.md")
    [ -n "$told" ] || return 1
    for file in $(printf '%s\n' $binaries | grep '\.so\.'); do
        echo "$told" | awk -v name="${file##*/}" -v size="$(stat -c %s "$file")" '
            $1 == name { found = 1; if (size > $2 * 1.1 || size < $2 * 0.9) { print name " has " size; exit 1 } }
            END { if (!found) { print name " is not in the table"; exit 1 } }' || return 1
    done
}
ok 'docs/dev/packaging.md tells the size of each library, within a tenth' sizes_are_told

symbols_apart()
{
    for file in $binaries; do
        ! readelf -SW "$file" | grep -E '\.(debug_info|symtab)' || { echo "$file"; return 1; }
        id=$(readelf -n "$file" | sed -n 's/^ *Build ID: *//p')
        rest=${id#??}
        debug=$work/symbols/usr/lib/debug/.build-id/${id%"$rest"}/$rest.debug
        readelf -SW "$debug" | grep -q '\.debug_info' || { echo "$file: $debug"; return 1; }
    done
}
ok 'they are stripped, and the packages of symbols have what was taken' symbols_apart

names_no_folder()
{
    ! grep -raoF -e "$root" -e "$target" -e "${CARGO_HOME:-$HOME/.cargo}" "$work/files" "$work/symbols"
}
ok 'no file names a folder of the build' names_no_folder

# leads_somewhere FILE...: checks that every link of these documents leads to a file of the same package.
leads_somewhere()
{
    for document in "$@"; do
        for link in $(grep -o '](\([^)]*\)' "$document" | sed 's/](//; /:/d; s/#.*//'); do
            [ -e "$(dirname "$document")/$link" ] || { echo "$document: $link"; return 1; }
        done
    done
}
documents=$work/files/usr/share/doc/libdat-dev
ok 'libdat-dev has the pages that its README.md leads to' test -e "$documents/docs/getting-started.md"
ok 'links of its documents lead to files that are there' leads_somewhere "$documents"/*.md "$documents"/docs/*.md

# ---- RPM ----

if have rpmbuild; then
    ok 'make rpm' $make rpm
    every_rpm()
    {
        for package in $rpm_packages; do
            ls "$rpms/$package-$version"-*.rpm || return 1
        done
    }
    ok 'each package is there' every_rpm
    ok 'no package has a file in /etc' same_result "$(rpm -qpl "$rpms"/*.rpm 2>/dev/null | grep '^/etc/')" ''
    mkdir "$work/few"
    for tool in dirname mkdir rpmbuild sh; do
        ln -s "$(command -v $tool)" "$work/few"
    done
    PATH=$work/few "$root/packaging/rpm.sh" "$work/no-rpms" >"$work/told" 2>&1
    ok 'without eu-strip one sentence says so' same_result "$? $(cat "$work/told")" \
        '1 rpm.sh: the package elfutils, with eu-strip, is missing'
    if have rpmlint; then
        ok 'rpmlint finds no error' rpmlint -c "$root/packaging/rpm/rpmlint.toml" "$root/packaging/rpm/libdat.spec" \
            "$rpms"/*.rpm
    else
        skip 'rpmlint finds no error' 'no rpmlint here'
    fi
else
    skip 'make rpm' 'no rpmbuild here'
fi

found_nothing()
{
    await "$lintian"
    status=$?
    cat "$work/lintian"
    return $status
}
if [ -n "$lintian" ]; then
    ok 'lintian finds no error and warns of nothing' found_nothing
else
    skip 'lintian finds no error and warns of nothing' 'no lintian here'
fi

# ---- A clean root ----

# programs_work DEMO LIBDIR: tests that the packages' programs run, and that programs compile with the packages.
programs_work()
{
    ok 'dat-ping shm --self as nobody' as_nobody dat-ping shm --self --count 3
    for api in 1.2 2.0; do
        ok "dat-ping tcp-lo --self --api $api as nobody" as_nobody dat-ping tcp-lo --self --count 3 --api $api
    done
    ok 'programs compile with pkg-config dat and pkg-config dat2, and run, as nobody' \
        as_nobody env PKG_CONFIG_PATH="$2/pkgconfig" /debs/libdat/debian/tests/programs "$1"
}

bootstrapped "$clean"
if [ -z "$no_root" ]; then
    mkdir "$clean/debs"
    cp "$debs"/*.deb "$clean/debs"
    rm "$clean"/debs/*-dbgsym_*
    # The sources contain the tests. With this file, autopkgtest considers them built.
    "$root/packaging/sources.sh" "$clean/debs/libdat"
    cp -R "$root/packaging/debian" "$clean/debs/libdat/debian"
    : >"$clean/debs/libdat/debian/files"
fi

# ---- Packages for Debian in it ----

# files_of PACKAGE...: prints the paths of our packages in the root.
files_of()
{
    for package in "$@"; do
        (cd "$clean" && ls "debs/${package}_"*.deb | sed 's|^|/|')
    done
}
libdir=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)

# of_version VERSION FILE DIRECTORY: writes the package with another version.
of_version()
{
    rm -rf "$work/tree" && dpkg-deb -R "$2" "$work/tree" &&
        sed -i "s/^Version: .*/Version: $1/; /^Depends:/s/(= [^)]*)/(= $1)/" "$work/tree/DEBIAN/control" &&
        dpkg-deb -b "$work/tree" "$3"
}

# old_layout PACKAGE PROVIDER...: writes the package as version 0.1.0-1, which contained files of these providers.
old_layout()
{
    package=$1
    shift
    rm -rf "$work/tree" && dpkg-deb -R "$debs/${package}_"*"_$arch.deb" "$work/tree" || return
    mkdir -p "$work/tree$libdir"
    for file in "$@"; do
        cp -L "$work/files$libdir/$file" "$work/tree$libdir/$file" || return
    done
    sed -i 's/^Version: .*/Version: 0.1.0-1/; /^Depends:/{s/(= [^)]*)/(= 0.1.0-1)/g; s/libdat-[a-z]* ([^)]*), //; s/, libdat-[a-z]* ([^)]*)//}' \
        "$work/tree/DEBIAN/control" && dpkg-deb -b "$work/tree" "$clean/debs/old"
}
old_packages()
{
    mkdir "$clean/debs/old" && old_layout libdat1 libdaplshm.so.1 libdapltcp.so.1 &&
        old_layout libdat2-2 libdaplshm.so.2 libdapltcp.so.2 &&
        old_layout libdat1-verbs libdaplverbs.so.1 && old_layout libdat2-2-verbs libdaplverbs.so.2 &&
        apt_get install $(cd "$clean" && ls debs/old/*.deb | sed 's|^|/|')
    status=$?
    rm -rf "$clean/debs/old"
    return $status
}
providers_are_shared()
{
    for file in libdaplshm libdapltcp libdaplverbs; do
        same_result "$(readlink "$clean$libdir/$file.so.1")" $file.so.2 || return 1
    done
}

debian()
{
    files_of_root >"$work/before"
    ok 'apt-get installs packages with a provider for each version' old_packages
    ok 'apt-get upgrades them to all packages' apt_get install $(files_of $packages)
    ok 'the providers of 1.2 are links to those of 2.0' providers_are_shared
    ok 'dpkg finds every file as it was packed' same_result "$(as_root dpkg --verify $packages 2>&1)" ''
    ok 'the libraries are in the folder of the architecture' test -e "$clean$libdir/libdat.so.1"
    programs_work /usr/share/doc/libdat-dev/examples/demo "$libdir"
    ok 'man finds dat.conf(5), a provider, a call and a tool by the names of the files' \
        sh -c 'cd "$0" && ls man5/dat.conf.5dat.gz man7/libdaplshm.7.gz man3/dat_ia_open.3.gz man1/dat-ping.1.gz' \
        "$clean/usr/share/man"
    ok 'apt-get removes them' apt_get remove $packages
    files_of_root >"$work/after"
    ok 'nothing is left' diff "$work/before" "$work/after"
}

# ---- Together with the packages of the C implementation, and instead of them ----

# fetch_theirs: creates an archive with the packages of the C implementation, the only archive that apt-get in the root
# uses afterwards.
fetch_theirs()
{
    dapl2=$("$root/tests-c/verbs/dapl2.sh" "$target" 2>"$work/dapl2") || return 1
    mkdir "$clean/debs/archive"
    cp "$dapl2"/packages/*.deb "$clean/debs/archive"
    rm -rf "$clean"/etc/apt/sources.list "$clean"/etc/apt/sources.list.d/*
    echo 'deb [trusted=yes] file:/debs/archive ./' >"$clean/etc/apt/sources.list"
    scan_theirs >"$work/dapl2" 2>&1
}
scan_theirs()
{
    (cd "$clean/debs/archive" && dpkg-scanpackages . >Packages) && apt_get update
}

# plans ARGUMENT...: prints what apt-get would do. removes ARGUMENT...: prints what it would remove.
plans()
{
    apt_get -s "$@" 2>&1 | sed -n -e 's/^\(Inst\|Remv\) \([^ :]*\).*/\1 \2/p' -e '/^E:/p' | sort
}
removes()
{
    plans "$@" | sed 's/^Remv //; t; /^E:/!d' | tr '\n' ' '
}

# from COMMAND...: prints the packages that contain the files whose names the command prints.
from()
{
    as_root sh -c 'dpkg -S $(realpath "$@")' sh $("$@") | sed 's/:.*//' | sort -u | tr '\n' ' '
}
linked() { as_root ldd /usr/bin/dtest | sed -n 's/.*libdat2.*=> \([^ ]*\).*/\1/p'; }
loaded() { as_nobody timeout 120 sh /debs/libdat/tests-c/packages/dtest.sh; }
# provider NAME: prints the provider libraries that dtest loads for that adapter, which cannot open without a device.
provider()
{
    as_nobody timeout 60 env LD_DEBUG=files dtest -P "$1" -s 2>&1 | sed -n 's|.*calling init: \(/.*/libdapl.*\)|\1|p' | sort -u
}
# without_device: prints dtest's output without a device, without pids, addresses and times.
without_device()
{
    as_nobody timeout 60 dtest -P ofa-v2-ib0 -s 2>&1 | sed 's/[0-9a-f]\{3,\}//g; s/[0-9]* us//g' | sort
}
# changed PACKAGE...: prints files that differ from their package.
changed() { as_root dpkg --verify "$@" 2>&1 | sed 's/.* //'; }

beside_theirs()
{
    said=$(without_device)
    cp "$clean/etc/dat.conf" "$work/dat.conf"
    ok 'apt-get would remove nothing for libdat1, libdat-dev and dat-tools' \
        same_result "$(removes install $(files_of $beside))" ''
    ok 'apt-get installs them beside theirs' apt_get install $(files_of $beside)
    ok 'every file of theirs is as it was packed' same_result "$(changed $theirs)" ''
    ok 'dtest has the library of libdapl2 still' same_result "$(from linked)" 'libdapl2 '
    ok 'dtest asks for a device in the same words as before' same_result "$(without_device)" "$said"
    ok 'these are those of libdapl2' sh -c 'case $0 in *ib0\ configured*) ;; *) echo "$0"; exit 1 ;; esac' "$said"
    ok 'dat-ping shm --self as nobody, beside the dat.conf of libdapl2' as_nobody dat-ping shm --self --count 3
}

# over_theirs: installs our packages instead of Debian's.
over_theirs()
{
    ok 'for libdat2-2 and libdat2-dev, apt-get would remove libdapl2 and libdapl-dev alone' \
        same_result "$(removes install $(files_of $ours))" 'libdapl-dev libdapl2 '
    ok 'apt-get installs them' apt_get install $(files_of $ours)
    ok 'dtest passes with our libraries alone' same_result "$(from loaded)" 'libdat-providers libdat2-2 '
    ok 'apt-get finds nothing that is broken, and nothing to upgrade' same_result "$(plans check; plans dist-upgrade)" ''
    ok 'the dat.conf of libdapl2 has stayed as it was' cmp "$work/dat.conf" "$clean/etc/dat.conf"
    ok 'its names lead to our provider' same_result "$(from provider ofa-v2-ib0)" 'libdat-verbs '
}

# theirs_again CHANGED: installs Debian's packages instead of ours. CHANGED is their file that differs from its package.
theirs_again()
{
    ok 'libdapl2 would remove libdat2-2 and what needs it alone' \
        same_result "$(removes install libdapl2)" "${only20}libdat2-dev "
    ok 'apt-get installs libdapl2 and libdapl-dev in the place of ours' apt_get install libdapl2 libdapl-dev
    ok 'dtest has the library of libdapl2 again' same_result "$(from linked)" 'libdapl2 '
    ok 'their files are as they were packed, but a dat.conf that was changed' same_result "$(changed $theirs)" "$1"
    ok 'which is as it was' cmp "$work/dat.conf" "$clean/etc/dat.conf"
    files_of_root >"$work/after"
    ok 'no file has come or gone' diff "$work/before" "$work/after"
}

debian_and_theirs()
{
    theirs='libdapl2 libdapl-dev dapl2-utils'
    beside="$only12${providers}libdat-common libdat-dev dat-tools"
    # Our packages, in the order in which dpkg unpacks them.
    ours="libdat2-dev $(printf '%s\n' $only20 | sort -r | tr '\n' ' ')"
    ok "apt-get installs $theirs" apt_get install $theirs
    beside_theirs
    files_of_root >"$work/before"
    over_theirs
    ok 'without libdat2-2 apt-get would remove dapl2-utils' \
        same_result "$(removes remove libdat2-2)" "dapl2-utils ${only20}libdat2-dev "
    theirs_again ''

    # Test an upgrade to a newer version of Debian's packages, and a modified dat.conf.
    for package in $theirs; do
        of_version 2.1.11-1 "$dapl2/packages/${package}_"*.deb "$clean/debs/archive" >/dev/null
    done
    scan_theirs >/dev/null 2>&1
    ok 'apt-get upgrades theirs' apt_get upgrade
    ok 'to a later version' same_result "$(as_root dpkg-query -W -f '${Version}' libdapl2)" 2.1.11-1
    echo '# mine' >>"$clean/etc/dat.conf"
    cp "$clean/etc/dat.conf" "$work/dat.conf"
    files_of_root >"$work/before"
    over_theirs
    ok 'dpkg alone refuses theirs, with the reason' refuses 'libdat2-2.* conflicts with libdapl2' \
        as_root sh -c 'dpkg -i /debs/archive/libdapl2_2.1.11-1_*.deb'
    theirs_again /etc/dat.conf
    ok 'dpkg alone puts ours in the place of theirs' as_root dpkg -i $(files_of $ours)
    ok 'apt-get purges libdapl2' apt_get purge libdapl2
    ok 'with it goes its dat.conf' same_result "$(ls "$clean/etc" | grep dat.conf)" ''
    ok 'dtest passes without one' same_result "$(from loaded)" 'libdat-providers libdat2-2 '
    apt_get purge $theirs $ours $beside >/dev/null 2>&1
}

# ---- The Containerfile in it ----

# carried_out FILE: executes the steps, with packages from the build directory.
carried_out()
{
    while read -r step rest; do
        case $step in
        COPY)
            to=$clean${rest##* }
            case $to in */) mkdir -p "$to" ;; esac
            (cd "$root" && cp $(echo "${rest% *}" | sed "s|target/deb|$debs|g") "$to") ;;
        RUN) as_root sh -c "$rest" ;;
        esac || return 1
    done <"$1"
}

container()
{
    in_root dat:dat "$@"
}

# Runs dat-ping in two containers with separate namespaces that share the image's directory. The server exits after one
# client. The client is restarted until the server listens.
meet()
{
    container timeout 60 dat-ping shm --count 1 >"$work/server" 2>&1 &
    server=$!
    until container timeout 60 dat-ping shm 127.0.0.1 --count 1; do
        kill -0 $server 2>/dev/null || break
    done
    wait $server
}

containerfile()
{
    ok 'the steps of docs/examples/Containerfile' carried_out "$root/docs/examples/Containerfile"
    ok 'two processes with namespaces of their own meet in its directory, as its user' meet
    ok 'its dat.conf leaves tcp there' container dat-ping tcp-lo --self --count 1
    # Restores the root and the lists of apt-get, which the image deletes.
    apt_get purge libdat1 libdat2-2 libdat-providers dat-tools >/dev/null 2>&1
    as_root userdel dat
    rm -rf "$clean/etc/dat.conf" "$clean/run/dat"
    apt_get update >/dev/null 2>&1
}

# ---- RPM packages ----

# Debian's rpm requires --force-debian.
rpm_there() { rpm --root "$clean" --dbpath /var/lib/rpm --force-debian "$@"; }

# stand_in NAME VERSION: builds $work/NAME.rpm of another origin. Standard input is the rest of the spec.
stand_in()
{
    {
        printf 'Name: %s\nVersion: %s\nRelease: 1\nSummary: of another origin\nLicense: none\n' "$1" "$2"
        cat
    } >"$work/$1.spec"
    rpmbuild -bb --nodeps --define "_topdir $work/rpmbuild" --define "_rpmdir $work" --define '_rpmfilename %{NAME}.rpm' \
        --define 'debug_package %{nil}' "$work/$1.spec" >"$work/$1.log" 2>&1 || sed 's/^/# /' "$work/$1.log"
}

# conflicts OURS THEIRS: checks that rpm rejects OURS while THEIRS is installed.
conflicts()
{
    printf '%%description\n%%files\n' | stand_in "$2" 2.1.10
    rpm_there -i "$work/$2.rpm" || return 1
    refuses "$2.* conflicts with .*$1" rpm_there -i --test "$rpms/$1-$version"-*.rpm
    status=$?
    rpm_there -e "$2" && [ $status -eq 0 ]
}

rpm_in_root()
{
    # Build a package that contains what our packages require of a distribution: directories, and libraries by the names
    # that rpm derives.
    libdir=$(rpm --eval '%_libdir')
    {
        find "$clean/usr/lib" \( -name libc.so.6 -o -name libm.so.6 -o -name libdl.so.2 -o -name libpthread.so.0 \
            -o -name 'ld-linux-*.so.*' -o -name libgcc_s.so.1 -o -name libibverbs.so.1 -o -name librdmacm.so.1 \) |
            "$(rpm --eval '%_rpmconfigdir')/elfdeps" --provides | sort -u | sed 's/^/Provides: /'
        printf 'Provides: %s\n' 'rtld(GNU_HASH)' /sbin/ldconfig /usr/bin/pkg-config
        printf '%%description\n%%install\n'
        folders=
        for folder in "$libdir/pkgconfig" /usr/share/licenses /usr/share/man/man1 /usr/share/man/man3 /usr/share/man/man5 \
            /usr/share/man/man7 /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/fish \
            /usr/share/fish/vendor_completions.d /usr/share/zsh /usr/share/zsh/site-functions; do
            [ -d "$clean$folder" ] || folders="$folders $folder"
        done
        printf 'mkdir -p %%{buildroot}%s\n' /etc/ld.so.conf.d $folders
        # Debian's loader does not search this directory.
        printf 'echo %s >%%{buildroot}/etc/ld.so.conf.d/distribution.conf\n' "$libdir"
        printf '%%files\n/etc/ld.so.conf.d/distribution.conf\n'
        printf '%%dir %s\n' $folders
    } | stand_in distribution 1
    stand_in libdat1 0.0.1 <<'SPEC'
%description
%install
mkdir -p %{buildroot}%{_libdir}
echo >%{buildroot}%{_libdir}/libdat.so.0
echo >%{buildroot}%{_libdir}/libdaplshm.so.1
%files
%{_libdir}/libdat.so.0
%{_libdir}/libdaplshm.so.1
SPEC

    files_of_root >"$work/before"
    ok 'rpm installs an older libdat1' rpm_there -i "$work/distribution.rpm" "$work/libdat1.rpm"
    ok 'rpm installs all packages, over the older one; all that they ask for is there' rpm_there -U "$rpms"/*.rpm
    ok 'rpm finds every file as it was packed' rpm_there -V $rpm_packages libdat-debuginfo
    ok 'the libraries are in the folder of the spec, and not those of the older package' \
        sh -c 'test -e "$0/libdat.so.1" && ! test -e "$0/libdat.so.0"' "$clean$libdir"
    programs_work /usr/share/doc/libdat-devel/demo "$libdir"
    ok 'rpm erases them' rpm_there -e $rpm_packages libdat-debuginfo
    for pair in libdat1:compat-dapl libdat2-2:dapl libdat2-devel:dapl-devel; do
        ok "rpm refuses ${pair%:*} beside ${pair#*:}" conflicts "${pair%:*}" "${pair#*:}"
    done
    rpm_there -e distribution
    files_of_root >"$work/after"
    ok 'nothing is left' diff "$work/before" "$work/after"
}

if [ -n "$no_root" ]; then
    skip 'the packages in a clean root' "$no_root"
else
    debian
    if fetch_theirs; then
        debian_and_theirs
    else
        skip "beside Debian's libdapl2" "$(tail -n 1 "$work/dapl2")"
    fi
    if have rpmbuild; then
        rpm_in_root
    else
        skip 'packages with RPM in a clean root' 'no rpmbuild here'
    fi
    containerfile
    # Last, because it leaves packages in the root.
    if [ -n "${dapl2:-}" ]; then
        ok 'autopkgtest passes debian/tests' as_root autopkgtest /debs/libdat $(files_of $packages) -- null
    else
        skip 'autopkgtest passes debian/tests' "$(tail -n 1 "$work/dapl2")"
    fi
fi

# ---- The second build ----

if [ -z "$second" ]; then
    skip 'the packages are the same from another folder' 'AGAIN=1 builds them a second time'
    finish
fi
await "$second"
# same_packages KIND DIRECTORY: succeeds if the second build has produced the same bytes.
same_packages()
{
    [ "$(cat "$work/second/$1.status")" = 0 ] || { tail -n 30 "$work/second.log"; return 1; }
    for package in "$2"/*."$1"; do
        cmp "$package" "$work/second/$1/${package##*/}" || return 1
    done
}
ok 'packages for Debian are the same from another folder, byte for byte' same_packages deb "$debs"
if have rpmbuild; then
    ok 'packages with RPM are the same from another folder, byte for byte' same_packages rpm "$rpms"
else
    skip 'packages with RPM are the same from another folder' 'no rpmbuild here'
fi
finish
