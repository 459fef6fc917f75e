#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# programs.sh ADAPTER - Debian's programs with our libdat2 and our provider; see pairs.sh. Prints TAP.

. "$(dirname "$0")/pairs.sh"

with_library 'our libdat2'
# On an emulated machine the tests below would take minutes. wire.sh tests the device.
case $ia in verbs-*) finish ;; esac

pair 'dtest -w: 4 MiB' listens "$done_dtest" dtest -P "$ia" -s -w -- dtest -P "$ia" -h localhost -w
for options in -p -c -w '-W' '-D -B 100'; do
    # shellcheck disable=SC2086 # words are wanted
    pair "dtest $options" listens "$done_dtest" \
        dtest -P "$ia" -s -b 4096 $options -- dtest -P "$ia" -h localhost -b 4096 $options
done
pair 'dtestcm -w' listens "$done_dtestcm" \
    dtestcm -P "$ia" -w -- dtestcm -P "$ia" -h localhost -w
pair 'dtestcm -m: 100 service points' listens "$done_dtestcm" \
    dtestcm -P "$ia" -m -- dtestcm -P "$ia" -h localhost -m
pair 'dtestsrq: one endpoint' 'ready on port' "$done_dtestsrq" \
    dtestsrq -P "$ia" -- dtestsrq -P "$ia" -h "$address"
pair 'dtestsrq: 100 endpoints, bursts of 100' 'ready on port' "$done_dtestsrq" \
    dtestsrq -P "$ia" -c 100 -B 100 -- dtestsrq -P "$ia" -h "$address" -c 100 -B 100
pair 'dtestsrq -S 0: receives of the endpoints' 'ready on port' 'RC none SRQ Test Complete' \
    dtestsrq -P "$ia" -S 0 -c 10 -B 10 -- dtestsrq -P "$ia" -h "$address" -S 0 -c 10 -B 10

if supports DAT_IB_UD 'dtestx, dtestcm and dtestsrq with other options of datagrams'; then
    for options in '-u -m' '-U 20' '-U 20 -m'; do
        # shellcheck disable=SC2086 # words are wanted
        pair "dtestx $options: datagrams" introduced "$done_dtestx_ud" \
            dtestx -P "$ia" $options -s -v -- dtestx -P "$ia" $options -c -h localhost
    done
    pair 'dtestcm -u -w: datagrams' listens "$done_dtestcm" \
        dtestcm -P "$ia" -u -w -- dtestcm -P "$ia" -u -h localhost -w
    pair 'dtestsrq -u: one endpoint of datagrams' 'ready on port' 'UD SRQ Test Complete' \
        dtestsrq -P "$ia" -u -- dtestsrq -P "$ia" -u -h "$address"
    pair 'dtestsrq -u -S 0: receives of the endpoints of datagrams' 'ready on port' 'UD none SRQ Test Complete' \
        dtestsrq -P "$ia" -u -S 0 -c 10 -B 10 -- dtestsrq -P "$ia" -u -h "$address" -S 0 -c 10 -B 10
fi

daplserver
daplclient 'dapltest: sends' "$done_transaction" T -i 1000 client SR 256 server SR 256
daplclient 'dapltest: RDMA writes and reads, both ways' "$done_transaction" T -i 1000 \
    client RW 4096 1 server RW 2048 4 server RR 1024 1 client RR 2048 1 client SR 1024 3 -f server SR 256 3 -f
daplclient 'dapltest: 4 threads, 8 endpoints each' "$done_transaction" T -i 100 -t 4 -w 8 \
    client SR 256 server RW 4096 server SR 256 client SR 256 server RR 4096 server SR 256
daplclient 'dapltest: polling' "$done_transaction" T -i 1000 -P client SR 1024 server SR 1024
daplclient 'dapltest: reserved service points' "$done_transaction" T -i 1000 -r client SR 1024 server SR 1024
daplclient 'dapltest: rate of RDMA writes' "$done_performance" P -i 1000 RW 4096 2
daplclient 'dapltest: rate of RDMA reads, polled' "$done_performance" P -i 1000 -m p RR 4096 2
daplquit dapltest
for limit in ia pz cno evd ep rsp psp lmr; do
    alone "dapltest: limit_$limit" 's \(created\|opened\): 1000' dapltest -T L -D "$ia" -m 1000 limit_$limit
done
alone 'dapltest: limit_rpost' 'posted per EP: 200' dapltest -T L -D "$ia" -m 200 limit_rpost
alone 'dapltest: limit_size_lmr' 'LMR of 0x[0-9a-f]* bytes OK' dapltest -T L -D "$ia" limit_size_lmr

# Each case prints PASS or FAIL, except one of queryinfo, in which Debian's C library crashes.
for cases in hwconn:4 endpoint:3 pz:3 mem:5 queryinfo:17 connmgt:2; do
    start "$work/client" dapltest -T F -D "$ia" -f "${cases%:*}" -s "$address"
    good=0
    ended "$pid" "dapltest -T F -f ${cases%:*}" || good=1
    [ "$(grep -c 'Result: PASS' "$work/client")" -eq "${cases#*:}" ] || good=1
    ! grep -q 'Result: FAIL' "$work/client" || good=1
    result $good "dapltest -T F -f ${cases%:*}: ${cases#*:} cases"
    [ $good -eq 0 ] || show_output "$work/client"
done

finish
