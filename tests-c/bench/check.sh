#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# check.sh PROGRAMS LIBDIR - tests the benchmark: programs, table, figure, and a short run. Prints TAP.
set -u
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 2 ] || { sed -n '4p' "$0" >&2; exit 2; }
programs=$(cd "$1" && pwd) libdir=$(cd "$2" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

made=0 failed=0
# result STATUS NAME: prints the result of a test, and after a failure $work/log, which explains it.
result()
{
    made=$((made + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $made - $2"
    else
        failed=$((failed + 1))
        echo "not ok $made - $2"
        sed 's/^/# /' "$work/log"
    fi
}

# ---- The program ----

mkdir "$work/lib" && mkdir -m 700 "$work/meet"
for name in libdat libdaplshm; do
    file=$libdir/$name.so.1
    [ -e "$file" ] || file=$libdir/$name.so
    ln -s "$file" "$work/lib/$name.so.1"
done
for name in shm shm-other; do
    echo "$name u1.2 threadsafe default $work/lib/libdaplshm.so.1 libdat.1.2 \"$work/meet\" \"\""
done >"$work/dat.conf"
DAT_OVERRIDE=$work/dat.conf
export DAT_OVERRIDE

# bench NAMES ARGUMENTS...: checks that bench succeeds, and prints a positive value for each name.
bench()
{
    names=$1
    shift
    LD_LIBRARY_PATH=$work/lib timeout 60 "$programs/bench" "$@" --limit 50 >"$work/log" 2>&1 &&
        awk -v names="$names" '
            { value[$1] = $2 }
            END {
                n = split(names, name, " ")
                for (i = 1; i <= n; i++)
                    if (!(value[name[i]] > 0)) { print name[i] ": no value"; failed = 1 }
                exit failed
            }' "$work/log" >>"$work/log"
    result $? "bench: $*"
}

# tests-c/tools/perf.sh tests transfers with dat-perf.
for past in nothing churned crowded connections second no_membarrier; do
    bench round round --past "$past"
done
bench 'median p99 overall' watch_lat --size 4096 --iterations 50 --looks 1
for how in '' --wait; do
    bench 'median overall' send_lat --size 64 --iterations 50 $how
    bench 'median overall rate bandwidth' send_bw --size 5000 --iterations 300 $how
done
bench 'median overall' watched --size 65536 --iterations 50
bench 'rate bandwidth' send_bw --size 64 --iterations 300 --outstanding 16 --in-turn
bench 'time memory memory_idle' connections --iterations 200
bench rate all_to_all --processes 4 --size 64 --iterations 50
bench rate all_to_all --processes 4 --size 64 --iterations 50 --wait
bench 'dat_evd_dequeue(empty) dat_get_handle_type(live) dat_get_handle_type(NULL) dat_ep_get_status
    dat_srq_query dat_srq_post_recv' calls

LD_LIBRARY_PATH=$work/lib timeout 60 "$programs/bench" send_lat --adapter nowhere >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q 'dat_ia_open: DAT_PROVIDER_NOT_FOUND' "$work/log"
result $? 'bench: an adapter that is not there: says so'
LD_LIBRARY_PATH=$work/lib "$programs/bench" send_lat --size 0 >"$work/log" 2>&1
[ $? -eq 2 ]
result $? 'bench: no bytes: refused'

for test in cache_line futex futex_late writev writev_pong readv memcpy tcp_pong tcp_epoll tcp_epoll_late \
    tcp_stream tcp_watched; do
    timeout 60 "$programs/marks" $test 64 50 -1,-1 >"$work/log" 2>&1 &&
        awk '$1 == "median" || $1 == "bandwidth" { if ($2 > 0) seen++ } END { exit seen != 2 }' "$work/log"
    result $? "marks: $test"
done

if [ -x "$programs/ucx_connections" ]; then
    UCX_TLS=shm,self timeout 60 "$programs/ucx_connections" 50 >"$work/log" 2>&1 &&
        awk '$1 == "time" || $1 == "memory" { if ($2 > 0) seen++ } END { exit seen != 2 }' "$work/log"
    result $? 'ucx_connections'
fi

# ---- The table, from known numbers of three rounds ----

cat >"$work/rows" <<'END'
# ---- Times ----
quick | fast | a : median | ucx b : median | <= 1.0 | <= 1.5
quick | slow | c : median | ucx b : median | <= 1.0 | <= 1.5
quick | near | d : median | ucx b : median | <= 1.0 | <= 1.5
full | of another set | a : median | ucx b : median | - | -
quick | without its other side | a : median | ucx e : median | - | -
# ---- Rates ----
quick | rate | a : rate | ucx b : rate | >= 1.0 | >= 0.7
END
cat >"$work/raw" <<'END'
round,command,result,value,unit
1,ours a,median,50,ns
1,ucx b,median,100,ns
1,ours c,median,400,ns
1,ours d,median,110,ns
1,ours a,rate,2000000,1/s
1,ucx b,rate,2500000,1/s
2,ours a,median,300,ns
2,ucx b,median,400,ns
2,ours c,median,800,ns
2,ours d,median,480,ns
2,ours a,rate,3000000,1/s
2,ucx b,rate,4000000,1/s
3,ours a,median,80,ns
3,ucx b,median,100,ns
3,ours c,median,200,ns
3,ours d,median,100,ns
3,ours a,rate,1000000,1/s
3,ucx b,rate,2000000,1/s
END
# For example "fast": the ratios of the rounds are 0.5, 0.75 and 0.8; the medians of both sides are 80 and 100.
cat >"$work/expected" <<'END'
fast 80.0 ns 275% ucx b 100 ns 300% 0.75 0.50-0.80 <= 1.0 <= 1.5 target met
slow 400 ns 100% ucx b 100 ns 300% 2.00 2.00-4.00 <= 1.0 <= 1.5 MISSED
near 110 ns 336% ucx b 100 ns 300% 1.10 1.00-1.20 <= 1.0 <= 1.5 must met
rate 2.00 M/s 50% ucx b 2.50 M/s 60% 0.75 0.50-0.80 >= 1.0 >= 0.7 must met
4 rows have a target: 1 meet it, 1 miss what they must.
END
awk -f "$here/table.awk" -v sets=quick "$work/rows" "$work/raw" >"$work/table" 2>&1
{
    awk '{ $1 = $1 } /^(fast|slow|near|rate|of another|without) / ' "$work/table"
    tr '\n' ' ' <"$work/table" | sed -n 's/.* \([0-9]* rows have a target.*must\.\).*/\1/p'
    echo
} | sed '/^$/d' >"$work/got"
diff "$work/expected" "$work/got" >"$work/log"
result $? 'table: medians, spread, ratios of rounds, what is met'

# ---- The figure ----

cat >"$work/raw" <<'END'
round,command,result,value,unit
1,ours send_lat --size 8,median,100,ns
1,ours send_lat --size 64,median,10000,ns
2,ours send_lat --size 8,median,1000,ns
3,ours send_lat --size 8,median,2000,ns
END
awk -v machine='a <machine> & "more"' -f "$here/lines.awk" "$work/raw" >"$work/lines" 2>"$work/log" &&
    $XTASK chart <"$work/lines" >"$work/svg" 2>>"$work/log" &&
    grep -q '"points": \[\[8, 1000\], \[64, 10000\]\]' "$work/lines" && grep -q 'a &lt;machine&gt; &amp; more' "$work/svg" &&
    [ "$(grep -c '<polyline' "$work/svg")" -eq 1 ] && [ "$(tail -n 1 "$work/svg")" = '</svg>' ]
result $? 'figure: medians, lines only for what ran'
if command -v xmllint >/dev/null; then
    xmllint --noout "$work/svg" >"$work/log" 2>&1
    result $? 'figure: well-formed'
fi

# ---- A short run ----

QUICK=1 ROUNDS=2 PROGRESS=none ROWS='8 B, polling|SRQ to without' "$here/bench.sh" "$programs" "$libdir" \
    "$work/out" >"$work/log" 2>&1
status=$?
if [ "$status" -eq 77 ]; then
    made=$((made + 1))
    echo "ok $made - bench.sh: a short run # SKIP $(tail -n 1 "$work/log")"
else
    [ "$status" -eq 0 ] && grep -q '^8 B, SRQ to without .* ns ' "$work/log" &&
        grep -q '^64 B, SRQ to without .*/s ' "$work/log" &&
        grep -qx '.* processors; Linux .*; libdat [0-9.]*; [0-9-]*' "$work/log" &&
        [ "$(grep -c '^[12],ours send_lat --size 8,median,[0-9.e+]*,ns$' "$work/out/shm.csv")" -eq 2 ]
    result $? 'bench.sh: a short run'
    QUICK=1 ROUNDS=1 PROGRESS=none ROWS='8 B, polling' AGAINST=$libdir "$here/bench.sh" "$programs" "$libdir" \
        "$work/out" >"$work/log" 2>&1 && grep -q '^send_lat --size 8 .* before ' "$work/log"
    result $? 'bench.sh: two versions of the libraries'
fi
# Each row has all its parts.
awk -F'|' '!/^#/ && !/^ *$/ && NF != 6 && NF != 7 { print; bad = 1 }
    !/^#/ && NF >= 6 && ($3 !~ / : / || $4 !~ / : / || $5 !~ /^ (-|[<>]= [0-9.]+) $/ || $6 !~ /^ (-|[<>]= [0-9.]+) *$/) {
        print; bad = 1 }
    END { exit bad }' "$here/rows.txt" >"$work/log"
result $? 'rows.txt: each row has its parts'
echo "1..$made"
[ "$failed" -eq 0 ]
