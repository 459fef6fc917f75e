#!/bin/sh
# symbols.sh - the symbols that the libraries export, with their versions, and the libraries that they need.
#
# symbols.txt lists the exports of libdat.so.1; symbols20.txt and symbols20_full.txt those of libdat2.so.2, with the
# versions DAT_2.0 and DAT_2.0_FULL. All lists are sorted.
set -u
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd)
libdir=${DAT_TEST_LIBDIR:-}
api=${DAT_TEST_API:-1.2}
table=$here/../../packaging/libraries.txt
name=$(awk -v api="$api" '$1 == api && $5 == "libdat" { print $4 }' "$table")

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

# equal NAME WANTED GOT: checks that two files are equal. Otherwise prints the differences.
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

# exports LIBRARY: prints the exported names, as NAME or NAME@VERSION.
exports()
{
    readelf --dyn-syms --wide "$1" |
        awk '$5 != "LOCAL" && $7 != "UND" && $7 != "ABS" && $8 != "" && $1 ~ /^[0-9]+:$/ {
                 sub(/@@/, "@", $8); print $8 }' | sort
}

# dynamic LIBRARY TAG: prints the values of a tag of the dynamic section.
dynamic()
{
    readelf --dynamic --wide "$1" | sed -n "s/.*($2).*\[\(.*\)\].*/\1/p" | sort
}

# wanted_symbols: prints the symbols that libdat must export, with their versions.
wanted_symbols()
{
    case $api in
    1.2) sed 's/$/@DAT_1.2/' "$here/symbols.txt" ;;
    *)
        sed 's/$/@DAT_2.0/' "$here/symbols20.txt"
        sed 's/$/@DAT_2.0_FULL/' "$here/symbols20_full.txt"
        ;;
    esac | sort
}

libdat=$libdir/$name
if [ -e "$libdat" ]; then
    wanted_symbols >"$work/wanted"
    exports "$libdat" >"$work/got"
    equal "$name: exports its functions in their versions, and nothing else" \
        "$work/wanted" "$work/got"

    echo "$name" >"$work/wanted"
    dynamic "$libdat" SONAME >"$work/got"
    equal "$name: its name" "$work/wanted" "$work/got"

    # The loader is a part of libc. On older systems libpthread and libdl are, too.
    : >"$work/wanted"
    dynamic "$libdat" NEEDED | grep -v -e '^libc\.so\.' -e '^libgcc_s\.so\.' -e '^ld-linux' \
        -e '^libpthread\.so\.' -e '^libdl\.so\.' >"$work/got"
    equal "$name: needs libc and libgcc_s alone" "$work/wanted" "$work/got"
else
    number=$((number + 1)) failed=1
    echo "not ok $number - $name: is in $libdir"
fi

for provider in $(awk '$1 == "both" { print $4 }' "$table"); do
    if ! [ -e "$libdir/$provider" ]; then
        number=$((number + 1))
        echo "ok $number - $provider # SKIP not built"
        continue
    fi
    printf '%s\n' dapl_extensions dat_provider_fini dat_provider_init >"$work/wanted"
    exports "$libdir/$provider" | sed 's/@.*//' >"$work/got"
    equal "$provider: exports what the registries call, and nothing else" "$work/wanted" "$work/got"

    echo "$provider" >"$work/wanted"
    dynamic "$libdir/$provider" SONAME >"$work/got"
    equal "$provider: its name" "$work/wanted" "$work/got"

    : >"$work/wanted"
    dynamic "$libdir/$provider" NEEDED | grep '^libdat' >"$work/got"
    equal "$provider: does not need libdat" "$work/wanted" "$work/got"

    readelf --dyn-syms --wide "$libdir/$provider" |
        awk '$7 == "UND" && $8 ~ /^dats?_/ { sub(/@.*/, "", $8); print $8 }' |
        grep -v -e '^dat_registry_add_provider$' -e '^dat_registry_remove_provider$' >"$work/got"
    equal "$provider: calls nothing of libdat but the registration" "$work/wanted" "$work/got"
done

echo "1..$number"
exit $failed
