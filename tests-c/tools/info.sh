#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# info.sh - dat-info on this host, and with configurations of the test. Prints TAP; all.sh sets $BIN and $LIB.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
# An unprivileged user reads the directory, too.
chmod 755 "$work"
info=$BIN/dat-info
. "$(dirname "$0")/../common/tap.sh"
. "$(dirname "$0")/../common/said.sh"

# run STATUS ARGUMENT...: runs dat-info, which must exit with STATUS. Its output is in $work/out.
run()
{
    wanted=$1
    shift
    "$info" "$@" >"$work/out" 2>&1 </dev/null
    got=$?
    [ $got -eq "$wanted" ] || { echo "exit status $got, not $wanted:"; cat "$work/out"; return 1; }
}

# json EXPRESSION: succeeds if the output is JSON and the Python expression, in which `d` is the output, is true.
json()
{
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(0 if eval("(%s)" % sys.argv[2]) else repr(d))' \
        "$work/out" "$1"
}

# conf LINE...: writes a configuration.
conf()
{
    printf '%s\n' "$@" >"$work/dat.conf"
    DAT_OVERRIDE=$work/dat.conf
    export DAT_OVERRIDE
}

mkdir -m 700 "$work/meet"
shm="shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 \"$work/meet\" \"\""

# ---- Arguments ----

ok 'dat-info --licences: status 0, without libdat.so.1 as well' env LD_LIBRARY_PATH= "$BIN/dat-info" --licences
ok 'dat-info --licences: its own, and those of others' sh -c '
    { cd "$1" && cat LICENSE && echo && cat LICENSE-MIT && echo && cat LICENSE-THIRD-PARTY; } >"$2/wanted" &&
        "$0/dat-info" --licences | diff "$2/wanted" -' "$BIN" "$(dirname "$0")/../.." "$work"
ok 'dat-info --help: status 0' run 0 --help
ok 'dat-info --help: usage, options, exit status and examples' says 'Usage: dat-info' '--explain' 'Exit status' 'Examples'
ok 'dat-info --help: what the tool uses for itself is not shown' never_says --probe
ok 'dat-info --nonsense: status 2' run 2 --nonsense
ok "dat-info '': status 2" run 2 ''
ok "dat-info '': what is wrong" says 'no adapter has an empty name'
ok 'dat-info --version: the version of the project' run 0 --version
ok 'dat-info --library: a file that is not there: status 1' run 1 --library "$work/libdat.so.1"
ok 'dat-info --library: it says which file, and why not' says "$work/libdat.so.1" 'No such file'
ok 'dat-info --library: the file that is named is used' run 0 --library "$LIB/libdat.so.1" --json
ok 'dat-info --library: it is told which' json "[f.endswith('/libdat.so.1') for f in d['libraries']] == [True]"

# Install where the loader does not search, so that only the tool finds the library.
tree=$work/tree
mkdir -p "$tree/bin" "$tree/lib" "$tree/broken"
cp "$info" "$tree/bin"
cp "$LIB/libdat.so.1" "$LIB/libdaplshm.so.1" "$tree/lib"
if ldconfig -p 2>/dev/null | grep -q 'libdat\.so\.1 '; then
    skip 'the library beside the tool' 'the loader knows another one'
else
    conf "$shm"
    installed() { env -u LD_LIBRARY_PATH "$@" "$tree/bin/dat-info" --explain shm >"$work/out" 2>&1 </dev/null; }
    ok 'the library beside the tool: status 0' installed
    ok 'the library beside the tool: it says that programs do not find it' says "note   $tree/lib/libdat.so.1" \
        'the loader does not find it: libdat.so.1: cannot open' '#library-not-found'
    ok 'the library beside the tool: how programs find it' says \
        "Programs do not find libdat.so.1: add $tree/lib to LD_LIBRARY_PATH"
    ok 'where LD_LIBRARY_PATH leads to it: status 0' installed LD_LIBRARY_PATH="$tree/lib"
    ok 'where LD_LIBRARY_PATH leads to it: the loader finds it' says "ok     $tree/lib/libdat.so.1"
    echo 'no library' >"$tree/broken/libdat.so.1"
    ok 'a broken file where the loader looks: that one beside the tool is not taken' \
        sh -c '! "$@"' broken env LD_LIBRARY_PATH="$tree/broken" "$tree/bin/dat-info" --explain shm
    # libdat2 would work, but the libdat that programs of 1.2 find is broken.
    env LD_LIBRARY_PATH="$tree/broken:$LIB" "$info" --explain shm >"$work/out" 2>&1 </dev/null
    ok 'a broken file where the loader looks, --explain shm: it is wrong' says 'WRONG  libdat.so.1: cannot load the library' 'file too short'
    unset DAT_OVERRIDE
fi

# A library of another vendor, which programs find first. Only the text distinguishes this one.
foreign=$work/foreign
mkdir "$foreign"
LC_ALL=C sed 's/dat-info --explain/dat-none --explain/g' "$LIB/libdat2.so.2" >"$foreign/libdat2.so.2"
cp "$LIB/libdaplshm.so.2" "$foreign"
DAT_OVERRIDE=builtin
export DAT_OVERRIDE
other() { env LD_LIBRARY_PATH="$foreign:$LIB" "$info" "$@" >"$work/out" 2>&1 </dev/null; }
advice="Programs of uDAPL 2.0 load $foreign/libdat2.so.2, which is not libdat: put "
ok 'a library of another vendor: status 0' other
ok 'a library of another vendor: one line says so, and what to set' \
    sh -c '[ "$(grep -cF "$0" "$1")" = 1 ] && grep -F "$0" "$1" | grep -q "first in LD_LIBRARY_PATH.$"' "$advice" "$work/out"
ok 'a library of another vendor: nothing about uDAPL 1.2' never_says 'Programs of uDAPL 1.2'
ok 'a library of another vendor, --explain shm: status 0' other --explain shm
ok 'a library of another vendor, --explain shm: in short, too' sh -c 'sed -n "/^In short/,/^$/p" "$1" | grep -qF "$0"' "$advice" "$work/out"
cp "$foreign/libdat2.so.2" "$tree/lib"
ok 'a library of another vendor beside the tool: status 0' \
    sh -c 'LD_LIBRARY_PATH=$1/lib:$2 "$1/bin/dat-info" >"$3" 2>&1' other "$tree" "$LIB" "$work/out"
ok 'a library of another vendor beside the tool: its own directory is no remedy' says \
    "load $tree/lib/libdat2.so.2, which is not libdat: put the directory of libdat first in LD_LIBRARY_PATH."
conf "$shm"
other --explain shm
ok 'a library of another vendor without the adapter, --explain: in short, too' says 'Works now: shm' "$advice"
unset DAT_OVERRIDE

# ---- The table ----

export DAT_OVERRIDE=builtin
ok 'DAT_OVERRIDE=builtin: status 0' run 0 --json
ok 'DAT_OVERRIDE=builtin: shm is built in' \
    json "d['adapters'][0]['name'] == 'shm' and d['adapters'][0]['from'] == 'built in'"
ok 'DAT_OVERRIDE=builtin: all are listed' json "all(a['listed'] for a in d['adapters'])"
ok 'DAT_OVERRIDE=builtin, --explain: status 0' run 0 --explain shm
ok 'DAT_OVERRIDE=builtin, --explain: it says so' says 'DAT_OVERRIDE is builtin'
ok '--explain shm: whether processes copy directly' says 'processes copy long messages and RDMA data '
export DAT_SHM_VM=0
ok 'DAT_SHM_VM=0, --explain shm: status 0' run 0 --explain shm
ok 'DAT_SHM_VM=0, --explain shm: it names the obstacle' says 'through shared memory' 'DAT_SHM_VM=0 in the environment'
unset DAT_SHM_VM
unset DAT_OVERRIDE
if [ ! -e /etc/dat.conf ] && [ ! -e /etc/rdma/dat.conf ]; then
    ok 'without a file: status 0' run 0 --json
    ok 'without a file: shm is built in, and not listed' \
        json "[(a['from'], a['listed']) for a in d['adapters'] if a['name'] == 'shm'] == [('built in', False)] * 2"
    ok 'without a file: it lists only RDMA devices' \
        json "all(a['listed'] == a['name'].startswith('verbs-') for a in d['adapters'])"
    run 0
    ok 'without a file: the table marks what is not listed' grep -qE '^shm .* built in, not listed ' "$work/out"
    ok 'without a file, --explain shm: status 0' run 0 --explain shm
    ok 'without a file, --explain shm: it says that it is not listed' says 'built in, and is not listed' 'Works now: shm'
fi
conf '# a comment' "$shm" \
    'gone u1.2 nonthreadsafe default libno-such-provider.so.1 ACME.1.0 "" ""' \
    'later u2.0 threadsafe default libdaplshm.so.2 libdat.2.0 "" ""' 'broken u1.2 perhaps'
ok 'a file: status 0, since one adapter opens' run 0
ok 'a file: one that does not open is not in the table' never_says 'does not open'
ok 'a file: why it does not open' says 'gone: cannot use libno-such-provider.so.1' 'cannot open shared object'
ok 'a file: the line that is no entry, once for both versions' \
    test "$(grep -cxF "$work/dat.conf:5: line ignored: field 3 is neither threadsafe nor nonthreadsafe" "$work/out")" = 1
ok 'a file, --all: status 0' run 0 --all
ok 'a file, --all: adapters with file and line' says "$work/dat.conf:2" "$work/dat.conf:3" 'NAME' 'ready' 'does not open'
ok 'a file: why one does not open, in the words of the loader' says 'libno-such-provider.so.1: cannot open shared object'
ok 'a file: adapters of both versions' grep -qE "^later +2\.0 .* $work/dat.conf:4" "$work/out"
ok 'a file, --api 1.2: status 0' run 0 --api 1.2
ok 'a file, --api 1.2: entries of the other version are no adapters' never_says later
run 0 --json
ok 'a file, --json: the same for programs' json "[(a['name'], a['opens'], a['thread_safe'], a['version'])
    for a in d['adapters']] == [('shm', True, True, '1.2'), ('gone', False, False, '1.2'), ('later', True, True, '2.0')]"
ok 'a file, --json: the library as it was found' \
    json "'/libdaplshm.so.' in d['adapters'][0]['library'] and d['adapters'][0]['library'][0] == '/'"
ok 'a file, --json: the line that is no entry' json "[l.split(': ')[0] for l in d['ignored']] == ['$work/dat.conf:5']"
ok 'a file, --json: the address' json "d['adapters'][0]['address'] == '127.0.0.1'"
"$info" 2>"$work/errors" | true
ok 'a reader that leaves: nothing on standard error' test ! -s "$work/errors"

# ---- Colours ----

# terminal VARIABLE=VALUE...: runs dat-info --explain on a terminal with these variables.
terminal()
{
    env TERM=xterm "$@" python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$info" --explain shm >"$work/out" 2>&1 \
        </dev/null
}
coloured() { grep -q "$(printf '\033')" "$work/out"; }
run 0 shm
ok 'no colour where there is no terminal' sh -c '! grep "$(printf "\033")" "$1"' colours "$work/out"
terminal
ok 'colours on a terminal' coloured
terminal NO_COLOR=1
ok 'no colour on a terminal under NO_COLOR' sh -c '! grep "$(printf "\033")" "$1" && grep -q rendezvous "$1"' colours "$work/out"

# ---- One adapter ----

ok 'dat-info shm: status 0' run 0 shm
ok 'dat-info shm: words with units' says 'Largest message' 'GiB' 'Private data of a connection' '512 bytes' 'yes'
ok 'dat-info shm --json: status 0' run 0 shm --json
ok 'dat-info shm --json: numbers under the names of dat_ia_query' json "d['adapter']['max_eps'] == 16384
    and d['provider']['max_private_data_size'] == 512 and d['provider']['is_thread_safe'] is True
    and d['provider']['srq_watermarks_supported'] == ['low', 'soft high', 'hard high']"
ok 'dat-info gone: status 1' run 1 gone
ok 'dat-info gone: the reason, and what to do next' says 'libno-such-provider' 'dat-info --explain gone'

# ---- What does not open, and why ----

# in_environment VARIABLE=VALUE STATUS ARGUMENT...: calls run() with this variable.
in_environment() (
    export "$1"
    shift
    run "$@"
)
ok 'DAT_DBG_DEST=1: the adapters are as without it' in_environment DAT_DBG_DEST=1 0
ok 'DAT_DBG_DEST=1: what opens, and why the other does not' says "$work/dat.conf:2" 127.0.0.1 \
    'libno-such-provider.so.1: cannot open shared object'
echo 'no library' >"$work/libbroken.so"
conf "$shm" "broken u1.2 threadsafe default $work/libbroken.so ACME.1.0 \"\" \"\""
ok 'DAT_DBG_TYPE=0: --explain of a broken file: status 1' in_environment DAT_DBG_TYPE=0 1 --explain broken
ok 'DAT_DBG_TYPE=0: the broken file is wrong, with the reason of the loader' \
    grep -qE "cannot use $work/libbroken.so: .*(too short|ELF)" "$work/out"
conf '# a comment' "$shm" \
    'gone u1.2 nonthreadsafe default libno-such-provider.so.1 ACME.1.0 "" ""' \
    'later u2.0 threadsafe default libdaplshm.so.2 libdat.2.0 "" ""' 'broken u1.2 perhaps'

ok '--explain: begins with what works now, and how to get RDMA' sh -c '
    "$0" --explain | { read -r first && [ "$first" = "In short" ] && read -r second && [ "${second#Works now: shm}" != "$second" ]; }' "$info"
ok '--explain: status 1, since lines are wrong' run 1 --explain
ok '--explain: a faulty line' says 'dat.conf:5: line ignored: field 3 is neither threadsafe' 'RDMA'
ok '--explain: no step without a fault' sh -c '! grep "^  ok " "$1"' steps "$work/out"
ok '--explain --all: status 1, since lines are wrong' run 1 --explain --all
ok '--explain --all: why this file' says "DAT_OVERRIDE names $work/dat.conf"
ok '--explain --all: each line with what is wrong with it' says "dat.conf:5: line ignored: field 3 is neither threadsafe" \
    "dat.conf:4: later is not used: it is for version 2.0" "dat.conf:2: shm by libdaplshm.so.1"
ok '--explain: the reason of the loader' says 'libno-such-provider.so.1: cannot open shared object file'
run 1 --explain --json
ok '--explain --json: chapters with steps' json "d['works'] == ['shm', 'later'] and any(s['state'] == 'wrong'
    and s['see'] == 'docs/troubleshooting.md#ignored-line' for c in d['chapters'] for s in c['steps'] if 'line ignored' in s['text'])"
ok '--explain shm: status 0, since only a line of another name is wrong' run 0 --explain shm
ok '--explain shm: it says where to read' says 'see: docs/troubleshooting.md#ignored-line'
conf "$shm" 'a u2.0 threadsafe default l.so A.2.0 "" ""' 'b u2.0 threadsafe default l.so A.2.0 "" ""' \
    'c u2.0 threadsafe default l.so A.2.0 "" ""'
ok '--explain: many lines for another version: status 0' run 0 --explain shm
ok '--explain: many lines for another version are one' says 'dat.conf: 3 lines from 2 to 4 are for other versions'
ok '--explain: none of them is said by itself' never_says 'is not used'
conf "$shm" 'future u3.0 threadsafe default l.so A.3.0 "" ""'
ok '--explain, a line for uDAPL 3.0: status 1' run 1 --explain
ok '--explain, a line for uDAPL 3.0: it is wrong, and what to write' \
    says 'WRONG' 'future is not used: it is for version 3.0, which does not exist: write u1.2 or u2.0' '#ignored-line'
conf 'one u1.2 threadsafe' 'two u2.0 threadsafe' "$shm" 'nine u1.2 threadsafe'
run 0
ok 'malformed lines: in the order of the file' \
    test "$(sed -n 's/.*dat.conf:\([0-9]*\): line ignored.*/\1/p' "$work/out" | tr -d '\n')" = 124
conf "$shm"
ok '--explain shm: without these lines, status 0' run 0 --explain shm
ok '--explain shm: the directory in which processes meet, and its owner' says "$work/meet belongs to you, user $(id -u)"
chmod 755 "$work/meet"
# refused NAME VARIABLE=VALUE...: runs a program on a terminal, which tries to open an adapter that lacks a resource.
# Without NAME, it asks for no errors.
refused()
{
    name=$1
    shift
    # shellcheck disable=SC2086 # no name, or one
    env "$@" python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$BIN/dat-ping" --self --count 1 $name \
        >"$work/out" 2>&1 </dev/null
}
refused '' TERM=dumb
ok 'a provider that refuses, on a terminal: one line names what shows more' \
    [ "$(grep -c 'libdat\[[0-9]*\]: shm: its provider cannot open it; "dat-info --explain shm" shows the reason' "$work/out")" = 1 ]
refused '' DAT_DBG_TYPE=0
ok 'a provider that refuses, on a terminal with DAT_DBG_TYPE=0: nothing' never_says 'its provider cannot open it'
"$BIN/dat-ping" shm --self --count 1 >"$work/out" 2>&1 </dev/null
ok 'a provider that refuses a named adapter: the cause, and what shows more' \
    says "error: shm: $work/meet: open to other users (mode 755)" 'dat-info --explain shm'
refused shm DAT_DBG_TYPE=0
ok 'a provider that refuses a named adapter, with DAT_DBG_TYPE=0: no line of a library' never_says 'libdat[' 'libdaplshm['
ok '--explain shm: a directory open to others: status 1' run 1 --explain shm
ok '--explain shm: what is wrong with it, and where to read' says "$work/meet: open to other users (mode 755); it has to be 700" \
    '#rendezvous-directory'
chmod 700 "$work/meet"

# ---- Configurations that give no adapter ----

for text in '' '# a comment' 'later u2.0 threadsafe default libdaplshm.so.2 libdat.2.0 "" ""'; do
    conf "$text"
    ok "a file that gives no adapter ($text): status 1" run 1 --explain --api 1.2
    ok "a file that gives no adapter ($text): it is wrong, and where to read" \
        says "WRONG  $work/dat.conf: none of its lines defines" 'see: docs/troubleshooting.md#no-adapter'
done
ok 'a file without a line for shm: it is told of one' says "$work/dat.conf has no line for shm"
conf "$shm"
run 0 --explain shm
ok 'a file with a line for shm: it is not' never_says 'has no line for shm'

# Test adapters without a device.
if [ -e "$LIB/libdaplverbs.so.1" ] && ! ls /sys/class/infiniband/* >/dev/null 2>&1; then
    conf "$shm" "$(seq 9 | sed 's/.*/eth& u1.2 threadsafe default libdaplverbs.so.1 libdat.1.2 "nowhere 0" ""/')"
    run 1 --explain
    ok 'nine adapters without a device: one chapter for all' says 'dat_ia_open of 9 adapters, version 1.2' \
        'there is no RDMA device' 'eth1 eth2 eth3 and 6 more' '#no-rdma-device'
    ok 'nine adapters without a device: none of them has its own' never_says 'dat_ia_open "eth1"'
    run 0 --explain shm
    ok 'nine other lines are not told one by one' says '9 lines have other names'
    run 0
    ok 'nine adapters without a device: one line has their number and the cause' \
        says '9 adapters do not open: there is no RDMA device (9); `dat-info --all` lists them.'
    ok 'nine adapters without a device: no line of their own' never_says 'eth1'
    run 0 --all
    ok 'nine adapters without a device, --all: a row and the cause of each' says 'does not open' 'eth1: searched for' 'eth9: searched for'
    conf "$shm"
fi

# The same for libraries that are missing. Each version has its own cause.
conf "$shm" "$(seq 5 | sed 's/.*/x& u1.2 threadsafe default libno-such-provider.so.1 ACME.1.0 "" ""/')" \
    'y u1.2 threadsafe default libno-such-other.so.1 ACME.1.0 "" ""'
ok 'five adapters without a library, --explain: status 1' run 1 --explain
ok 'five adapters without a library, --explain: one chapter for all, and one for the other' says \
    'dat_ia_open of 5 adapters, version 1.2' 'WRONG  cannot use libno-such-provider.so.1' 'x1 x2 x3 and 2 more' \
    'dat_ia_open "y", version 1.2'
ok 'five adapters without a library, --explain --all: status 1' run 1 --explain --all
ok 'five adapters without a library, --explain --all: all names' says 'x1 x2 x3 x4 x5'
run 1 --explain --json
ok 'five adapters without a library, --explain --json: all names and steps' json "
    sum('x1 x2 x3 x4 x5' in s['text'] for c in d['chapters'] for s in c['steps']) == 1
    and any(s['state'] == 'ok' for c in d['chapters'] for s in c['steps'])"
chmod 755 "$work/meet"
conf "$shm" "$(echo "$shm" | sed 's/u1\.2/u2.0/; s/so\.1 libdat\.1\.2/so.2 libdat.2.0/')"
ok 'a fault of both versions: status 1' run 1
ok 'a fault of both versions: one line, without a version' sh -c '[ "$(grep -c "open to other users" "$1")" = 1 ] &&
    grep -q "^shm: .*open to other users" "$1"' lines "$work/out"
chmod 700 "$work/meet"

# ---- Entries of one name ----

conf "$shm" 'shm u1.2 nonthreadsafe default libno-such-provider.so.1 ACME.1.0 "" ""' \
    'shm u1.3 threadsafe default libdaplshm.so.1 libdat.1.2 "" ""'
run 0 --json
ok 'entries of one name: each tells of itself' json "[(a['version'], a['thread_safe'], a['opens'])
    for a in d['adapters']] == [('1.2', True, True), ('1.2', False, False), ('1.3', True, True)]"
ok 'entries of one name, --explain: status 1' run 1 --explain --all
ok 'entries of one name, --explain: a chapter for each' says 'dat_ia_open "shm", version 1.2 threadsafe' \
    'dat_ia_open "shm", version 1.2 nonthreadsafe' 'dat_ia_open "shm", version 1.3 threadsafe'
ok 'entries of one name, --explain: the name works once' grep -qF 'Works now: shm (1.2). Try' "$work/out"

# ---- Names and words that are no plain text ----

odd=$(printf 'a\377b')
conf "$odd u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 \"$work/meet\" \"\""
ok 'a name that is not UTF-8: it opens' run 0
ok 'a name that is not UTF-8: all attributes' run 0 "$odd"
ok 'a name that is not UTF-8: nothing is wrong' run 0 --explain "$odd"
mkdir "$work/$odd"
cp "$LIB/libdat.so.1" "$LIB/libdaplshm.so.1" "$work/$odd"
conf "$shm"
ok 'a library whose path is not UTF-8: the adapter opens' run 0 --library "$work/$odd/libdat.so.1" --json
ok 'a library whose path is not UTF-8: both paths are told' json \
    "[p.endswith('/a\ufffdb/' + f) for p, f in ((d['libraries'][0], 'libdat.so.1'), (d['adapters'][0]['library'], 'libdaplshm.so.1'))] == [True, True]"
ok 'a library whose path is not UTF-8: all attributes' run 0 --library "$work/$odd/libdat.so.1" shm --json
conf "-x u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 \"$work/meet\" \"\""
run 0 --explain
ok 'a name that begins as an option: how to try it' says 'dat-ping --self --count 3 -- -x'
escape=$(printf '\033')
conf "a${escape}[31mb u1.2 threadsafe default lib${escape}[32m.so A.1.0 \"\" \"\"" "c${escape}]0;x u1.2 perhaps"
for arguments in '' --explain; do
    # shellcheck disable=SC2086 # no argument, or one
    run 1 $arguments
    ok "control characters in dat.conf $arguments: none reaches the terminal" never_says "$escape"
    ok "control characters in dat.conf $arguments: they are shown" says 'a\u{1b}[31mb'
done

# ---- Lines that cannot be used ----

# wrong NAME LINE: checks that dat-info reports LINE as an error of the adapter a.
wrong()
{
    conf "$shm" "$2"
    ok "$1: status 1" run 1 --explain a
    ok "$1: it is the library" says 'WRONG  it does not open' 'a: cannot use ' 'see: docs/troubleshooting.md#provider-library'
}
wrong 'a library that is not there' "a u1.2 threadsafe default $work/libnone.so A.1.0 \"\" \"\""
wrong 'a library that is none' "a u1.2 threadsafe default $work/libbroken.so A.1.0 \"\" \"\""
wrong 'a library that is a directory' "a u1.2 threadsafe default $work A.1.0 \"\" \"\""
wrong 'a library that is no provider' 'a u1.2 threadsafe default libc.so.6 A.1.0 "" ""'
conf "$shm" "a u1.2 threadsafe default libdaplshm.so.2 A.1.0 \"$work/meet\" \"\""
ok 'the name of a provider for 2.0 in a line of 1.2: it opens' run 0 --explain a
conf "$shm" "a u1.1 threadsafe default libdaplshm.so.1 A.1.0 \"$work/meet\" \"\""
ok 'a line of 1.1: status 1' run 1 --explain a
ok 'a line of 1.1: there is none for this version' says 'no entry of this name has the minor version' '#no-entry' \
    "$work/dat.conf:2 is for 1.1: write u1.2"
ok 'a line of 1.1: the others are fine' run 0 --explain shm
ok 'a line of 1.1: it is told' says 'a is for version 1.1' 'Works now: shm'
run 1 --explain
ok 'a line of 1.1: what to write' says 'WRONG' 'a is for version 1.1; for programs of 1.2, write u1.2' '#ignored-line'
run 0
ok 'a line of 1.1: it does not open' says 'a: its line is for uDAPL 1.1; for programs of 1.2, write u1.2'
conf "$shm" 'short u1.2 threadsafe default libdaplshm.so.1 A.1.0 ""'
ok 'a line without a field: status 0' run 0
ok 'a line without a field: it is below the table' says 'dat.conf:2: line ignored: field 8 of 8 is missing'
ok 'a line without a field: --explain: status 1' run 1 --explain short --api 1.2
ok 'a line without a field: the others are fine' run 0 --explain shm
run 1 --explain short --api 1.2
ok 'a line without a field: where to read' says '#ignored-line'
ok 'a line without a field: no line need be added' never_says '#no-entry'
conf "$shm"
ok '--explain nosuch: status 1' run 1 --explain nosuch
ok '--explain nosuch: the names that there are, and where to read' says 'there are: shm' '#no-entry'

# ---- Limits, and what is missing ----

for files in 8 10; do
    few() { (ulimit -n "$files" && exec "$info" "$@") >"$work/out" 2>&1 </dev/null; }
    few --explain shm
    ok "$files files: it says so, and where to read" says 'Too many open files' '#open-files'
done
ok '--explain without a library: status 1' run 1 --explain --library "$work/none.so"
ok '--explain without a library: a step that says so' says 'WRONG' "$work/none.so: cannot load the library" '#library-not-found'
if ! ldconfig -p 2>/dev/null | grep -q 'libdat\.so\.1 '; then
    mkdir -p "$work/alone/bin"
    cp "$info" "$work/alone/bin"
    alone() { env -u LD_LIBRARY_PATH "$work/alone/bin/dat-info" "$@" >"$work/out" 2>"$work/errors" </dev/null; }
    ok '--explain, no library for any program: status 1' sh -c '! "$@"' alone env -u LD_LIBRARY_PATH "$work/alone/bin/dat-info" --explain
    alone --explain
    ok '--explain, no library for any program: where it comes from' says 'WRONG  libdat.so.1: cannot load the library'
    alone --explain --json
    ok '--explain --json, no library for any program: one document with the error' \
        json "'libdat.so.1' in d['error'] and d['chapters'][0]['steps'][0]['state'] == 'wrong'"
    alone --json
    ok '--json, no library for any program: one document with the error' json "'libdat.so.1' in d['error']"
else
    skip 'no library for any program' 'the loader knows one'
fi
"$info" --json nosuch >"$work/out" 2>/dev/null </dev/null
ok '--json nosuch: one document with the error' json "d['name'] == 'nosuch' and 'does not open' in d['error']"
if unshare -rm sh -c 'mount -t tmpfs none /proc' 2>/dev/null; then
    # without_proc COMMAND...: runs dat-info without /proc. A provider may need /proc, but dat-info must list all
    # adapters.
    without_proc()
    {
        unshare -rm sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@" >"$work/out" 2>&1 </dev/null
        says "$work/dat.conf:1" && never_says 'the file of this program'
    }
    ok 'without /proc, by a path: the adapters are listed' without_proc "$info"
    ok 'without /proc, by PATH: the adapters are listed' without_proc env PATH="$BIN:$PATH" dat-info
    without_proc "$info" --explain shm
    ok 'without /proc, --explain shm: what is slower' says 'note   processes copy long messages' '/proc is not mounted' '#proc-file-system'
    ok 'without /proc, --explain shm: nothing is wrong' never_says WRONG
    without_proc "$BIN/dat-ping" shm --self --count 1
    ok 'without /proc: two processes connect' says '1 round, 1 complete, 0.0 % lost'
    unshare -rm sh -c 'mount -t tmpfs -o mode=700,nr_inodes=1 none "$0" && exec "$@"' "$work/meet" \
        "$info" --explain shm >"$work/out" 2>&1 </dev/null
    ok '--explain shm, no room where processes meet: where, and what to do' \
        says "$work/meet: No space left on device" 'make room (df, df -i'
else
    skip 'without /proc, and without room where processes meet' 'no user namespaces'
fi
conf "$shm" 'gone u1.2 nonthreadsafe default libno-such-provider.so.1 ACME.1.0 "" ""' \
    'later u2.0 threadsafe default libdaplshm.so.2 libdat.2.0 "" ""'

ok '--explain verbs-eth7: no such name: status 1' run 1 --explain verbs-eth7
ok '--explain verbs-eth7: what there is, and what works' says 'no entry has this name; there are: shm gone' 'Works now: shm'
ok '--explain later: only 2.0 has it: status 0' run 0 --explain later
ok '--explain later: it is explained for programs of 2.0' says 'dat_ia_open "later", version 2.0' 'Works now: later'
ok '--explain later: of 1.2 nothing is said' never_says 'version 1.2'
ok '--explain later --api 1.2: status 1' run 1 --explain later --api 1.2
ok '--explain later --api 1.2: it says why' says 'no entry of this name has the major version' '#no-entry'

conf "$shm" 'eth7 u1.2 threadsafe default libdaplverbs.so.1 libdat.1.2 "nowhere7 0" ""'
if [ -e "$LIB/libdaplverbs.so.1" ]; then
    ok '--explain eth7: no such device: status 1' run 1 --explain eth7
    ok '--explain eth7: what was searched for, and what is there' says 'searched for "nowhere7"' 'there is' 'RDMA device'
    ok '--explain eth7: where to read' grep -qE '#(instance-data|no-rdma-device)$' "$work/out"
else
    skip '--explain eth7: what was searched for' 'no libdaplverbs: see make'
fi

# ---- TCP ----

if [ -e "$LIB/libdapltcp.so.1" ]; then
    conf "$shm" 'a u1.2 threadsafe default libdapltcp.so.1 libdat.1.2 "tcp nowhere7" ""'
    ok '--explain of tcp on an interface that is not there: status 1' run 1 --explain a
    ok '--explain of tcp on an interface that is not there: it says so' says 'WRONG  it does not open' \
        'a: there is no network interface nowhere7: name one of' '#instance-data'
    DAT_OVERRIDE=builtin
    ok '--explain tcp-nowhere7: status 1' run 1 --explain tcp-nowhere7
    ok '--explain tcp-nowhere7: there is no such interface' says 'no entry has this name' 'there is no network interface nowhere7'
    ok '--explain tcp-lo, which is not listed: status 0' run 0 --explain tcp-lo
    ok '--explain tcp-lo: it is built in' says 'the entry of this name is built in' 'libdapltcp.so.1' \
        'Try it: dat-ping --self --count 3 tcp-lo'
    conf "$shm" 'a u1.2 threadsafe default libdapltcp.so.1 libdat.1.2 "nothing7 lo" ""'
    ok '--explain of instance data that do not begin with tcp: status 1' run 1 --explain a
    ok '--explain of instance data that do not begin with tcp: it says so' says 'WRONG  it does not open' \
        'instance data "nothing7 lo": its first word must be tcp, not nothing7' '#instance-data'
    DAT_OVERRIDE=builtin
    if unshare -rn true 2>/dev/null; then
        # without_network STATUS ARGUMENT...: does the same as run(), in a network with only the loopback interface.
        without_network()
        {
            wanted=$1
            shift
            unshare -rn sh -c 'PATH=$PATH:/sbin:/usr/sbin && ip link set lo up && exec "$@"' sh "$info" "$@" \
                >"$work/out" 2>&1 </dev/null
            got=$?
            [ $got -eq "$wanted" ] || { echo "exit status $got, not $wanted:"; cat "$work/out"; return 1; }
        }
        ok 'without a network: the built-in tcp does not open, shm does' without_network 0 --api 1.2
        ok 'without a network, --explain: nothing is wrong' without_network 0 --explain --api 1.2
        ok 'without a network, --explain tcp: status 1' without_network 1 --explain tcp
        ok 'without a network, --explain tcp: what to do' says 'WRONG  it does not open' \
            'no network interface leads to other hosts' 'name one of these: lo (127.0.0.1); tcp-lo connects' '#no-ip-address'
    else
        skip 'without a network' 'no user namespaces'
    fi
else
    skip '--explain of tcp' 'no libdapltcp'
fi

DAT_OVERRIDE=$work/none
ok '--explain: a file that does not exist: status 1' run 1 --explain shm
ok '--explain: it says so' says "$work/none: cannot be read" '#unreadable-configuration'

# ---- Providers that crash or hang ----

if command -v "${CC:-cc}" >/dev/null; then
    echo '#include <stdlib.h>
__attribute__((constructor)) static void crash(void) { abort(); }' >"$work/crash.c"
    if "${CC:-cc}" -shared -fPIC -o "$work/libcrash.so" "$work/crash.c"; then
        conf "crash u1.2 threadsafe default $work/libcrash.so A.1.0 \"\" \"\"" "$shm"
        ok 'a provider that crashes: the others are listed' run 0
        ok 'a provider that crashes: it says so' says 'ended with signal: 6'
    fi
else
    skip 'a provider that crashes' 'no C compiler'
fi

# ---- Without privileges ----

unset DAT_OVERRIDE
if [ "$(id -u)" -eq 0 ]; then
    printf '%s\n' "$shm" >"$work/dat.conf"
    chmod 644 "$work/dat.conf"
    nobody() { setpriv --reuid=65534 --clear-groups env DAT_OVERRIDE="$work/dat.conf" "$info" "$@" >"$work/out" 2>&1; }
    nobody --explain shm
    ok 'another user: the directory is not theirs' says 'belongs to user 0, not to user 65534' '#rendezvous-directory'
    mkdir -m 755 "$work/closed"
    printf 'shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 "%s" ""\n' "$work/closed/d" >"$work/dat.conf"
    nobody --explain shm
    ok 'another user: a directory that they cannot make' says "$work/closed/d: Permission denied" '#rendezvous-directory'
    printf '%s\n' "$shm" >"$work/closed/dat.conf"
    chmod 644 "$work/closed/dat.conf"
    chmod 700 "$work/closed"
    setpriv --reuid=65534 --clear-groups env DAT_OVERRIDE="$work/closed/dat.conf" "$info" --explain >"$work/out" 2>&1
    ok 'another user: a file that they cannot reach' says "$work/closed/dat.conf: cannot be read" 'Permission denied' \
        '#unreadable-configuration'
    chmod 755 "$work/closed"
    printf 'shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 "%s" ""\n' "$work/theirs" >"$work/dat.conf"
    mkdir -m 700 "$work/theirs" && chown 65534 "$work/theirs"
    ok 'another user: their own directory' nobody shm
    limited() { setpriv --reuid=65534 --clear-groups prlimit --nproc=1:1 "$info" --json >"$work/out" 2>"$work/errors"; }
    if command -v prlimit >/dev/null; then
        DAT_OVERRIDE=$work/dat.conf
        export DAT_OVERRIDE
        limited
        ok 'no thread and no process can be made: that is why the adapter does not open' \
            json "'cannot create a process' in d['adapters'][0]['why']"
        unset DAT_OVERRIDE
    else
        skip 'no thread and no process can be made' 'no prlimit'
    fi
    chmod 600 "$work/dat.conf"
    nobody --explain
    ok 'another user: a file that they may not read' says 'Permission denied' '#unreadable-configuration'
else
    skip 'another user' 'not root'
fi

echo "1..$number"
exit $failed
