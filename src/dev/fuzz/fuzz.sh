#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# fuzz.sh MINUTES [TARGET...] - runs the targets of src/dev/fuzz, all by default, MINUTES in all. With a
# nightly compiler and cargo-fuzz they run under libFuzzer and AddressSanitizer, with coverage as
# the guide; otherwise on any compiler, with inputs that follow from a seed.
#
# fuzz.sh keep [TARGET...] - after runs under libFuzzer, selects a minimal set of their inputs and those of
# src/dev/fuzz/corpus that reaches the same code, and adds new inputs to src/dev/fuzz/corpus.
#
#   SEED=N               the seed; the time by default
#   NIGHTLY=nightly      the toolchain
#   LIBFUZZER=0          does without libFuzzer
#
# Inputs that fail are in $CARGO_TARGET_DIR/found; the exit status is 1 if there are any.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
cd "$root" || exit 2
: "${CARGO:=cargo}" "${NIGHTLY:=nightly}" "${LIBFUZZER:=1}" "${CARGO_TARGET_DIR:=$root/target}"
export CARGO_TARGET_DIR
found=$CARGO_TARGET_DIR/found
work=$CARGO_TARGET_DIR/libfuzzer
what=${1:?MINUTES or keep}
shift

all='census conf wire node ring records regions tcp'
features=
if [ -z "$(src/transport/verbs/needs.sh)" ]; then
    all="$all rdma_cm"
    features='--features verbs'
fi
targets=${*:-$all}
for target in $targets; do
    case " $all " in
    *" $target "*) ;;
    *) echo "fuzz.sh: no target $target here; there are: $all" >&2; exit 2 ;;
    esac
done

# Runs cargo-fuzz with the nightly toolchain, also against rust-toolchain.toml.
fuzz()
{
    CARGO_TARGET_DIR=$work cargo "+$NIGHTLY" fuzz "$@"
}

# Prints why libFuzzer cannot run here; nothing if it can.
lacking()
{
    if [ "$LIBFUZZER" = 0 ]; then
        echo "LIBFUZZER=0"
    elif ! rustc "+$NIGHTLY" --version >/dev/null 2>&1; then
        echo "no toolchain $NIGHTLY"
    elif ! cargo "+$NIGHTLY" fuzz --version >/dev/null 2>&1; then
        echo 'no cargo-fuzz (cargo install cargo-fuzz)'
    fi
}

# libfuzzer TARGET FOLDERS AND FLAGS...
libfuzzer()
{
    target=$1
    shift
    fuzz run --fuzz-dir src/dev/fuzz/libfuzzer $features "$target" "$@"
}

why=$(lacking)
mkdir -p "$found" || exit 2

if [ "$what" = keep ]; then
    [ -z "$why" ] || { echo "fuzz.sh: $why" >&2; exit 2; }
    for target in $targets; do
        rm -rf "$work/less/$target"
        mkdir -p "$work/less/$target" "$work/corpus/$target" "$here/corpus/$target"
        # Compares which code inputs reach, not how often, so that few inputs suffice.
        libfuzzer "$target" "$work/less/$target" "$here/corpus/$target" "$work/corpus/$target" -- \
            -set_cover_merge=1 -use_counters=0 -detect_leaks=0 -max_len=4096 || exit 1
        for input in "$work/less/$target"/*; do
            same=
            for known in "$here/corpus/$target"/*; do
                cmp -s "$input" "$known" && same=1 && break
            done
            [ -n "$same" ] || cp "$input" "$here/corpus/$target/"
        done
        echo "$target: $(ls "$here/corpus/$target" | wc -l) inputs"
    done
    exit
fi

seconds=$((what * 60 / $(echo "$targets" | wc -w)))
[ "$seconds" -gt 0 ] || seconds=1
if [ -n "$why" ]; then
    echo "fuzz.sh: the driver for any compiler, since there is no libFuzzer: $why"
    exec $CARGO run --quiet --locked --profile fuzz -p dat-fuzz $features -- \
        --seconds $seconds --seed "${SEED:-$(date +%s)}" --out "$found" $targets
fi
echo "fuzz.sh: libFuzzer of $(rustc "+$NIGHTLY" --version), $seconds s a target"
status=0
for target in $targets; do
    mkdir -p "$work/corpus/$target"
    libfuzzer "$target" "$work/corpus/$target" "$here/corpus/$target" -- \
        -max_total_time=$seconds -max_len=4096 -timeout=60 -detect_leaks=0 -print_final_stats=1 \
        -seed="${SEED:-0}" -artifact_prefix="$found/$target-" || status=1
done
exit $status
