#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# info.sh - what dat-info says, of this host and of configurations made for the purpose. Prints TAP; all.sh sets $BIN
# and $LIB.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
# Others may look into it: an unprivileged user runs here as well.
chmod 755 "$work"
info=$BIN/dat-info
. "$(dirname "$0")/../common/tap.sh"

# run STATUS ARGUMENT...: runs dat-info, keeps both outputs in $work/out, and compares the exit status.
run()
{
    wanted=$1
    shift
    "$info" "$@" >"$work/out" 2>&1 </dev/null
    got=$?
    [ $got -eq "$wanted" ] || { echo "exit status $got, not $wanted:"; cat "$work/out"; return 1; }
}

# says TEXT...: each of these was printed by the last run.
says()
{
    for text in "$@"; do
        grep -qF -e "$text" "$work/out" || { echo "not said: $text"; cat "$work/out"; return 1; }
    done
}

never_says()
{
    ! says "$@" >/dev/null || { cat "$work/out"; return 1; }
}

# json EXPRESSION: the last run printed JSON, of which this is true; `d` is the value.
json()
{
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(0 if eval("(%s)" % sys.argv[2]) else repr(d))' \
        "$work/out" "$1"
}

# mends LINE: the commands behind "mend:" in the last output do what they say.
mends()
{
    sed -n 's/^ *mend: //p' "$work/out" >"$work/commands"
    [ -s "$work/commands" ] || { echo 'no command'; cat "$work/out"; return 1; }
    sh -e "$work/commands"
}

# conf LINE...: a configuration of these lines.
conf()
{
    printf '%s\n' "$@" >"$work/dat.conf"
    DAT_OVERRIDE=$work/dat.conf
    export DAT_OVERRIDE
}

mkdir -m 700 "$work/meet"
shm="shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 \"$work/meet\" \"\""

# ---- Arguments ----

ok 'dat-info --help: status 0' run 0 --help
ok 'dat-info --help: usage, options, exit status and examples' says 'Usage: dat-info' '--explain' 'Exit status' 'Examples'
ok 'dat-info --help: what the tool uses for itself is not shown' never_says --probe
ok 'dat-info --nonsense: status 2' run 2 --nonsense
ok 'dat-info --version: the version of the project' run 0 --version
ok 'dat-info --library: a file that is not there: status 1' run 1 --library "$work/libdat.so.1"
ok 'dat-info --library: it says which file, and why not' says "$work/libdat.so.1" 'No such file'
ok 'dat-info --library: the file that is named is used' run 0 --library "$LIB/libdat.so.1" --json
ok 'dat-info --library: it is told which' json "d['library'].endswith('/libdat.so.1')"

# Installed, but in no folder where the loader looks: only the tool finds the library.
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
        'the loader does not find it: libdat.so.1: cannot open' "echo $tree/lib >/etc/ld.so.conf.d"
    command=$(sed -n 's/^ *mend: export //p' "$work/out")
    ok 'the library beside the tool: the command that it names' test -n "$command"
    ok 'after that command: status 0' installed "$(eval "printf %s \"$command\"")"
    ok 'after that command: the loader finds it' says "ok     $tree/lib/libdat.so.1"
    echo 'no library' >"$tree/broken/libdat.so.1"
    ok 'a broken file where the loader looks: that one beside the tool is not taken' \
        sh -c '! "$@"' broken env LD_LIBRARY_PATH="$tree/broken" "$tree/bin/dat-info" --explain shm
    unset DAT_OVERRIDE
fi

# ---- The table ----

if [ -e /etc/dat.conf ] || [ -e /etc/rdma/dat.conf ]; then
    skip 'without a file: shm is built in' 'this host has a dat.conf'
else
    ok 'without a file: status 0' run 0 --json
    ok 'without a file: shm is built in' \
        json "d['adapters'][0]['name'] == 'shm' and d['adapters'][0]['from'] == 'built in'"
fi
conf '# a comment' "$shm" \
    'gone u1.2 nonthreadsafe default libno-such-provider.so.1 ACME.1.0 "" ""' \
    'later u2.0 threadsafe default libdaplshm.so.2 libdat.2.0 "" ""' 'broken u1.2 perhaps'
ok 'a file: status 0, since one adapter opens' run 0
ok 'a file: adapters with file and line' says "$work/dat.conf:2" "$work/dat.conf:3" 'NAME' 'ready' 'does not open'
ok 'a file: why one does not open, in the words of the loader' says 'libno-such-provider.so.1: cannot open shared object'
ok 'a file: entries of other versions are no adapters' never_says later
run 0 --json
ok 'a file, --json: the same for programs' json "[(a['name'], a['opens'], a['thread_safe'], a['version'])
    for a in d['adapters']] == [('shm', True, True, '1.2'), ('gone', False, False, '1.2')]"
ok 'a file, --json: the library as it was found' \
    json "d['adapters'][0]['library'].endswith('/libdaplshm.so.1') and d['adapters'][0]['library'][0] == '/'"
ok 'a file, --json: the address' json "d['adapters'][0]['address'] == '127.0.0.1'"
"$info" 2>"$work/errors" | true
ok 'a reader that leaves: nothing on standard error' test ! -s "$work/errors"

# ---- Colours ----

# terminal VARIABLE=VALUE...: dat-info --explain on a terminal; keeps what it writes there.
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

# in_environment VARIABLE=VALUE STATUS ARGUMENT...: as run, with that in the environment.
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
    grep -qE "WRONG +its library $work/libbroken.so cannot be used: .*(too short|ELF)" "$work/out"
conf '# a comment' "$shm" \
    'gone u1.2 nonthreadsafe default libno-such-provider.so.1 ACME.1.0 "" ""' \
    'later u2.0 threadsafe default libdaplshm.so.2 libdat.2.0 "" ""' 'broken u1.2 perhaps'

ok '--explain: status 1, since lines are wrong' run 1 --explain
ok '--explain: why this file' says "DAT_OVERRIDE names $work/dat.conf"
ok '--explain: each line with what is wrong with it' says "dat.conf:5: line ignored: field 3 is neither threadsafe" \
    "dat.conf:4: later takes no part: it is for version 2.0" "dat.conf:2: shm by libdaplshm.so.1"
ok '--explain: the reason of the loader' says 'libno-such-provider.so.1: cannot open shared object file'
ok '--explain: ends with what works now, and how to get RDMA' says 'Works now: shm' 'RDMA'
run 1 --explain --json
ok '--explain --json: chapters with steps' json "d['works'] == ['shm'] and any(s['state'] == 'wrong'
    and s['mend'][0].startswith('sed -i') for c in d['chapters'] for s in c['steps'] if 'line ignored' in s['text'])"
ok '--explain shm: status 1, since a line is wrong' run 1 --explain shm
ok '--explain shm: the command that it names takes the line out' mends
ok '--explain shm: after that, status 0' run 0 --explain shm
ok '--explain shm: the directory in which processes meet, and its owner' says "$work/meet belongs to you, user $(id -u)"

chmod 755 "$work/meet"
ok '--explain shm: a directory open to others: status 1' run 1 --explain shm
ok '--explain shm: what is wrong with it' says 'its mode is 755, and has to be 700'
ok '--explain shm: the command that it names mends that' mends
ok '--explain shm: after that, status 0' run 0 --explain shm

ok '--explain verbs-eth7: no such name: status 1' run 1 --explain verbs-eth7
ok '--explain verbs-eth7: what there is, and what works' says 'no entry has this name; there are: shm gone' 'Works now: shm'
ok '--explain verbs-eth7: the line that would be its entry' says 'libdaplverbs.so.1 libdat.1.2 "eth7 0"'
ok '--explain later: only for another version' run 1 --explain later
ok '--explain later: it says so' says 'are for another version of the interface than 1.2'

conf "$shm" 'eth7 u1.2 threadsafe default libdaplverbs.so.1 libdat.1.2 "nowhere7 0" ""'
if [ -e "$LIB/libdaplverbs.so.1" ]; then
    ok '--explain eth7: no such device: status 1' run 1 --explain eth7
    ok '--explain eth7: what was looked for, and what is there' says 'looked for "nowhere7"' 'there is' 'RDMA device'
else
    skip '--explain eth7: what was looked for' 'no libdaplverbs: see make'
fi

DAT_OVERRIDE=$work/none
ok '--explain: a file that does not exist: status 1' run 1 --explain shm
ok '--explain: it says so' says "$work/none: cannot be read" 'mend: unset DAT_OVERRIDE'

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
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && setpriv --reuid=65534 --clear-groups test -x "$info" &&
    setpriv --reuid=65534 --clear-groups test -r "$LIB/libdat.so.1"; then
    printf '%s\n' "$shm" >"$work/dat.conf"
    chmod 644 "$work/dat.conf"
    nobody() { setpriv --reuid=65534 --clear-groups env DAT_OVERRIDE="$work/dat.conf" "$info" "$@" >"$work/out" 2>&1; }
    nobody --explain shm
    ok 'another user: the directory is not theirs' says 'belongs to user 0, mode 700, and you are user 65534'
    printf 'shm u1.2 threadsafe default libdaplshm.so.1 libdat.1.2 "%s" ""\n' "$work/theirs" >"$work/dat.conf"
    mkdir -m 700 "$work/theirs" && chown 65534 "$work/theirs"
    ok 'another user: their own directory' nobody shm
    chmod 600 "$work/dat.conf"
    nobody --explain
    ok 'another user: a file that they may not read' says 'Permission denied' "chmod a+r $work/dat.conf"
else
    skip 'another user' 'not root, or no other user may read these directories'
fi

echo "1..$number"
exit $failed
