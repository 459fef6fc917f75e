#!/bin/sh
# check_headers.sh - checks the headers against an external description of the binary interface, with its checker.
# If the description is missing, layout.c still tests the essential part.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$root/../shared/abi
case ${DAT_TEST_API:-1.2} in
1.2) facts=udat-1.2-ofed ;;
2.0) facts=udat-2.0 ;;
esac

if ! [ -f "$folder/check_headers.py" ]; then
    echo "1..0 # SKIP no description of the interface beside the project"
    exit 0
elif ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP no python3 here"
    exit 0
fi

words=$(mktemp) || exit 1
trap 'rm -f "$words"' EXIT
number=0 failed=0
for compiler in gcc clang; do
    number=$((number + 1))
    if ! command -v $compiler >/dev/null; then
        echo "ok $number - all facts: $compiler # SKIP no $compiler here"
    elif python3 "$folder/check_headers.py" --abi "$folder/$facts.json" --tags \
        --include "$root/include" --cc $compiler >"$words" 2>&1; then
        echo "ok $number - all facts: $compiler: $(tail -n 1 "$words")"
    else
        failed=1
        echo "not ok $number - all facts: $compiler: $(tail -n 1 "$words")"
        grep -v '^SKIP' "$words" | sed 's/^/# /'
    fi
done
echo "1..$number"
exit $failed
