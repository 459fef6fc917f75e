#!/bin/sh
# sanitize.sh - runs Rust tests under AddressSanitizer, ThreadSanitizer and miri. Prints TAP.
#
#   sanitize.sh            runs all tools
#   sanitize.sh TOOL...    runs these: asan, tsan, miri
#
# The tools need a nightly toolchain (NIGHTLY=nightly), tsan also its rust-src, and miri its component. Missing tools
# are skipped. README.md lists what they do not test.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
cd "$root" || exit 2
: "${NIGHTLY:=nightly}" "${CARGO_TARGET_DIR:=$root/target}"
host=$(rustc -vV | sed -n 's/^host: //p')
out=$CARGO_TARGET_DIR/sanitize
mkdir -p "$out" || exit 2
tools=${*:-asan tsan miri}
number=0 status=0

# result NAME STATUS: prints a line of TAP.
result()
{
    number=$((number + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        status=1
    fi
}

skip()
{
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

# lacking TOOL: prints the reason if the tool is unavailable.
lacking()
{
    rustc "+$NIGHTLY" --version >/dev/null 2>&1 || { echo "no toolchain $NIGHTLY"; return; }
    case $1 in
    tsan)
        [ -e "$(rustc "+$NIGHTLY" --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ] ||
            echo "no rust-src of $NIGHTLY" ;;
    miri) cargo "+$NIGHTLY" miri --version >/dev/null 2>&1 || echo "no miri of $NIGHTLY" ;;
    esac
}

# A debug build is sufficient to find memory errors.
asan()
{
    RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 CARGO_TARGET_DIR=$out/asan \
        cargo "+$NIGHTLY" test --locked --target "$host" "$@"
}

# ThreadSanitizer ignores fences, so a reported race may be a false positive.
tsan()
{
    RUSTFLAGS=-Zsanitizer=thread CARGO_TARGET_DIR=$out/tsan \
        cargo "+$NIGHTLY" test --locked -Zbuild-std --target "$host" "$@"
}

# Leaks are ignored, because the memory of handles is never freed.
miri()
{
    MIRIFLAGS='-Zmiri-disable-isolation -Zmiri-permissive-provenance -Zmiri-ignore-leaks' CARGO_TARGET_DIR=$out/miri \
        cargo "+$NIGHTLY" miri test --locked "$@"
}

# try TOOL ARGUMENTS...: runs a tool, and prints the result.
try()
{
    "$@" >"$out/log" 2>&1
    code=$?
    [ $code -eq 0 ] || cat "$out/log"
    result "$*" $code
}

for tool in $tools; do
    why=$(lacking "$tool")
    if [ -n "$why" ]; then
        skip "$tool" "$why"
        continue
    fi
    case $tool in
    asan)
        try asan -p host -p dat-registry -p dat-core
        try asan -p dat-software -p dat-shm --lib
        try asan -p dat-shm --tests
        try asan -p dat-provider --tests ;;
    tsan)
        try tsan -p dat-core --lib
        try tsan -p dat-core --tests
        # The skipped test polls memory by plain loads, as programs do, which is a race by definition.
        try tsan -p dat-software -p dat-shm --lib -- --skip a_poller_of_the_tail_sees_all_before_it ;;
    miri)
        # Tests that need only memory and threads.
        try miri -p dat-core --lib -- arena recv_queue evd::queue lmr_table ep_state users
        try miri -p dat-registry --lib -- conf::lexer select ;;
    *) echo "sanitize.sh: no tool $tool; there are: asan tsan miri" >&2; exit 2 ;;
    esac
done
echo "1..$number"
exit $status
