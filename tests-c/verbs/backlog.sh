#!/bin/sh
# backlog.sh ADAPTER - runs the tests of SRQs as if the device could not resize one
#
# With DAT_VERBS_SRQ_BACKLOG=1 the provider stores receives for which the device has no room, and posts them later.
# Programs must not notice.
set -u

ia=${1:-verbs-v0}
build=$(dirname "${DAT_TEST_LIBDIR:?}")
case $ia in verbs-*) ;; *) echo "1..0 # SKIP $ia is not an adapter of this provider"; exit 0 ;; esac

made=0 failed=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for program in srq/resize srq/watermark srq/books srq/order srq/post_recv srq/set_lw srq/query srq/endpoint \
    verbs/starving; do
    made=$((made + 1))
    name="$program with a backlog"
    if [ ! -x "$build/$program" ]; then
        echo "ok $made - $name # SKIP $build/$program is not built"
        continue
    fi
    DAT_VERBS_SRQ_BACKLOG=1 "$build/$program" "$ia" >"$out" 2>&1
    status=$?
    # A program that exits early prints no plan.
    if [ $status = 0 ] && grep -q '^1\.\.' "$out" && ! grep -q '^not ok' "$out"; then
        echo "ok $made - $name: $(grep -c '^ok' "$out") checks"
    else
        failed=$((failed + 1))
        echo "not ok $made - $name: status $status"
        grep -A3 -e '^not ok' -e '^Bail' "$out" | sed 's/^/#   /'
    fi
done
echo "1..$made"
[ $failed = 0 ]
