#!/bin/sh
# install.sh - builds, installs into temporary directories, and uses the installed files. Prints TAP.
#
# CARGO_TARGET_DIR is the build directory, CC the compiler, VERBS as for make.
set -u
LC_ALL=C
export LC_ALL
unset DAT_OVERRIDE DAT_DBG_TYPE DAPL_DBG_TYPE DAT_LOG RUST_LOG LD_LIBRARY_PATH LD_PRELOAD

root=$(cd "$(dirname "$0")/.." && pwd)
cc=${CC:-cc}
make="${MAKE:-make} --no-print-directory -C $root"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
# "yes" if make builds the provider verbs.
verbs=no
[ "${VERBS:-auto}" = 0 ] || [ -n "$("$root/src/transport/verbs/needs.sh")" ] || verbs=yes
table=$root/packaging/libraries.txt
. "$root/tests-c/common/tap.sh"

# Prints the files that must be installed below PREFIX.
expected()
{
    (
        cd "$root" || exit
        awk -v verbs=$verbs '$7 == "always" || $7 == "verbs" && verbs == "yes" { print "lib/" $4; installed[$4] }
            $1 == "link" && ($3 in installed) { print "lib/" $2 }' "$table"
        printf 'lib/pkgconfig/%s.pc\n' dat dat2
        for tool in dat-info dat-ping dat-perf; do
            echo "bin/$tool"
            echo "share/bash-completion/completions/$tool"
            echo "share/zsh/site-functions/_$tool"
            echo "share/fish/vendor_completions.d/$tool.fish"
        done
        ls include/dat/*.h include/dat2/*.h
        for page in docs/man/*.[1357]; do
            echo "share/man/man${page##*.}/${page##*/}"
        done
        # Links to the page of dat_extension_op.
        for operation in post_rdma_write_immed post_fetch_and_add post_cmp_and_swap post_send_ud ud_ah_free ud_cm_free \
            open_query close_query query_counters print_counters start_counter stop_counter; do
            echo "share/man/man3/dat_ib_$operation.3"
        done
        for file in README.md SECURITY.md CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE LICENSE-THIRD-PARTY dat.conf.example; do
            echo "share/doc/libdat/$file"
        done
        for file in tests-c/demo/*.[ch]; do
            echo "share/doc/libdat/demo/${file##*/}"
        done
        for file in examples/*.c docs/*.md docs/bench.svg docs/tracing/*.bt docs/examples/*; do
            echo "share/doc/libdat/$file"
        done
    ) | sort
}

present()
{
    (cd "$1" && find . ! -type d | sed 's|^\./||' | sort)
}

same_tree()
{
    expected >"$work/wanted"
    present "$1" >"$work/got"
    diff "$work/wanted" "$work/got"
}

nothing_left()
{
    present "$1" >"$work/got"
    ! [ -s "$work/got" ] || { cat "$work/got"; return 1; }
    # Only directories of libdat must be removed.
    ! [ -e "$1/include/dat" ] && ! [ -e "$1/include/dat2" ] && ! [ -e "$1/share/doc/libdat" ]
}

# names_no_directory FILE...: checks that the files contain no directory of this build.
names_no_directory()
{
    ! grep -aoF -e "$work" -e "$root" -e "${CARGO_TARGET_DIR:-$root/target}" -e "${CARGO_HOME:-$HOME/.cargo}" "$@"
}

# leads_somewhere DIR: checks that all links in the documents lead to files, and that README.md has links.
leads_somewhere()
{
    find "$1" -name '*.md' -exec grep -o ']([^)]*)' {} + | sed 's/](//; s/)$//' | grep -v -e ':#' -e ':.*:' >"$work/links"
    grep -q "^$1/README.md:docs/getting-started.md$" "$work/links" || return 1
    while IFS=: read -r document link; do
        [ -e "$(dirname "$document")/${link%%#*}" ] || { echo "$document: $link"; return 1; }
    done <"$work/links"
}

same_result()
{
    [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }
}

# ---- Without a suitable compiler ----

# lacks CARGO: checks that make fails, and says which compiler the build needs and which packages have it.
lacks()
{
    ! $make base CARGO="$1" CHECK_INSTALL=0 >"$work/lacks" 2>&1 &&
        grep 'needs a C compiler, lld, and cargo and rustc 1\.[0-9]* or newer' "$work/lacks" &&
        grep 'apt-get install .*cargo' "$work/lacks" && ! grep -v '^make\|^    sudo\|^https' "$work/lacks"
}
printf '#!/bin/sh\necho cargo 1.63.0\n' >"$work/old-cargo"
chmod +x "$work/old-cargo"
ok 'make with an old cargo says which it needs' lacks "$work/old-cargo"
ok 'make without cargo says which it needs' lacks "$work/no-cargo"

# ---- Staged, as for a package ----

ok 'make' $make all
# The installing user, such as root, may have no cargo.
ok 'make install DESTDIR= PREFIX=/usr, without cargo' \
    $make install PREFIX=/usr DESTDIR="$work/package" CARGO="$work/no-cargo"
ok 'everything is there, and nothing else' same_tree "$work/package/usr"
ok 'links of the documents lead to files that are there' leads_somewhere "$work/package/usr/share/doc/libdat"
awk '$1 ~ /^[12b]/ { build[$4] = $7 } $1 == "link" { print $2, $3, build[$3] }' "$table" >"$work/library-links"
while read -r link file build; do
    if [ "$build" = always ] || [ $verbs = yes ]; then
        ok "$link is a link to $file" same_result "$(readlink "$work/package/usr/lib/$link")" "$file"
    else
        skip "$link is a link to $file" "no $file: see make"
    fi
done <"$work/library-links"
for pc in dat dat2; do
    ok "$pc.pc names no directory of this build" \
        names_no_directory "$work/package/usr/lib/pkgconfig/$pc.pc"
done
ok 'libraries and tools name no directory of this build' \
    names_no_directory "$work"/package/usr/lib/*.so.? "$work"/package/usr/bin/*
ok 'make uninstall' $make uninstall PREFIX=/usr DESTDIR="$work/package"
ok 'nothing is left' nothing_left "$work/package/usr"

# Checks that directories that existed before the installation stay, even if they are empty.
only_what_was_there()
{
    find "$work/kept" | sort >"$work/got"
    printf '%s\n' "$work/kept" "$work/kept/bin" | diff - "$work/got"
}
mkdir -p "$work/kept/bin"
ok 'make install-strip PREFIX=' $make install-strip PREFIX="$work/kept/new"
ok 'what it installs has no debugging symbols, and has its places for tracers' sh -c '
    ! readelf -SW "$0"/lib/*.so.[12] "$0"/bin/* | grep -F .debug_info && readelf -nW "$0/lib/libdaplshm.so.2" | grep -q stapsdt' \
    "$work/kept/new"
ok 'make install over it' $make install PREFIX="$work/kept/new"
ok 'make uninstall PREFIX=' $make uninstall PREFIX="$work/kept/new"
ok 'the folders that it made are gone, and no others' only_what_was_there

# into_sources TARGET: checks that the directory of the sources is refused as PREFIX, and keeps its headers.
into_sources()
{
    ! $make "$1" PREFIX="$root" >"$work/refused" 2>&1 && grep 'is the directory of the sources' "$work/refused" &&
        [ -f "$root/include/dat/dat.h" ] && [ ! -e "$root/share" ]
}
ok 'make install into the sources: refused' into_sources install
ok 'make uninstall from the sources: refused' into_sources uninstall

# ---- A prefix that is moved later ----

ok 'make install PREFIX=' $make install PREFIX="$work/first"
ok 'make install PREFIX= LIB=lib/multi' $make install PREFIX="$work/multi" LIB=lib/multi
# Use names without blanks, because a blank in LD_PRELOAD separates libraries.
mv "$work/first" "$work/moved" && mv "$work/multi" "$work/multi2"
tree=$work/moved
reads_installed()
{
    LD_LIBRARY_PATH=$tree/lib "$tree/bin/dat-info" --explain nothing >"$work/explained" 2>&1
    grep "see: $tree/share/doc/libdat/docs/troubleshooting.md#" "$work/explained"
}
ok 'dat-info --explain names the page that is installed with it' reads_installed

cat >"$work/open.c" <<'PROGRAM'
#include <stdio.h>
#ifdef SECOND
#include <dat2/udat.h>
#else
#include <dat/udat.h>
#endif

int main(int argc, char **argv)
{
    char shm[] = "shm", *name = argc > 1 ? argv[1] : shm;
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia;
    DAT_RETURN rc = dat_ia_open(name, 8, &evd, &ia);
    const char *major = "", *minor = "";

    if (rc == DAT_SUCCESS)
        rc = dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG);
    (void)dat_strerror(rc, &major, &minor);
    printf("%s %s\n", major, minor);
    return rc != DAT_SUCCESS;
}
PROGRAM

strict="-std=c99 -Wall -Wextra -Wpedantic -Werror"
ok 'a program compiles against the moved tree' \
    $cc $strict -I"$tree/include" -o "$work/open" "$work/open.c" -L"$tree/lib" -ldat
ok 'a program of uDAPL 2.0 compiles against it' \
    $cc $strict -DSECOND -I"$tree/include" -o "$work/open2" "$work/open.c" -L"$tree/lib" -ldat2

# A dat.conf of the host may lack shm.
for program in open open2; do
    if [ -e /etc/dat.conf ] || [ -e /etc/rdma/dat.conf ]; then
        skip "$program runs without configuration" 'this host has a dat.conf'
    else
        ok "$program runs without configuration" env LD_LIBRARY_PATH="$tree/lib" "$work/$program"
    fi
    ok "$program runs with the example configuration" env LD_LIBRARY_PATH="$tree/lib" \
        DAT_OVERRIDE="$tree/share/doc/libdat/dat.conf.example" "$work/$program"
done

# Entries with other libraries' names must find the provider, which reports that the device does not exist.
cat >"$work/others.conf" <<'LINES'
OpenIB-cma u1.2 nonthreadsafe default libdaplcma.so.1 dapl.1.2 "nowhere7 0" ""
OpenIB-nowhere7-1 u1.2 nonthreadsafe default libdaplscm.so.1 dapl.1.2 "nowhere7 1" ""
OpenIB-cma-bare u1.2 nonthreadsafe default libdaplcma.so dapl.1.2 "nowhere7 0" ""
ofa-v2-nowhere7 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "nowhere7 0" ""
ofa-v2-nowhere7-1 u2.0 nonthreadsafe default libdaploscm.so.2 dapl.2.0 "nowhere7 1" ""
ofa-v2-nowhere7-1u u2.0 nonthreadsafe default libdaploucm.so.2 dapl.2.0 "nowhere7 1" ""
ofa-v2-nowhere7-1m u2.0 nonthreadsafe default libdaplomcm.so.2 dapl.2.0 "nowhere7 1" ""
LINES
for name in OpenIB-cma OpenIB-nowhere7-1 OpenIB-cma-bare ofa-v2-nowhere7 ofa-v2-nowhere7-1 ofa-v2-nowhere7-1u \
    ofa-v2-nowhere7-1m; do
    case $name in
    OpenIB-*) program=open ;;
    *) program=open2 ;;
    esac
    if [ $verbs = yes ]; then
        env LD_LIBRARY_PATH="$tree/lib" DAT_OVERRIDE="$work/others.conf" DAT_DBG_TYPE=1 \
            "$work/$program" $name >"$work/opened" 2>&1
        ok "$name: the provider is loaded, and looks for the device" \
            grep -e "libdaplverbs\[.*searched for \"nowhere7\"" "$work/opened"
    else
        skip "$name: the provider is loaded" 'no libdaplverbs: see make'
    fi
done

if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH="$tree/lib/pkgconfig"
    export PKG_CONFIG_PATH
    flags=$(pkg-config --cflags --libs dat)
    ok 'pkg-config: the demo compiles against the moved tree' \
        eval "$cc $strict -o '$work/demo' '$tree'/share/doc/libdat/demo/*.c $flags"
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
    flags=$(pkg-config --cflags --libs dat2)
    ok 'pkg-config: a program of uDAPL 2.0 compiles against the moved tree' \
        eval "$cc $strict -DSECOND -o '$work/open2' '$work/open.c' $flags"
    ok 'pkg-config: the version' same_result "$(pkg-config --modversion dat)" "$version"
    PKG_CONFIG_PATH="$work/multi2/lib/multi/pkgconfig"
    flags=$(pkg-config --cflags --libs dat)
    ok 'pkg-config: a library directory below lib' \
        eval "$cc $strict -o '$work/multi' '$work/open.c' $flags"
else
    skip 'pkg-config: the version, another library directory' 'no pkg-config here'
    ok 'the demo compiles against the moved tree' \
        eval "$cc $strict -I'$tree/include' -o '$work/demo' '$tree'/share/doc/libdat/demo/*.c \
            -L'$tree/lib' -ldat"
fi
ok 'the demo runs from the moved tree' env LD_LIBRARY_PATH="$tree/lib" \
    DAT_OVERRIDE="$tree/share/doc/libdat/dat.conf.example" "$work/demo" shm

# ---- Programs that were linked with another libdat.so.1 ----

# A substitute without functionality: the same name, functions and version node.
sed 's/.*/int &(void); int &(void) { return -65536; }/' "$root/tests-c/abi/symbols.txt" >"$work/other.c"
echo 'DAT_1.2 { global: dat*; local: *; };' >"$work/other.map"
mkdir "$work/other"
ok 'another libdat.so.1 is there to be replaced' \
    $cc -shared -fPIC -Wl,-soname,libdat.so.1 -Wl,--version-script="$work/other.map" \
    -o "$work/other/libdat.so.1" "$work/other.c"
ln -s libdat.so.1 "$work/other/libdat.so"
ok 'a program is linked with it' \
    $cc $strict -I"$tree/include" -o "$work/linked" "$work/open.c" -L"$work/other" -ldat
DAT_OVERRIDE="$tree/share/doc/libdat/dat.conf.example"
LD_LIBRARY_PATH="$work/other"
export DAT_OVERRIDE LD_LIBRARY_PATH
ok 'with it the program fails' same_result "$("$work/linked")" ' '
ok 'LD_PRELOAD puts this libdat in front' \
    same_result "$(env LD_PRELOAD="$tree/lib/libdat.so.1" "$work/linked" 2>&1)" 'DAT_SUCCESS '
cp "$tree/lib/libdat.so.1" "$tree/lib/libdaplshm.so.1" "$work/other"
ok 'replaced in place' same_result "$("$work/linked" 2>&1)" 'DAT_SUCCESS '

echo "1..$number"
exit $failed
