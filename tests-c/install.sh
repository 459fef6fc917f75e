#!/bin/sh
# install.sh - builds, installs into its own directories and uses the installed files. Prints TAP.
#
# CARGO_TARGET_DIR names the build directory, CC the compiler; VERBS is as for make.
set -u
LC_ALL=C
export LC_ALL
unset DAT_OVERRIDE DAT_DBG_TYPE DAPL_DBG_TYPE RUST_LOG LD_LIBRARY_PATH LD_PRELOAD

root=$(cd "$(dirname "$0")/.." && pwd)
cc=${CC:-cc}
make="${MAKE:-make} --no-print-directory -C $root"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
# Whether make builds the provider verbs.
verbs=no
[ "${VERBS:-auto}" = 0 ] || [ -n "$("$root/src/verbs/needs.sh")" ] || verbs=yes
number=0 failed=0

# ok NAME COMMAND...: the output of the command is shown if it fails.
ok()
{
    name=$1
    shift
    number=$((number + 1))
    if "$@" >"$work/output" 2>&1; then
        echo "ok $number - $name"
    else
        failed=1
        echo "not ok $number - $name"
        sed 's/^/# /' "$work/output"
    fi
}

skip()
{
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

# The files that must be below PREFIX, by what is in the source tree.
expected()
{
    (
        cd "$root" || exit
        echo lib/libdat.so.1
        echo lib/libdat.so
        echo lib/libdaplshm.so.1
        if [ $verbs = yes ]; then
            printf 'lib/%s.so.1\n' libdaplverbs libdaplcma libdaplscm
        fi
        echo lib/pkgconfig/dat.pc
        ls include/dat/*.h
        for page in docs/man/*.[357]; do
            echo "share/man/man${page##*.}/${page##*/}"
        done
        for file in README.md CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE dat.conf.example; do
            echo "share/doc/libdat/$file"
        done
        for file in tests-c/demo/*.[ch]; do
            echo "share/doc/libdat/demo/${file##*/}"
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
    # lib, include and share may have been there before; directories of libdat alone must go.
    ! [ -e "$1/include/dat" ] && ! [ -e "$1/share/doc/libdat" ]
}

names_no_directory()
{
    ! grep -e "$work" -e "$root" "$1"
}

same_result()
{
    [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }
}

# ---- As a package is made ----

ok 'make' $make all
# Whoever installs, root perhaps, may have no cargo.
ok 'make install DESTDIR= PREFIX=/usr, without cargo' \
    $make install PREFIX=/usr DESTDIR="$work/package" CARGO="$work/no-cargo"
ok 'everything is there, and nothing else' same_tree "$work/package/usr"
ok 'libdat.so is a link to libdat.so.1' \
    same_result "$(readlink "$work/package/usr/lib/libdat.so")" libdat.so.1
if [ $verbs = yes ]; then
    for alias in libdaplcma libdaplscm; do
        ok "$alias.so.1 is a link to libdaplverbs.so.1" \
            same_result "$(readlink "$work/package/usr/lib/$alias.so.1")" libdaplverbs.so.1
    done
else
    skip 'libdaplcma.so.1 and libdaplscm.so.1 are links' 'no libdaplverbs: see make'
fi
ok 'dat.pc names no directory of this build' \
    names_no_directory "$work/package/usr/lib/pkgconfig/dat.pc"
ok 'make uninstall' $make uninstall PREFIX=/usr DESTDIR="$work/package"
ok 'nothing is left' nothing_left "$work/package/usr"

# ---- To a prefix, and then elsewhere ----

ok 'make install PREFIX=' $make install PREFIX="$work/first"
ok 'make install PREFIX= LIB=lib/multi' $make install PREFIX="$work/multi" LIB=lib/multi
# A blank in LD_PRELOAD separates libraries, so there is none in this name.
mv "$work/first" "$work/moved" && mv "$work/multi" "$work/multi2"
tree=$work/moved

cat >"$work/open.c" <<'PROGRAM'
#include <stdio.h>
#include <dat/udat.h>

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

# The host may have a configuration of its own, in which there is no shm.
if [ -e /etc/dat.conf ] || [ -e /etc/rdma/dat.conf ]; then
    skip 'it runs without configuration' 'this host has a dat.conf'
else
    ok 'it runs without configuration' env LD_LIBRARY_PATH="$tree/lib" "$work/open"
fi
ok 'it runs with the example configuration' env LD_LIBRARY_PATH="$tree/lib" \
    DAT_OVERRIDE="$tree/share/doc/libdat/dat.conf.example" "$work/open"

# The lines that OFED brought find the provider by its old names. There is no such device, and the
# provider says so itself.
cat >"$work/ofed.conf" <<'LINES'
OpenIB-cma u1.2 nonthreadsafe default libdaplcma.so.1 dapl.1.2 "nowhere7 0" ""
OpenIB-nowhere7-1 u1.2 nonthreadsafe default libdaplscm.so.1 dapl.1.2 "nowhere7 1" ""
LINES
for name in OpenIB-cma OpenIB-nowhere7-1; do
    if [ $verbs = yes ]; then
        env LD_LIBRARY_PATH="$tree/lib" DAT_OVERRIDE="$work/ofed.conf" DAT_DBG_TYPE=1 \
            "$work/open" $name >"$work/opened" 2>&1
        ok "$name: the provider is loaded, and looks for the device" \
            grep -e "libdaplverbs: .*looked for \"nowhere7\"" "$work/opened"
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

# One that can do nothing stands for it: the same name, functions and version node.
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
