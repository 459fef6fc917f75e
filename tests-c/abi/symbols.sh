#!/bin/sh
# symbols.sh - the symbols that the libraries export, their version, and the libraries they need.
#
# symbols.txt has the names that libdat.so.1 exports, sorted.
set -u
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd)
libdir=${DAT_TEST_LIBDIR:-}

if [ -z "$libdir" ]; then
    echo "1..0 # SKIP no libraries named in DAT_TEST_LIBDIR"
    exit 0
elif ! command -v readelf >/dev/null; then
    echo "1..0 # SKIP no readelf here"
    exit 0
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
number=0 failed=0

# equal NAME WANTED GOT: two files are the same, or their differences follow.
equal()
{
    number=$((number + 1))
    if diff "$2" "$3" >"$work/differences"; then
        echo "ok $number - $1"
    else
        failed=1
        echo "not ok $number - $1"
        sed -e 's/^</# missing:/' -e 's/^>/# too much:/' -e '/^#/!d' "$work/differences"
    fi
}

# exports LIBRARY: names that it defines for others, with the version after @ where it has one.
exports()
{
    readelf --dyn-syms --wide "$1" |
        awk '$5 != "LOCAL" && $7 != "UND" && $7 != "ABS" && $8 != "" && $1 ~ /^[0-9]+:$/ {
                 sub(/@@/, "@", $8); print $8 }' | sort
}

# dynamic LIBRARY TAG: what stands in brackets at that tag of the dynamic section.
dynamic()
{
    readelf --dynamic --wide "$1" | sed -n "s/.*($2).*\[\(.*\)\].*/\1/p" | sort
}

libdat=$libdir/libdat.so.1
if [ -e "$libdat" ]; then
    sed 's/$/@DAT_1.2/' "$here/symbols.txt" >"$work/wanted"
    exports "$libdat" >"$work/got"
    equal "libdat.so.1: exports its functions as DAT_1.2, and nothing else" \
        "$work/wanted" "$work/got"

    echo libdat.so.1 >"$work/wanted"
    dynamic "$libdat" SONAME >"$work/got"
    equal "libdat.so.1: its name" "$work/wanted" "$work/got"

    # The loader is a part of libc.
    : >"$work/wanted"
    dynamic "$libdat" NEEDED | grep -v -e '^libc\.so\.' -e '^libgcc_s\.so\.' -e '^ld-linux' \
        >"$work/got"
    equal "libdat.so.1: needs libc and libgcc_s alone" "$work/wanted" "$work/got"
else
    number=$((number + 1)) failed=1
    echo "not ok $number - libdat.so.1: is in $libdir"
fi

for name in libdaplshm.so.1 libdaplverbs.so.1; do
    if ! [ -e "$libdir/$name" ]; then
        number=$((number + 1))
        echo "ok $number - $name # SKIP not built"
        continue
    fi
    printf '%s\n' dat_provider_fini dat_provider_init >"$work/wanted"
    exports "$libdir/$name" | sed 's/@.*//' >"$work/got"
    equal "$name: exports what the registry calls, and nothing else" "$work/wanted" "$work/got"

    : >"$work/wanted"
    dynamic "$libdir/$name" NEEDED | grep '^libdat' >"$work/got"
    equal "$name: does not need libdat" "$work/wanted" "$work/got"

    readelf --dyn-syms --wide "$libdir/$name" |
        awk '$7 == "UND" && $8 ~ /^dats?_/ { sub(/@.*/, "", $8); print $8 }' |
        grep -v -e '^dat_registry_add_provider$' -e '^dat_registry_remove_provider$' >"$work/got"
    equal "$name: calls nothing of libdat but the registration" "$work/wanted" "$work/got"
done

echo "1..$number"
exit $failed
