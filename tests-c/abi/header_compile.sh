#!/bin/sh
# header_compile.sh - each header compiles alone without warnings, in each language standard. The compilers are in
# $DAT_TEST_CC, by default gcc and clang.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 1
case ${DAT_TEST_API:-1.2} in
1.2) folder=dat ;;
2.0) folder=dat2 ;;
esac
trap 'rm -rf "$work"' EXIT

number=0 failed=0

# passed NAME, failed NAME (the compiler's output is in $work/words), skipped NAME REASON
passed() { number=$((number + 1)); echo "ok $number - $1"; }
failed() { number=$((number + 1)); failed=1; echo "not ok $number - $1"; sed 's/^/# /' "$work/words"; }
skipped() { number=$((number + 1)); echo "ok $number - $1 # SKIP $2"; }

# compile COMPILER STANDARD FILE: compiles a file of C or C++, with the compiler's output in $work/words.
compile()
{
    case $2 in
    *++*) language=c++ ;;
    *) language=c ;;
    esac
    "$1" -x $language -std="$2" -Wall -Wextra -pedantic -Werror -I"$root/include" \
        -fsyntax-only "$3" >"$work/words" 2>&1
}

echo "int nothing;" >"$work/nothing.c"
for compiler in ${DAT_TEST_CC:-gcc clang}; do
    for standard in c99 gnu99 c11 gnu11 c++17 gnu++17; do
        if ! command -v $compiler >/dev/null; then
            skipped "all headers: $compiler -std=$standard" "no $compiler here"
            continue
        elif ! compile $compiler $standard "$work/nothing.c"; then
            skipped "all headers: $compiler -std=$standard" "$compiler here does not compile it"
            continue
        fi
        for header in "$root/include/$folder"/*.h; do
            name=$folder/${header##*/}
            echo "#include <$name>" >"$work/alone.c"
            if compile $compiler $standard "$work/alone.c"; then
                passed "$name: alone: $compiler -std=$standard"
            else
                failed "$name: alone: $compiler -std=$standard"
            fi
        done
    done
done

# Old programs use C90 with extensions of the compiler.
for header in "$root/include/$folder"/*.h; do
    echo "#include <$folder/${header##*/}>"
done >"$work/all.c"
if compile gcc gnu11 "$work/nothing.c"; then
    if gcc -std=gnu89 -Wall -Wextra -Werror -I"$root/include" -fsyntax-only "$work/all.c" \
        >"$work/words" 2>&1; then
        passed "all headers: together: gcc -std=gnu89"
    else
        failed "all headers: together: gcc -std=gnu89"
    fi
else
    skipped "all headers: together: gcc -std=gnu89" "no gcc here"
fi

# A program can define DAT_THREADSAFE before it includes a header.
cat >"$work/threadsafe.c" <<END
#define DAT_THREADSAFE DAT_TRUE
#include <$folder/udat.h>
char is_true[DAT_THREADSAFE == DAT_TRUE ? 1 : -1];
END
if compile "${CC:-cc}" c99 "$work/threadsafe.c"; then
    passed "DAT_THREADSAFE: defined before: kept"
else
    failed "DAT_THREADSAFE: defined before: kept"
fi

echo "1..$number"
exit $failed
