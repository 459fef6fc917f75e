#!/bin/sh
# sanitize.sh - runs Rust tests under tools that see what tests alone do not, and prints TAP.
#
#   sanitize.sh            all of them
#   sanitize.sh TOOL...    these: asan, tsan, miri
#
# asan: AddressSanitizer, memory that is used after its end or beyond it. tsan: ThreadSanitizer, races,
# with the standard library built for it. miri: undefined behaviour, on what makes no system call that
# miri lacks. They need a nightly toolchain (NIGHTLY=nightly), tsan also its rust-src, miri its miri; what
# is not there is skipped with the reason. README.md tells what is left out, and why.
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

# result NAME STATUS: a line of TAP.
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

# Why a tool cannot run here.
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

# A debug build is enough: what counts is what the program does, not what the optimizer makes of it.
asan()
{
    RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 CARGO_TARGET_DIR=$out/asan \
        cargo "+$NIGHTLY" test --locked --target "$host" "$@"
}

# ThreadSanitizer does not see what fences order: of a race that it finds one has to ask whether there is a fence.
tsan()
{
    RUSTFLAGS=-Zsanitizer=thread CARGO_TARGET_DIR=$out/tsan \
        cargo "+$NIGHTLY" test --locked -Zbuild-std --target "$host" "$@"
}

# The memory of handles is never given back, so leaks are none.
miri()
{
    MIRIFLAGS='-Zmiri-disable-isolation -Zmiri-permissive-provenance -Zmiri-ignore-leaks' CARGO_TARGET_DIR=$out/miri \
        cargo "+$NIGHTLY" miri test --locked "$@"
}

# try TOOL ARGUMENTS...
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
        try asan -p dat-memory -p dat-shm --lib
        try asan -p dat-shm --tests
        try asan -p dat-provider-common --tests ;;
    tsan)
        try tsan -p dat-core --lib
        try tsan -p dat-core --tests
        # One test polls memory as a program does, whose plain loads are a race by definition.
        try tsan -p dat-memory -p dat-shm --lib -- --skip a_poller_of_the_tail_sees_all_before_it ;;
    miri)
        # Queues, handles, tables, events and text: they need memory and threads alone.
        try miri -p dat-core --lib -- slab recv_queue evd::queue lmr_table ep_state users
        try miri -p dat-registry --lib -- conf::lexer select ;;
    *) echo "sanitize.sh: no tool $tool; there are: asan tsan miri" >&2; exit 2 ;;
    esac
done
echo "1..$number"
exit $status
