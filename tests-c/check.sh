#!/bin/sh
# check.sh - runs all checks of the project and adds up their results.
#
#   check.sh               every step
#   check.sh STEP...       these
#   check.sh --keep-times  writes the seconds of the last run into steps.txt
#
# steps.txt lists the steps and the longest time of each.
#
#   IA=shm           the adapter for the C suite and the demo
#   RDMA=NETDEV      the RDMA device to use, by its network interface (Soft-RoCE in a virtual machine)
#   CHECK_INSTALL=0  do not install missing Debian packages (as root, by default, they are)
#
# The last line is "N passed, N failed, N skipped"; the exit status is 0 when nothing failed. The
# output of each step is kept in target/check, the table of results and the last line in
# target/check/summary.
set -u
LC_ALL=C
CARGO_TERM_COLOR=never
export LC_ALL CARGO_TERM_COLOR
# Tests ask for diagnostics themselves, and the variables of the make that runs this script are not
# for the makes that it runs.
unset DAT_OVERRIDE DAT_DBG_TYPE DAPL_DBG_TYPE DAT_DBG_DEST DAPL_DBG_DEST DAT_LOG RUST_LOG MAKEFLAGS MFLAGS MAKELEVEL GNUMAKEFLAGS

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
cd "$root" || exit 2
: "${CARGO:=cargo}" "${MAKE:=make}" "${IA:=shm}" "${CHECK_INSTALL:=1}" "${CARGO_TARGET_DIR:=$root/target}"
export CARGO_TARGET_DIR
target=$CARGO_TARGET_DIR
logs=$target/check
mkdir -p "$logs" || exit 2
table=$here/steps.txt
all_steps=$(awk '!/^#/ { print $1 }' "$table")

passed=0 failed=0 skipped=0 left_out=0
summary=$logs/summary reasons=$logs/reasons

# ---- Running and counting ----

# longest [STEP]: the longest time of a step in seconds, of the current one by default.
longest()
{
    awk -v step="${1:-$step}" '$1 == step { print $2 }' "$table"
}

# line NAME PASSED FAILED SKIPPED SECONDS: one line of the table of results.
line()
{
    printf '%-12s %5d passed %4d failed %4d skipped %5ds\n' "$@" >>"$summary"
}

# logged COMMAND...: runs it, shows and keeps its output; sets $status and $log.
logged()
{
    limit=$(longest)
    log=$logs/$step.log
    {
        timeout -k 30 "$limit" "$@"
        echo $? >"$logs/$step.status"
    } 2>&1 </dev/null | tee "$log"
    status=$(cat "$logs/$step.status")
    [ "$status" = 124 ] && echo "$step: ran out of time after $limit seconds" | tee -a "$log"
}

# result PASSED FAILED SKIPPED: adds up a step. If its command failed and no test did, or if there
# was no test, that is one failure.
result()
{
    p=$1 f=$2 s=$(($3 + left_out))
    [ "$status" -ne 0 ] && [ "$f" -eq 0 ] && f=1
    [ $((p + f + s)) -eq 0 ] && f=1
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    line "$step" "$p" "$f" "$s" $(($(date +%s) - began))
}

# skip REASON: skips the whole step.
skip()
{
    status=0
    echo "$step: skipped: $1"
    echo "$step: $1" >>"$reasons"
    result 0 0 1
}

# For a command that is one test.
one()
{
    logged "$@"
    if [ "$status" -eq 0 ]; then result 1 0 0; else result 0 1 0; fi
}

# For cargo test: its lines "test result:"; ignored tests are skipped.
rust()
{
    logged "$@"
    set -- $(awk '/^test result:/ {
                 for (i = 2; i <= NF; i++) {
                     if ($i == "passed;") p += $(i - 1)
                     if ($i == "failed;") f += $(i - 1)
                     if ($i == "ignored;") s += $(i - 1)
                 } }
             END { print p + 0, f + 0, s + 0 }' "$log")
    sed -n 's/^test \(.*\) \.\.\. ignored\(.*\)/'"$step"': \1: ignored\2/p' "$log" >>"$reasons"
    result "$@"
}

# For the C suite: its closing line, and the reasons above it.
suite()
{
    logged "$@"
    closing
}

closing()
{
    set -- $(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
        "$log" | tail -n 1)
    sed -n '/^skipped:$/,$s/^  *[0-9]*  */'"$step"': /p' "$log" >>"$reasons"
    if [ $# -eq 3 ]; then result "$@"; else result 0 1 0; fi
}

# For scripts that print TAP.
tap()
{
    logged "$@"
    set -- $(awk '/^ok / { if (/# SKIP/) s++; else p++ }
                  /^not ok / { f++ }
                  END { print p + 0, f + 0, s + 0 }' "$log")
    sed -n 's/^ok [0-9]* *-* *\(.*\) # SKIP \(.*\)/'"$step"': \1: \2/p' "$log" >>"$reasons"
    result "$@"
}

# ---- What the steps need ----

have()
{
    command -v "$1" >/dev/null 2>&1
}

# Tools that steps use beyond cargo, cc and make: command=package.
packages()
{
    for pair in gcc=gcc g++=g++ clang=clang valgrind=valgrind mandoc=mandoc groff=groff \
        pkg-config=pkg-config readelf=binutils python3=python3 zsh=zsh fish=fish bpftrace=bpftrace cmake=cmake ip=iproute2; do
        have "${pair%%=*}" || echo "${pair#*=}"
    done
    python3 -c 'import yaml' 2>/dev/null || echo python3-yaml
    src/verbs/needs.sh
    has_libfabric || echo libfabric1
    case " $(echo $steps) " in *' verbs '*) machine ;; esac
    case " $(echo $steps) " in *' packages '*) packagers ;; esac
}

# What the transport over libfabric loads.
has_libfabric()
{
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -q 'libfabric\.so\.1 '
}

# What the step packages needs to make packages, to look at them and to try them.
packagers()
{
    for pair in dpkg-buildpackage=dpkg-dev dh=debhelper lintian=lintian rpmbuild=rpm rpmlint=rpmlint eu-strip=elfutils \
        mmdebstrap=mmdebstrap; do
        have "${pair%%=*}" || echo "${pair#*=}"
    done
}

# What the step verbs needs beyond the provider: drivers and, without a device, a virtual machine.
machine()
{
    [ -d /etc/libibverbs.d ] || echo ibverbs-providers
    [ -z "${RDMA:-}" ] || return 0
    for pair in qemu-system-x86_64=qemu-system-x86 modprobe=kmod cpio=cpio rdma=iproute2; do
        have "${pair%%=*}" || echo "${pair#*=}"
    done
    # The other package of busybox needs libraries that the machine does not have.
    { have busybox && ! ldd "$(command -v busybox)" >/dev/null 2>&1; } || echo busybox-static
}

# Sets $members, the crates that can be built here.
members()
{
    members=--workspace
    lacking=$(src/verbs/needs.sh | tr '\n' ' ')
    if [ -n "$lacking" ]; then
        members='--workspace --exclude dat-verbs --exclude dat-verbs12 --exclude dat-verbs20'
        left_out=1
        echo "$step: src/verbs: not installed: $lacking" >>"$reasons"
    fi
}

# Installs what is missing where it may, and names what is missing afterwards.
install_packages()
{
    wanted=$(packages | sort -u | tr '\n' ' ')
    [ -n "$wanted" ] || return
    if [ "$CHECK_INSTALL" = 0 ]; then
        why='CHECK_INSTALL=0'
    elif [ "$(id -u)" -ne 0 ]; then
        why='not root'
    elif ! have apt-get; then
        why='no apt-get'
    else
        echo "check.sh installs these Debian packages (CHECK_INSTALL=0 leaves them out): $wanted"
        DEBIAN_FRONTEND=noninteractive
        export DEBIAN_FRONTEND
        {
            timeout 300 apt-get update -q &&
                timeout 600 apt-get install -q -y --no-install-recommends $wanted
        } >"$logs/apt.log" 2>&1 || tail -n 5 "$logs/apt.log"
        why='apt-get could not install it'
    fi
    for package in $(packages | sort -u); do
        echo "package $package is missing, and what needs it is skipped: $why" |
            tee -a "$logs/missing"
    done
}

release()
{
    $MAKE --no-print-directory all
}

# ---- Steps ----

# Programs that go on for long, which is the full time in the step c alone.
BRIEFLY='stress.words stress.handles stress.everyone'
# The longest time of a program in seconds, where the virtual machine of verbs works beside it.
BESIDE=300
# Scripts that look at the headers alone.
HEADERS='abi/check_headers.sh abi/header_compile.sh'

step_derived() { one $CARGO run --quiet --locked -p dat-derived -- --check; }
# The page on differences names tests, which must have passed where they were run.
step_man()
{
    set -- "$here/build/results-$IA" "$here/build/2.0/results-$IA" "$here/build/results-both"
    [ -d "$1" ] && [ -d "$2" ] && [ -d "$3" ] || set --
    tap "$root/docs/man/check.sh" "$@"
}
step_test()
{
    members
    if ! has_libfabric; then
        members="$members --exclude dat-ofi"
        left_out=$((left_out + 1))
        echo "$step: src/ofi: not installed: libfabric1" >>"$reasons"
    fi
    rust $CARGO test $members --locked --no-fail-fast
}
step_c()
{
    suite $MAKE --no-print-directory -C "$here" check IA="$IA"
}
step_c20() { with_dapl2 suite $MAKE --no-print-directory -C "$here" check API=2.0 IA="$IA" QUICK="$BRIEFLY"; }
step_c_ring()
{
    DAT_SHM_VM=0
    export DAT_SHM_VM
    suite $MAKE --no-print-directory -C "$here" check IA="$IA" TIMEOUT=$BESIDE TESTS='flow/\|rely/\|srq/'
    unset DAT_SHM_VM
}
# with_dapl2 COMMAND...: runs it with Debian's packages of the C implementation of 2.0, if they can be had.
with_dapl2()
{
    if DAT_TEST_DAPL2=$("$here/verbs/dapl2.sh" "$target" 2>"$logs/dapl2"); then
        export DAT_TEST_DAPL2
    else
        unset DAT_TEST_DAPL2
        left_out=1
        echo "$step: dapl2: $(tail -n 1 "$logs/dapl2")" >>"$reasons"
    fi
    "$@"
    unset DAT_TEST_DAPL2
}

step_both() { suite $MAKE --no-print-directory -C "$here" check-both IA="$IA" TIMEOUT=$BESIDE; }
# over_tcp API TESTS: a part of the C suite over the loopback interface.
over_tcp()
{
    if ! has_libfabric; then
        skip 'libfabric1 is not installed'
    else
        suite $MAKE --no-print-directory -C "$here" check IA=tcp-lo TIMEOUT=$BESIDE API="$1" TESTS="$2"
    fi
}
step_tcp() { over_tcp 1.2 '^tcp/\|^registry/tcp\|^registry/default\|^objects/\|^flow/\|^srq/\|^ep_modify/\|^rely/data\|^rely/connections'; }
step_tcp20() { with_dapl2 over_tcp 2.0 '^registry/tcp\|^registry/default\|^v20/\|^srq/\|^flow/rdma\|^dapl2/programs'; }
step_instructions() { tap $MAKE --no-print-directory -C "$here" measure COMPARE=1; }
step_instructions20() { tap $MAKE --no-print-directory -C "$here" measure API=2.0 COMPARE=1; }
step_probes() { tap $MAKE --no-print-directory -C "$here" check-probes; }
step_bench() { tap $MAKE --no-print-directory -C "$here" check-bench; }
step_tools() { tap env BIN="$target/bin" LIB="$target/lib" "$here/tools/all.sh"; }
step_glibc() { tap "$here/glibc.sh" "$target/lib" "$target"; }
# Debian has no libgcc_s for musl, so nothing is linked.
step_musl()
{
    musl=$(uname -m)-unknown-linux-musl
    [ "$CHECK_INSTALL" = 0 ] || ! have rustup || rustup --quiet target add "$musl" >"$logs/rustup" 2>&1
    if [ -d "$(rustc --print sysroot)/lib/rustlib/$musl/lib" ]; then
        one $CARGO check --locked --target "$musl" $(awk '$7 == "always" { print "-p", $2 }' packaging/libraries.txt)
    else
        skip "no Rust library for $musl"
    fi
}

step_crates() { tap "$here/crates.sh"; }
step_install() { tap "$here/install.sh"; }
step_packages() { tap "$here/packages/packages.sh"; }
step_docs()
{
    for tool in python3 pkg-config; do
        have $tool || { skip "$tool is not installed"; return; }
    done
    tap "$here/docs/roots.sh" README.md docs/getting-started.md docs/porting.md docs/deploying.md docs/mpi.md \
        docs/troubleshooting.md
    tap "$here/docs/examples.py" "$target/bin"
}

step_fmt()
{
    if $CARGO fmt --version >/dev/null 2>&1; then
        one $CARGO fmt --all --check
    else
        skip 'cargo fmt is not installed'
    fi
}

# How large the project is stands beside it; nothing judges that.
step_layers()
{
    tap "$here/layers.sh"
    "$here/lines.sh" | tee "$logs/lines"
}

step_clippy()
{
    if $CARGO clippy --version >/dev/null 2>&1; then
        members
        one $CARGO clippy $members --all-targets --locked -- -D warnings
    else
        skip 'cargo clippy is not installed'
    fi
}

# This is a build of its own, since loom replaces the atomics of what is modelled.
step_loom()
{
    rust env RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" $CARGO test --locked --release \
        --target-dir "$target/loom" -p host -p dat-core -p dat-shm --lib -- lock:: epoch:: waker:: ring:: sleep:: hot:: offer:: claim:: outlet:: guard::
}

# With the debug build, which checks most, and is there already.
step_fuzz()
{
    features='--features verbs'
    lacking=$(src/verbs/needs.sh | tr '\n' ' ')
    if [ -n "$lacking" ]; then
        features=
        left_out=1
        echo "$step: rdma_cm: not installed: $lacking" >>"$reasons"
    fi
    tap $CARGO run --quiet --locked -p dat-fuzz $features -- --seconds 8 --out "$target/found"
}

# debug API TESTS: the C suite on the debug build, which checks most, but for what judges processor time, since the virtual
# machine of verbs works beside it.
debug()
{
    suite sh -c '"$1" --no-print-directory libraries CARGO="$0" VERBS=0 BUILD=debug API="1.2 2.0" &&
        "$1" --no-print-directory -C "$2" check \
        BUILD=debug IA="$3" TIMEOUT="$4" QUICK="$5" WITHOUT="$6" API="$7" TESTS="$8"' \
        "$CARGO" "$MAKE" "$here" "$IA" "$BESIDE" "$BRIEFLY stress.watching" "$HEADERS stress/beside stress/idle" "$@"
}
step_c_debug() { debug 1.2 '^objects/\|^flow/\|^srq/\|^ep_modify/\|^rely/\|^faults/\|^stress/\|^neighbours/'; }
step_c20_debug() { debug 2.0 '^v20/\|^flow/\|^srq/\|^objects/'; }

# under_valgrind API TESTS: without programs that start a process for each line that they look at, which takes minutes there,
# and so without the script that asks for the codes of all programs.
under_valgrind()
{
    if have valgrind; then
        suite $MAKE --no-print-directory -C "$here" check VALGRIND=1 IA="$IA" API="$1" TESTS="$2" \
            WITHOUT="$HEADERS registry/explicit registry/messages registry/search registry/tcp registry/default_route.sh rely/masks codes/complete.sh"
    else
        skip 'valgrind is not installed'
    fi
}
step_valgrind() { under_valgrind 1.2 .; }
step_valgrind20() { under_valgrind 2.0 '^v20/\|^srq/ended\|^flow/rdma'; }

# The virtual machine, on the processors of the host, waits more than it computes, and so does valgrind, on one of them.
# So the machine is started before the step of valgrind and runs beside what follows. It gets less time than the step,
# so that none is left behind.
begin_verbs()
{
    lacking=$({ src/verbs/needs.sh; machine; } | tr '\n' ' ')
    [ -z "$lacking" ] || return 0
    limit=$(longest verbs)
    timeout -k 30 "$limit" env TARGET="$target" OUT="$target/verbs" LIMIT=$((limit - 600)) \
        "$here/verbs/check.sh" >"$logs/verbs.log" 2>&1 </dev/null &
    machine_pid=$!
    machine_began=$(date +%s)
}

step_verbs()
{
    [ -n "${machine_pid:-}" ] || begin_verbs
    if [ -z "${machine_pid:-}" ]; then
        skip "not installed: $lacking"
        return
    fi
    wait "$machine_pid"
    status=$?
    machine_pid=
    log=$logs/verbs.log
    cat "$log"
    began=$machine_began
    if [ "$status" -eq 77 ]; then
        skip "$(tail -n 1 "$log")"
    elif [ "$status" -eq 124 ]; then
        echo "verbs: ran out of time after $limit seconds"
        result 0 1 0
    else
        closing
    fi
}

# Newcomers copy the demo, so no compiler may warn of anything in it.
step_demo()
{
    tap sh -c '
        n=0
        for cc in gcc clang; do
            n=$((n + 1))
            command -v $cc >/dev/null || { echo "ok $n - demo: $cc # SKIP no $cc here"; continue; }
            if $cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Werror -Iinclude -o "$1/check/demo-$cc" \
                tests-c/demo/*.c -L"$1/lib" -ldat -Wl,-rpath,"$1/lib" && "$1/check/demo-$cc" "$2"
            then echo "ok $n - demo: $cc"; else echo "not ok $n - demo: $cc"; fi
        done' demo "$target" "$IA"
}

# ---- All of it ----

# The times of steps that failed or were skipped say nothing.
keep_times()
{
    awk 'NR == FNR { if ($2 > 0 && $4 == 0) seconds[$1] = $8 + 0; next }
         !/^#/ && $1 in seconds {
             what = $0
             sub(/^[^ ]+ +[^ ]+ +[^ ]+ +/, "", what)
             $0 = sprintf("%-12s %8d %7d  %s", $1, $2, seconds[$1], what)
         }
         { print }' "$summary" "$table" >"$logs/steps.txt" && cp "$logs/steps.txt" "$table"
}

if [ "${1:-}" = --keep-times ]; then
    keep_times
    exit
fi
steps=${*:-$all_steps}
for step in $steps; do
    case " $(echo $all_steps) " in
    *" $step "*) ;;
    *) echo "check.sh: no step $step; there are:" $all_steps >&2; exit 2 ;;
    esac
done

# timeout passes the signal on to all that it has started.
trap '[ -z "${machine_pid:-}" ] || kill "$machine_pid" 2>/dev/null' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
began_all=$(date +%s)
: >"$summary"
: >"$reasons"
: >"$logs/missing"
install_packages
for step in $steps; do
    echo
    echo "==== $step"
    began=$(date +%s)
    left_out=0
    case $step in
    c | c-ring | c-debug | c20 | c20-debug | both | tcp | tcp20 | valgrind | valgrind20 | instructions | instructions20 | probes | bench | verbs | demo | \
        tools | glibc | install | packages | docs)
        # All of these use the libraries in target/lib. If those cannot be built, that is a failure.
        if ! release; then
            status=1
            result 0 1 0
            continue
        fi ;;
    esac
    [ "$step" != valgrind ] || case " $(echo $steps) " in *' verbs '*) begin_verbs ;; esac
    "step_$(echo "$step" | tr - _)"
done

echo
echo "==== summary"
cat "$logs/missing"
if [ -s "$reasons" ]; then
    echo "skipped:"
    sort -u "$reasons" | sed 's/^/  /'
fi
line total $passed $failed $skipped $(($(date +%s) - began_all))
echo "$passed passed, $failed failed, $skipped skipped" >>"$summary"
cat "$summary"
[ $failed -eq 0 ]
