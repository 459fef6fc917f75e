#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# check.sh - runs the tests that need an RDMA device: the C suite with tests-c/verbs, and the Rust tests that are
# ignored without a device. `make check-verbs` builds the libraries and calls this script. With TESTS=tcp/ it runs
# tcp/bad_network.sh and tcp/wireguard.sh, which need modules that the kernel of the virtual machine has.
#
#   RDMA     the device: rxe is Soft-RoCE in a virtual machine, the default; siw is soft-iWARP in a virtual machine; any
#            other value is a network interface of this machine
#   TARGET   cargo's target directory (default target), with libdaplverbs.so in release/
#   OUT      directory of the programs (default tests-c/build)
#   RESULTS  directory of the results (default OUT); the only directory that the virtual machine can write
#   XTASK    the program that runs the suite (default: cargo builds it in TARGET)
#   SELECTION  cargo's options that select the crates. The caller passes its own, so that cargo compiles nothing twice
#            (--locked -p dat-verbs)
#   TESTS    runs only matching tests, as for `make -C tests-c check`; the Rust tests have the name rust/dat-verbs
#   TESTS_20, TESTS_BOTH   the same for the suite of uDAPL 2.0, and for the programs of both versions. The default is
#            TESTS; if that is not set, the tests that differ between the versions or matter most to programs
#   VM_KERNEL, VM_ROOT, ...   the kernel and libraries of the virtual machine, as for vm.sh
#   SCALE    factor for the deadlines in the virtual machine, whose CPUs are emulated (3)
#   LIMIT    maximum time of the virtual machine, in seconds (3600)
#   LATE     if set, the device gets requests as late as hardware does, at random times (late_device.c). LATE is the
#            seed; with LATE=1 the script draws one, and prints it
#
# The last line is "N passed, N failed, N skipped". The exit status is 0 if no test failed, and 77 if the virtual
# machine cannot be started; then a line names what is missing.
set -u
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
SOME_20='v20/\|dapl2/\|srq/[cefpqrsw]\|ep_modify/\|flow/fences\|flow/rdma\|flow/refuse\|rely/mpi\|verbs/interop\|verbs/refused_\|verbs/setup\|verbs/strange'
SOME_BOTH='both/linked\|both/opened\|flow/rdma\|flow/refuse'
: "${TARGET:=${CARGO_TARGET_DIR:-$root/target}}" "${OUT:=$root/tests-c/build}"
: "${TESTS_20:=${TESTS:-$SOME_20}}" "${TESTS_BOTH:=${TESTS:-$SOME_BOTH}}" "${TESTS:=.}"
: "${CARGO:=cargo}" "${MAKE:=make}" "${RDMA:=rxe}" "${SCALE:=3}" "${LIMIT:=3600}" "${LATE:=}"
mkdir -p "$OUT" && OUT=$(cd "$OUT" && pwd) || exit 2
: "${RESULTS:=$OUT}" "${SELECTION:=--locked -p dat-verbs}" "${XTASK:=$TARGET/debug/xtask}"
mkdir -p "$RESULTS" && RESULTS=$(cd "$RESULTS" && pwd) || exit 2
# The directory in which make has put the tools; empty if there is none.
BIN=$(cd "$TARGET/bin" 2>/dev/null && pwd) || BIN=
export BIN
# The interface of the device, and the kind of the devices in the virtual machine, if there is one.
case $RDMA in
rxe | siw) netdev=v0 kind=$RDMA ;;
*) netdev=$RDMA kind= ;;
esac
IA=verbs-$netdev
# These compile headers, read symbols and read configurations. They need no adapter, and run in other checks.
WITHOUT='abi/check_headers.sh abi/header_compile.sh abi/symbols.sh registry/default_route.sh registry/explicit'
WITHOUT="$WITHOUT registry/fork registry/load registry/messages registry/search registry/sandbox.sh registry/strange registry/tcp"
# What Soft-RoCE of newer kernels does otherwise: see docs/dev/kernels.md.
case ${VM_KERNEL:-} in
trixie*) WITHOUT="$WITHOUT rely/data stress/watching" ;;
esac
# The tests over TCP that need the network emulator or WireGuard, which the kernel of the virtual machine has. They take some
# minutes there, so they run only if TESTS names them, as in `make check-verbs TESTS=tcp/`.
NETWORK=
[ "$TESTS" = . ] ||
    NETWORK=$(printf '%s\n' tcp/bad_network.sh tcp/wireguard.sh | grep -e "$TESTS" | paste -s -d '|' | sed 's/|/\\|/')
# These take minutes on an emulated machine, and run with fewer repetitions there.
if [ -n "$kind" ]; then
    QUICK_12='verbs.killed verbs.faults verbs.open verbs.waiting rely.mpi stress.watching stress.threads stress.bursts stress.polled stress.asleep stress.closing srq.model srq.joining flow.sizes'
    QUICK_20='rely.mpi srq.model srq.joining srq.many stress.closing v20.datagram_bursts v20.datagram_peers'
else
    QUICK_12= QUICK_20=
fi
# Tens of thousands of requests, which a late device delays one by one.
[ -z "$LATE" ] || QUICK_12="$QUICK_12 rely.data rely.attributes stress.churn"

# suite API GOAL...: runs make in tests-c for this version of uDAPL, on the device.
suite()
{
    case $1 in 1.2) into=$OUT ;; *) into=$OUT/$1 ;; esac
    api=$1
    shift
    "$MAKE" --no-print-directory -C "$root/tests-c" API="$api" OUT="$into" RESULTS="$RESULTS/${into#"$OUT"}" XTASK="$XTASK" \
        LIBDIR="$TARGET/release" IA="$IA" "$@"
}

# run_suite API GOAL TESTS QUICK: runs the matching tests. The line with the totals goes only into the file verbs.suite.
run_suite()
{
    suite "$1" "$2" "TESTS=$3" "WITHOUT=$WITHOUT" "QUICK=$4" | tee "$RESULTS/verbs.one" |
        sed -u '/^[0-9]* passed, [0-9]* failed, [0-9]* skipped$/d'
    # A suite without this line has not reached its end, and counts as failed.
    { tail -n 1 "$RESULTS/verbs.one" | grep ' passed, .* skipped$' || echo '0 passed, 1 failed, 0 skipped'; } \
        >>"$RESULTS/verbs.suite"
}

# rust LIST OUTPUT: runs the test executables in the file LIST, one per line, and appends their output to OUTPUT.
rust()
{
    echo rust/dat-verbs | grep -q -e "$TESTS" || return
    while read -r program; do
        RDMA=$netdev "$program" --ignored --test-threads=1 >"$2.one" 2>&1
        status=$?
        sed -n -e '/^test .* \.\.\. /p' -e '/^failures:/,$p' "$2.one"
        cat "$2.one" >>"$2"
        # An executable that dies prints no result.
        [ "$status" -eq 0 ] || grep -q '^test result: FAILED' "$2.one" || {
            echo "rust/dat-verbs: $program ended with status $status"
            echo 'test result: died; 0 passed; 1 failed;' >>"$2"
        }
    done <"$1"
}

# total FILE...: adds up the closing lines of the suite and of the Rust tests.
total()
{
    awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5; seen = 1 }
         /^test result:/ { for (i = 2; i <= NF; i++) {
             if ($i == "passed;") p += $(i - 1)
             if ($i == "failed;") f += $(i - 1) } }
         END {
             if (!seen) f++
             print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped"
             exit (f > 0) }' "$@"
}

# cpu_times: what the CPUs of the virtual machine did until now.
cpu_times()
{
    awk '$1 == "cpu" { for (i = 2; i <= 9; i++) sum += $i
        printf "CPUs: %d s, of these %d %% in programs, %d %% in the kernel, %d %% idle\n",
            sum / 100, 100 * ($2 + $3) / sum, 100 * ($4 + $7 + $8) / sum, 100 * ($5 + $6) / sum }' /proc/stat
}

# Runs everything on a device of this machine.
run()
{
    [ -z "$kind" ] || echo "Linux $(uname -r), $(basename "$(realpath /lib/*/libibverbs.so.1)")"
    [ -z "$LATE" ] || export DAT_TEST_LATE="$LATE" LD_PRELOAD="$OUT/verbs/late_device.so"
    : >"$RESULTS/verbs.suite"
    : >"$RESULTS/verbs.rust"
    # The Rust tests use a single thread, so they run at the same time as the suite of 2.0.
    rust "$RESULTS/verbs.tests" "$RESULTS/verbs.rust" >"$RESULTS/verbs.rust.log" 2>&1 &
    rust=$!
    # Run the suite of 1.2 last: a device might not recover from its last tests, such as a link that goes down.
    echo 'uDAPL 2.0:'
    run_suite 2.0 check "$TESTS_20" "$QUICK_20"
    run_suite 1.2 check-both "$TESTS_BOTH" ""
    if [ -n "$NETWORK" ]; then
        echo 'uDAPL 1.2 over TCP:'
        (IA=tcp-lo && run_suite 1.2 check "$NETWORK" "")
    fi
    wait "$rust"
    cat "$RESULTS/verbs.rust.log"
    echo 'uDAPL 1.2:'
    run_suite 1.2 check "$TESTS" "$QUICK_12"
    # After a fault of the virtual machine's kernel, any test may fail.
    [ -z "$kind" ] || dmesg | grep -E 'BUG:|WARNING:|Oops|blocked for more than' | head -n 20 | sed 's/^/kernel: /'
    [ -z "$kind" ] || cpu_times
    total "$RESULTS/verbs.suite" "$RESULTS/verbs.rust"
}

if [ "${1:-}" = run ]; then
    run
    exit
fi

if [ "$LATE" = 1 ]; then
    LATE=$(date +%s)
    echo "The device is late, with LATE=$LATE."
fi
export LATE
if DAT_TEST_DAPL2=$("$here/dapl2.sh" "$TARGET"); then
    export DAT_TEST_DAPL2
else
    unset DAT_TEST_DAPL2
fi
programs()
{
    suite 1.2 -j3 programs && suite 2.0 -j3 programs &&
        { [ -z "$LATE" ] || suite 1.2 "$OUT/verbs/late_device.so"; } &&
        suite 1.2 both-programs "$OUT/both/linked" "$OUT/both/opened" "$OUT/both/foreign" &&
        { [ -z "$NETWORK" ] || (IA=tcp-lo && suite 1.2 -j3 programs "TESTS=$NETWORK"); }
}
programs >"$RESULTS/verbs.build" 2>&1 || { tail -n 40 "$RESULTS/verbs.build"; exit 1; }
[ -x "$XTASK" ] || CARGO_TARGET_DIR=$TARGET "$CARGO" build --quiet --locked --workspace --bin xtask || exit 1
# The tests are built outside the virtual machine, which is slow, and run with --ignored inside.
# shellcheck disable=SC2086 # words are wanted
CARGO_TARGET_DIR=$TARGET "$CARGO" test $SELECTION --no-run --message-format=json \
    >"$RESULTS/verbs.json" 2>"$RESULTS/verbs.cargo" || { tail -n 40 "$RESULTS/verbs.cargo"; exit 1; }
sed -n '/src\/transport\/verbs\/Cargo.toml"/s/.*"executable":"\([^"]*\)".*/\1/p' "$RESULTS/verbs.json" >"$RESULTS/verbs.tests"
[ -s "$RESULTS/verbs.tests" ] || { echo 'check.sh: cargo named no test executable'; exit 1; }

export TARGET OUT RESULTS XTASK TESTS TESTS_20 TESTS_BOTH RDMA MAKE
if [ -z "$kind" ]; then
    run
else
    VM_RDMA=$kind VM_OUT=$RESULTS VM_TIMEOUT=$LIMIT "$here/vm.sh" env DAT_TEST_SCALE="$SCALE" \
        DAT_TEST_BUSY="${DAT_TEST_SCALE:+yes}" "$here/check.sh" run
    status=$?
    # After LIMIT, vm.sh prints a line and exits with 124, which the caller would take for a timeout of its own.
    [ "$status" -ne 124 ] || status=1
    exit "$status"
fi
