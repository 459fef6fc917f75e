#!/bin/sh
# interop.sh ADAPTER - tests connections with another implementation of uDAPL. $DAT_TEST_API is the version of our library.
#
# $DAT_TEST_DAPL2 contains Debian's unpacked packages libdapl2 and libdapl-dev: uDAPL 2.0 with a provider over rdma_cm. They
# are not installed, because they would add /etc/dat.conf.
set -u

ia=${1:-verbs-v0}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
other=${DAT_TEST_DAPL2:-}
lib=${DAT_TEST_LIBDIR:-$root/target/release}

skip_all() { echo "1..0 # SKIP $*"; exit 0; }
[ -n "$other" ] || skip_all "DAT_TEST_DAPL2 names no unpacked libdapl2 and libdapl-dev"
[ -e "$other/usr/include/dat2/udat.h" ] || skip_all "there is no usr/include/dat2 in $other"
otherlib=$(dirname "$(find "$other/usr/lib" -name libdaplofa.so.2 | head -n 1)")
[ -e "$otherlib/libdat2.so.2" ] || skip_all "there is no libdaplofa.so.2 in $other"
command -v "${CC:-cc}" >/dev/null || skip_all "no C compiler"
case $ia in verbs-*) netdev=${ia#verbs-} ;; *) skip_all "$ia is not an adapter of this provider" ;; esac

dir=$(mktemp -d)
served=
trap 'rm -rf "$dir"' EXIT
build="${CC:-cc} -std=c99 -Wall -Wextra -Werror"
api=${DAT_TEST_API:-1.2}
case $api in 2.0) kind=-DOTHER link=-ldat2 ;; *) kind='' link=-ldat ;; esac
# shellcheck disable=SC2086 # nothing, or one word
if ! { $build $kind -o "$dir/ours" "$here/interop.c" -isystem "$root/include" -L"$lib" $link &&
    $build -DOTHER -isystem "$other/usr/include" -o "$dir/theirs" "$here/interop.c" \
        -L"$otherlib" -ldat2; } >"$dir/build" 2>&1; then
    sed 's/^/# /' "$dir/build"
    echo "Bail out! the programs cannot be built"
    exit 1
fi
echo "other-v0 u2.0 nonthreadsafe default $otherlib/libdaplofa.so.2 dapl.2.0 \"$netdev 0\" \"\"" >"$dir/dat.conf"

# seconds N: prints a scaled timeout.
seconds() { awk "BEGIN { print int($1 * ${DAT_TEST_SCALE:-1}) }"; }
# end ours|theirs ROLE ...: runs one end of a connection.
end()
{
    which=$1 does=$2
    shift 2
    if [ "$which" = ours ]; then
        LD_LIBRARY_PATH=$lib timeout "$(seconds 60)" "$dir/ours" "$does" "$ia" "$@"
    else
        LD_LIBRARY_PATH=$otherlib DAT_OVERRIDE=$dir/dat.conf \
            timeout "$(seconds 60)" "$dir/theirs" "$does" other-v0 "$@"
    fi
}

made=0 failed=0
result()
{
    made=$((made + 1))
    if [ "$1" = 0 ]; then
        echo "ok $made - $2"
    else
        failed=$((failed + 1))
        echo "not ok $made - $2"
    fi
}

address=$(end ours address) || { echo "# $address"; echo "Bail out! $ia has no address"; exit 1; }

# is_iwarp: returns whether the adapter is soft-iWARP.
is_iwarp() { rdma link 2>/dev/null | grep -q "siw.* netdev $netdev"; }

# missed_end: returns whether only the other implementation failed, because it did not report the end of a connection after
# an error of its QP, which happens over soft-iWARP.
missed_end()
{
    is_iwarp && [ "$serve" = 0 ] && [ $caller = theirs ] && grep -q 'async_event QP' "$dir/call" &&
        grep -q 'the end: DAT_TIMEOUT_EXPIRED' "$dir/call"
}

# play SERVER CALLER QUALIFIER BYTES WHAT NAME: runs both ends of a connection, and prints the result as subtest NAME.
play()
{
    once "$@"
    if [ "$call" != 0 ] && missed_end; then
        sed 's/^/#   repeated after: /' "$dir/call"
        once "$@"
    fi
    [ "$call" = 0 ] && [ "$serve" = 0 ]
    result $? "$6"
    cat "$dir/serve" "$dir/call" | sed -e '/^ready/d' -e 's/^/#   /'
}

# once SERVER CALLER QUALIFIER BYTES WHAT: runs both ends, and sets their codes $serve and $call.
once()
{
    end "$1" serve "$3" "$4" "$5" >"$dir/serve" 2>&1 &
    served=$!
    limit=$(seconds 200)
    while [ "$limit" -gt 0 ] && ! grep -q '^ready' "$dir/serve" && kill -0 "$served" 2>/dev/null; do
        sleep 0.1
        limit=$((limit - 1))
    done
    end "$2" call "$3" "$4" "$5" "$address" >"$dir/call" 2>&1
    call=$?
    wait "$served"
    serve=$?
}

# rejected QUALIFIER BYTES WHAT NAME: one rejection. Soft-iWARP reports it as ECONNRESET.
rejected()
{
    if [ $caller = theirs ] && is_iwarp; then
        made=$((made + 1))
        echo "ok $made - $4 # SKIP the C library takes a rejection over soft-iWARP for the lack of a service point"
    else
        play "$server" "$caller" "$@"
    fi
}

# The other programs use qualifiers from 20000.
qual=$((10000 + $$ % 9000))
for caller in ours theirs; do
    [ $caller = ours ] && { server=theirs; ways="we call uDAPL 2.0"; } ||
        { server=ours; ways="uDAPL 2.0 calls us"; }
    rejected $qual 24 reject "$ways: rejected"
    # Rejections of uDAPL 1.2 have no private data.
    [ $server$api = ours1.2 ] || rejected $((qual + 1)) 48 reject-data "$ways: rejected with private data"
    play $server $caller $((qual + 2)) 24 server "$ways: private data; the server ends it"
    if [ "$api" = 1.2 ]; then
        # Independent of the version of our library.
        play $server $caller $((qual + 3)) 0 caller "$ways: messages, RDMA; the caller ends it"
        play $server $caller $((qual + 4)) 48 caller "$ways: longest private data of the other"
        play $server $caller $((qual + 70000)) 24 caller "$ways: a qualifier above 65535"
    fi
    qual=$((qual + 10))
done
echo "1..$made"
[ "$failed" = 0 ]
