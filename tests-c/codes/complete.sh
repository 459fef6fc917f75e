#!/bin/sh
# complete.sh - a subtest provokes each documented return code of each call.
#
# The codes of a call are in RETURN VALUES of its manual page and, in uDAPL 2.0, also in the section UDAPL 2.0. A tag has
# the form `.BR TYPE " / " SUBTYPE`. Codes that "only other providers return" do not count.
#
# A passed subtest "call: condition: TYPE" or "scene: call: condition: TYPE" counts for the first call in its name;
# dat_ia_open counts as dat_ia_openv. unprovoked.txt lists the codes that no subtest can provoke, with the reasons.
# unprovoked12.txt and unprovoked20.txt list further codes of one version.
#
# The script reads the results of the whole suite on the adapter shm, so it must run last.
set -u
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd)
results=${DAT_TEST_RESULTS:-}
case ${DAT_TEST_API:-1.2} in
1.2) later=0 lists=symbols.txt unprovoked="$here/unprovoked.txt $here/unprovoked12.txt" ;;
2.0) later=1 lists='symbols20.txt symbols20_full.txt' unprovoked="$here/unprovoked.txt $here/unprovoked20.txt" ;;
esac

if [ "${1:-}" != shm ]; then
    echo "1..0 # SKIP the codes are those that the adapter shm gives"
    exit 0
elif [ -z "$results" ] || [ "${DAT_TEST_PATTERN:-}" != . ]; then
    echo "1..0 # SKIP only a part of the suite ran"
    exit 0
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$here/../common/tap.sh"

# The calls and types that subtests provoked. Under valgrind, skipped subtests count, since some are too slow.
skipped='# SKIP'
[ "${DAT_TEST_VALGRIND:-0}" = 0 ] || skipped='# SKIP not implemented'
sed -n 's/^ok [0-9]* - //p' "$results"/*.tap | grep -v "$skipped" | sed 's/ # SKIP.*//' |
    sed -n 's/^\(.*\): \(DAT_[A-Z_]*\)$/\2 \1/p' |
    awk '{ for (i = 2; i <= NF; i++)
               if (match($i, /^dats?_[a-z_]+/)) {
                   call = substr($i, RSTART, RLENGTH)
                   print (call == "dat_ia_open" ? "dat_ia_openv" : call), $1
                   next
               } }' | sort -u >"$work/provoked"

# The calls and types that the pages promise.
for list in $lists; do
    sed "s|.*|$here/../../docs/man/&.3|" "$here/../abi/$list"
done | xargs awk -v later="$later" '
    function entry() {
        if (type != "" && text !~ /Only other providers return this code/)
            print call, type
        type = text = ""
    }
    FNR == 1 { entry(); promised = tag = 0; call = FILENAME; gsub(/.*\/|\.3$/, "", call) }
    /^\.SH / { entry(); tag = 0; promised = $0 == ".SH RETURN VALUES" || (later && $0 == ".SH UDAPL 2.0") }
    /^\.(SH|PP)/ { entry(); tag = 0; next }
    # The entries of both tags of .TQ would need the same text.
    /^\.TQ/ && promised { print call ": .TQ" >bad }
    /^\.T[PQ]/ { entry(); tag = 1; next }
    promised && tag {
        tag = 0
        if ($1 == ".BR" && $2 ~ /^DAT_/)
            type = $2
        else if (/DAT_/ && $0 != ".B DAT_SUCCESS")
            print call ": " $0 >bad
        next
    }
    { text = text " " $0 }
    END { entry() }' bad="$work/bad" | sort -u >"$work/codes"
grep -q '^dat_ia_openv DAT_INVALID_HANDLE$' "$work/codes" || echo "RETURN VALUES of the pages has no codes" >>"$work/bad"
none "the pages contain return codes, in tags of the right form" "$work/bad"

# shellcheck disable=SC2086 # the names of files
sed -n 's/^\(dat[a-z_]* DAT_[A-Z_]*\)  *[^ ].*/\1/p' $unprovoked | sort >"$work/unprovoked"

comm -23 "$work/codes" "$work/provoked" | comm -23 - "$work/unprovoked" >"$work/missing"
none "every code of every call was provoked ($(wc -l <"$work/codes"))" "$work/missing"

# A page could omit a code together with the demand for its test.
awk 'NR == FNR { calls[$1]; types[$2]; next } $1 in calls && $2 in types' "$work/codes" "$work/provoked" |
    grep -v -e ' DAT_SUCCESS$' -e ' DAT_NOT_IMPLEMENTED$' -e ' DAT_INTERNAL_ERROR$' | comm -13 "$work/codes" - >"$work/omitted"
none "no test provoked a code that the page of its call omits" "$work/omitted"

comm -12 "$work/provoked" "$work/unprovoked" >"$work/possible"
none "no code that cannot be provoked was" "$work/possible"

comm -13 "$work/codes" "$work/unprovoked" >"$work/unknown"
none "each code that cannot be provoked is one of a call" "$work/unknown"

echo "1..$number"
exit $failed
