#!/bin/sh
# functions.sh - the state of each function, for the README.
#
#   functions.sh           writes the table into README.md
#   functions.sh --check   writes nothing; exit status 1 if the table is not up to date
#
# The functions are those that libdat.so.1 exports (abi/symbols.txt). What a provider does comes
# from the provider table (src/provider12/src/table.rs): its slots, and the list UNIMPLEMENTED of
# those that answer DAT_NOT_IMPLEMENTED.
set -u
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
readme=$root/README.md
table=$root/src/provider12/src/table.rs
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# dat_xxx of every slot that is filled, and of every name in UNIMPLEMENTED.
sed -n 's/^ *\([a-z_]*\)_func: Some(.*/dat_\1/p' "$table" | sort >"$work/slots"
tr '\n' ' ' <"$table" | sed -n 's/.*UNIMPLEMENTED: &\[&str\] = &\[\([^]]*\)\].*/\1/p' |
    tr ',' '\n' | sed -n 's/.*"\([a-z_]*\)".*/\1/p' | sort >"$work/missing"
[ -s "$work/slots" ] || { echo "functions.sh: no slots found in $table" >&2; exit 2; }

# state FUNCTION: what to say about it
state()
{
    slot=$1
    [ "$1" = dat_ia_openv ] && slot=dat_ia_open
    if grep -qx -e "$1" -e "${1#dat_}" "$work/missing"; then
        echo '`DAT_NOT_IMPLEMENTED`'
    elif grep -qx "$slot" "$work/slots"; then
        echo implemented
    elif grep -rqE "extern \"C(-unwind)?\" fn $1\b|symver!\($1\)" "$root/src/libdat/src"; then
        echo 'implemented, in libdat itself'
    else
        echo '`DAT_NOT_IMPLEMENTED`'
    fi
}

while read -r function; do
    echo "$function $(state "$function")"
done <"$here/abi/symbols.txt" >"$work/states"

{
    echo '<!-- BEGIN functions -->'
    echo '<!-- Written by `make readme` from the provider table. -->'
    echo
    echo '| object | functions | state |'
    echo '|---|---|---|'
    while read -r prefix object; do
        sed -n "s/^\\($prefix[a-z_]*\\) \\(.*\\)/\\1 \\2/p" "$work/states" |
            awk -v object="$object" '
                { name = $1; $1 = ""; sub(/^ /, "")
                  if (!($0 in names)) order[++n] = $0
                  names[$0] = names[$0] (names[$0] == "" ? "" : ", ") "`" name "`" }
                END { for (i = 1; i <= n; i++)
                          print "| " object " | " names[order[i]] " | " order[i] " |" }'
    done <<'OBJECTS'
dat_ia_ interface adapter
dat_pz_ protection zone
dat_lmr_ local memory region
dat_rmr_ remote memory region
dat_evd_ event dispatcher
dat_cno_ notification object
dat_ep_ endpoint
dat_srq_ shared receive queue
dat_psp_ public service point
dat_rsp_ reserved service point
dat_cr_ connection request
dat_[gs]et_ any handle
dats_ any handle
dat_registry_ registry
dat_strerror return codes
OBJECTS
    echo
    echo "Of $(wc -l <"$work/states") functions $(grep -c '`' "$work/states") answer" \
        '`DAT_NOT_IMPLEMENTED`.'
    echo '<!-- END functions -->'
} >"$work/block"

listed=$(grep -o '`dats\{0,1\}_[a-z_]*`' "$work/block" | sort | uniq | wc -l)
exported=$(sort -u "$here/abi/symbols.txt" | wc -l)
if [ "$listed" -ne "$exported" ]; then
    echo "functions.sh: $listed functions in the table, $exported exported" >&2
    exit 2
fi

awk -v block="$work/block" '
    /^<!-- BEGIN functions -->$/ { while ((getline line <block) > 0) print line; inside = 1 }
    !inside { print }
    /^<!-- END functions -->$/ { inside = 0; found = 1 }
    END { exit !found }' "$readme" >"$work/readme" || {
    echo "functions.sh: README.md has no lines BEGIN functions and END functions" >&2
    exit 2
}

if cmp -s "$work/readme" "$readme"; then
    exit 0
elif [ "${1:-}" = --check ]; then
    diff "$readme" "$work/readme"
    echo "README.md: the table of functions is out of date; run make readme" >&2
    exit 1
fi
cat "$work/readme" >"$readme"
