#!/bin/sh
# pages.sh - pages.c uses every identifier of the manual pages of the specification.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
pages=$root/../shared/spec/seeds
# Words of the text with an underscore that are no names of the interface: names of arguments that the synopses do not
# have, a word that a hyphen splits, names that stick to the word before or after, a path.
words='low_water recv_evd recv_evds srq_attributes Functiodat_srq_set_lw Videosdat_srq_set_lw srq_max_recv_dtoThe titanic_51'

if ! [ -d "$pages" ]; then
    echo "1..0 # SKIP the manual pages of the specification are not available"
    exit 0
fi

number=0 failed=0
names=$(cat "$pages"/* | grep -oE '[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)+' | sort -u)
for name in $names; do
    case " $words " in *" $name "*) continue ;; esac
    number=$((number + 1))
    if grep -qw "$name" "$root/tests-c/abi/pages.c"; then
        echo "ok $number - $name"
    else
        failed=1
        echo "not ok $number - $name: pages.c does not use it"
    fi
done
[ $number -gt 0 ] || failed=1
echo "1..$number"
exit $failed
