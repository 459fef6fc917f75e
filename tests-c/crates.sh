#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# crates.sh - the notices of third-party crates, the bill of materials, and the archive with all crates. Prints TAP.
set -u
LC_ALL=C.UTF-8
export LC_ALL

root=$(cd "$(dirname "$0")/.." && pwd)
cargo=${CARGO:-cargo}
make="${MAKE:-make} --no-print-directory -C $root"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. "$root/tests-c/common/tap.sh"
cd "$root" || exit 2

# ---- Notices and the bill of materials ----

# Checks the notices in a copy of the tree. Then checks that packaging/crates.py detects a missing notice, and a licence
# that deny.toml lacks.
notices_tell()
{
    mkdir "$work/copy" && git ls-files -z | tar -c --null -T - | tar -x -C "$work/copy" || return 1
    "$work/copy/packaging/crates.py" notices --check || return 1
    sed -i '/^rdma-sys /d' "$work/copy/LICENSE-THIRD-PARTY"
    ! "$work/copy/packaging/crates.py" notices --check 2>"$work/said" && grep 'is not what Cargo.lock leads to' "$work/said" || return 1
    sed -i '/"ISC",/d' "$work/copy/deny.toml"
    ! "$work/copy/packaging/crates.py" notices --check 2>"$work/said" && grep 'does not allow the licence of libloading' "$work/said"
}

# Checks that each crate in the bill of materials has a licence and a checksum, and that each reference exists.
bill()
{
    $make sbom SBOM="$work" && python3 - "$work"/libdat-*.cdx.json <<'PYTHON'
import json, re, sys
bill = json.load(open(sys.argv[1]))
assert (bill['bomFormat'], bill['specVersion']) == ('CycloneDX', '1.5')
refs = [part['bom-ref'] for part in bill['components']]
assert len(refs) == len(set(refs)) > 50
uses = {entry['ref']: entry['dependsOn'] for entry in bill['dependencies']}
whole = bill['metadata']['component']['bom-ref']
libraries = [line.split()[3] for line in open('packaging/libraries.txt') if line[0] in '12b']
assert set(uses) == {whole, *uses[whole]}
assert sorted(uses[whole]) == sorted([*libraries, 'dat-info', 'dat-ping', 'dat-perf'])
assert {ref for used in uses.values() for ref in used} == set(refs)
assert any(ref.startswith('pkg:cargo/rdma-sys@') for ref in uses['libdaplverbs.so.2'])
assert not any('rdma-sys' in ref for ref in uses['libdat.so.1'])
for part in bill['components']:
    assert part['version'] and part['licenses'][0]['expression'], part
    assert 'purl' not in part or re.fullmatch('[0-9a-f]{64}', part['hashes'][0]['content']), part
PYTHON
}

if python3 -c 'import tomllib' 2>/dev/null; then
    ok 'LICENSE-THIRD-PARTY has the crates that are linked, and deny.toml their licences' packaging/crates.py notices --check
    ok 'a crate without its notice, or with another licence, is an error' notices_tell
    ok 'make sbom: the libraries and tools with their crates' bill
else
    skip 'LICENSE-THIRD-PARTY and make sbom' 'no python3 with tomllib here'
fi
if "$cargo" deny --version >/dev/null 2>&1; then
    ok 'cargo deny' "$cargo" deny --offline --locked check licenses bans sources
else
    skip 'cargo deny' 'it is not installed'
fi

# ---- The archive with all crates ----

# alone COMMAND...: runs the command in the unpacked archive with only its crates, if possible without a network.
net=
unshare --net true 2>/dev/null && net='unshare --net'
alone()
{
    (
        cd "$work"/libdat-[0-9]*/ && unset CARGO_TARGET_DIR && mkdir -p "$work/cargo" &&
            RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup} CARGO_HOME=$work/cargo CARGO_NET_OFFLINE=true $net "$@"
    )
}

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    # Compression would take most of the time.
    ok 'the sources with all crates' env XZ_OPT=-0 packaging/dist.sh "$work/dist"
    ok 'its files belong to nobody, and are as old as the commit' \
        sh -c 'tar --numeric-owner --utc --full-time -tvf "$0" | awk -v t="$1" "\$2 != \"0/0\" || \$4 \" \" \$5 != t { print; bad = 1 } END { exit bad }"' \
        "$work"/dist/libdat-*.tar.xz "$(TZ=UTC0 git log -1 --date=format-local:'%Y-%m-%d %H:%M:%S' --format=%cd)"
    ok 'they can be unpacked' tar -C "$work" -xf "$(ls "$work"/dist/libdat-*.tar.xz)"
    ok 'cargo finds all crates in it, without a network' alone "$cargo" metadata --locked --format-version 1
    ok 'the library of 1.2 and its provider shm compile' alone "$cargo" check --quiet --locked -p libdat -p libdaplshm
else
    skip 'make dist' 'this is no git repository'
fi

echo "1..$number"
exit $failed
