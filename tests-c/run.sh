#!/bin/sh
# run.sh - runs test programs, counts their TAP lines, prints one closing line.
#
#   run.sh -i ADAPTER -l LIBDIR [-a 1.2|2.0] [-t SECONDS] [-o OUTDIR] [-p PATTERN]
#          [-g] [-q "NAME ..."] [-n "NAME ..."] [-x DIR] [-v] PROGRAM...
#
#   -i ADAPTER  interface adapter for the programs to open (argument 1 and $DAT_IA)
#   -l LIBDIR   directory with libdat and the provider libraries
#   -a API      the interface for which the programs are compiled: 1.2, the default, or 2.0
#   -t SECONDS  longest time for one program, before scaling (default 120)
#   -o OUTDIR   directory for the outputs and, but for tcp, a private dat.conf (default: a temporary one)
#   -p PATTERN  run only programs whose "subject/name" matches this basic expression
#   -g          run under valgrind, with longer deadlines
#   -q "NAMES"  programs that run with smaller numbers ($DAT_TEST_QUICK)
#   -n "NAMES"  programs in which valgrind does not look for leaks
#   -x DIR      second processes (common/peer.h) are the programs in DIR, which were built for the other
#               interface with the libraries in DIR/lib-*, as LIBDIR is called
#   -v          print the whole output of every program
#
# A PROGRAM is an executable or a shell script (*.sh); both print TAP on
# standard output. The exit status is 0 when nothing failed. A program that
# dies, does not keep its plan or runs out of time counts as one more failure.
set -u

ia=shm libdir= api=1.2 limit=120 out= pattern=. memcheck=0 quick= no_leaks= others= verbose=0
here=$(cd "$(dirname "$0")" && pwd)

while getopts i:l:a:t:o:p:gq:n:x:v opt; do
    case $opt in
    i) ia=$OPTARG ;;
    l) libdir=$(cd "$OPTARG" && pwd) || exit 2 ;;
    a) api=$OPTARG ;;
    t) limit=$OPTARG ;;
    o) out=$OPTARG ;;
    p) pattern=$OPTARG ;;
    g) memcheck=1 ;;
    q) quick=$OPTARG ;;
    n) no_leaks=$OPTARG ;;
    x) others=$(cd "$OPTARG" && pwd) || exit 2 ;;
    v) verbose=1 ;;
    *) sed -n '2,22p' "$0" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))

if [ -z "$out" ]; then
    out=$(mktemp -d) || exit 2
    trap 'rm -rf "$out"' EXIT
else
    mkdir -p "$out" || exit 2
    out=$(cd "$out" && pwd)
fi
: "${DAT_TEST_SCALE:=1}"
if [ $memcheck = 1 ]; then
    [ "$DAT_TEST_SCALE" = 1 ] && DAT_TEST_SCALE=10
    DAT_TEST_VALGRIND=1
    export DAT_TEST_VALGRIND
fi
export DAT_TEST_SCALE

case $api in
1.2) other=2.0 ;;
2.0) other=1.2 ;;
*) echo "run.sh: the interface is 1.2 or 2.0, not $api" >&2; exit 2 ;;
esac

# entries API DIR: lines for the providers in DIR.
entries()
{
    line="u$1 threadsafe default $2"
    end=so.${1%%.*}
    echo "shm $line/libdaplshm.$end dat.1.0 \"\" \"\""
    # The adapter that was asked for, and one for each RDMA device that has a network interface.
    case $ia in
    verbs-*) echo "$ia $line/libdaplverbs.$end dat.1.0 \"${ia#verbs-} 0\" \"\"" ;;
    esac
    for dev in /sys/class/infiniband/*; do
        net=$(cat "$dev/ports/1/gid_attrs/ndevs/0" 2>/dev/null) || continue
        echo "verbs-$net $line/libdaplverbs.$end dat.1.0 \"$net 0\" \"\""
    done
}

# The programs get a private configuration, so that the one in /etc does not matter. The names of tcp are built in.
if [ -n "$libdir" ]; then
    conf=$out/dat.conf
    path=$libdir
    case $ia in
    tcp | tcp-*) conf=builtin ;;
    *)
        {
            echo "# name api threads default library provider instance platform"
            entries "$api" "$libdir"
            if [ -n "$others" ]; then
                entries "$other" "$others/${libdir##*/}"
            fi
        } >"$conf" ;;
    esac
    if [ -n "$others" ]; then
        path=$path:$others/${libdir##*/}
        DAT_TEST_PEERS=$others
        export DAT_TEST_PEERS
    fi
    DAT_OVERRIDE=$conf
    LD_LIBRARY_PATH=$path${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    DAT_TEST_LIBDIR=$libdir
    export DAT_OVERRIDE LD_LIBRARY_PATH DAT_TEST_LIBDIR
fi
DAT_IA=$ia DAT_TEST_API=$api
# For codes/complete.sh, which looks at what the others have written.
DAT_TEST_RESULTS=$out DAT_TEST_PATTERN=$pattern
export DAT_IA DAT_TEST_API DAT_TEST_RESULTS DAT_TEST_PATTERN

# Tests that read diagnostics ask for them themselves.
unset DAT_DBG_TYPE DAPL_DBG_TYPE DAT_DBG_DEST DAPL_DBG_DEST DAT_LOG RUST_LOG

valgrind_command="valgrind --quiet --error-exitcode=99 --fair-sched=yes --trace-children=yes
    --suppressions=$here/valgrind.supp"
leaks="--leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite"

# among NAME NAMES: succeeds if the name is one of the names.
among()
{
    case " $2 " in *" $1 "*) true ;; *) false ;; esac
}

# run FILE PROGRAM: runs the program, keeps its output in $out/FILE.tap and $out/FILE.err, and sets
# $status.
run()
{
    file=$1 program=$2
    seconds=$(awk "BEGIN { s = int($limit * $DAT_TEST_SCALE); print (s < 3600 ? s : 3600) }")
    small=${DAT_TEST_QUICK:-0}
    among "$file" "$quick" && small=1
    case $program in
    *.sh) set -- sh "$program" "$ia" ;;
    *) if [ $memcheck = 1 ]; then
           check=$leaks
           among "$file" "$no_leaks" && check=--leak-check=no
           # shellcheck disable=SC2086 # words are wanted
           set -- $valgrind_command $check "$program" "$ia"
       else
           set -- "$program" "$ia"
       fi ;;
    esac
    # timeout(1) makes a process group, so that the processes that the program leaves can be ended.
    DAT_TEST_QUICK=$small timeout -k 10 "$seconds" "$@" \
        >"$out/$file.tap" 2>"$out/$file.err" </dev/null &
    group=$!
    wait "$group"
    status=$?
    kill -s KILL -- "-$group" 2>/dev/null
    group=
}
group=
trap '[ -n "$group" ] && kill -s KILL -- "-$group" 2>/dev/null; exit 130' INT TERM

# count FILE STATUS: reads TAP from the file and prints "passed failed skipped verdict". The verdict is
# "-", or the reason why the program as a whole failed.
count()
{
    awk -v status="$2" '
        /^ok [0-9]+/ {
            made++
            if (toupper($0) ~ /# SKIP/) skipped++; else passed++
        }
        /^not ok [0-9]+/ { made++; failed++ }
        /^1\.\.[0-9]+/ {
            plan = substr($1, 4) + 0; planned = 1
            if (plan == 0) skipped++
        }
        /^Bail out!/ { bailed = 1 }
        END {
            why = "-"
            if (status == 124 || status == 137) why = "ran out of time"
            else if (bailed) why = "bailed out"
            else if (status == 99) why = "valgrind found errors"
            else if (status > 128) why = "killed by signal " (status - 128)
            else if (!planned) why = "ended without a plan, status " status
            else if (plan != made) why = "planned " plan " subtests, made " made + 0
            else if (status != 0 && failed == 0) why = "exit status " status
            if (why != "-") failed++
            print passed + 0, failed + 0, skipped + 0, why
        }' "$1"
}

# failures FILE: prints the failed subtests, each with the comment lines before and after it.
failures()
{
    awk '/^not ok/ { printf "%s", before; before = ""; show = 1; print "    " $0; next }
         /^Bail out!/ { printf "%s", before; before = ""; print "    " $0; next }
         /^#/ { if (show) print "    " $0; before = show ? "" : before "    " $0 "\n"; next }
         { show = 0; before = "" }' "$1"
}

# name_of PROGRAM: sets $name to its subject and name.
name_of()
{
    name=${1%/*}
    name=${name##*/}/${1##*/}
}

# One process looks for all that matches: one for each program takes minutes on an emulated machine.
wanted=$(for program; do name_of "$program" && echo "$name"; done | grep -e "$pattern" | tr '\n' ' ')
passed=0 failed=0 skipped=0
reasons=$out/reasons
: >"$reasons"
for program; do
    name_of "$program"
    among "$name" "$wanted" || continue
    file=${name%%/*}.${name#*/}
    start=$(date +%s)
    run "$file" "$program"
    set -- $(count "$out/$file.tap" "$status")
    p=$1 f=$2 s=$3
    shift 3
    why=$*
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    printf '%-34s %4d passed %3d failed %3d skipped  %3ds\n' \
        "$name" "$p" "$f" "$s" $(($(date +%s) - start))
    [ $verbose = 1 ] && sed 's/^/    /' "$out/$file.tap"
    if [ "$f" -gt 0 ]; then
        [ $verbose = 0 ] && failures "$out/$file.tap"
        if [ "$why" != - ]; then
            echo "    $name: $why; the last lines of its output:"
            tail -n 3 "$out/$file.tap" | sed 's/^/    | /'
        fi
        tail -n 40 "$out/$file.err" | sed 's/^/    ! /'
    fi
    sed -n 's/^ok [0-9]*.*# SKIP *//p; s/^1\.\.0 *# SKIP *//p' "$out/$file.tap" |
        sed "s|\$| ($name)|" >>"$reasons"
done

if [ -s "$reasons" ]; then
    echo "skipped:"
    sort "$reasons" | uniq -c | sed 's/^/  /'
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
