#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# wire.sh ADAPTER - Debian's programs over a device, with our libraries at one end and Debian's at the other; see
# pairs.sh. Both ends use the same adapter name, because a server sends its adapter name to its client. Prints TAP.
. "$(dirname "$0")/pairs.sh"

case $ia in
verbs-*) ;;
*)
    echo "1..0 # SKIP $ia needs no device, and Debian has no provider for it"
    exit
    ;;
esac
echo "$ia u2.0 nonthreadsafe default $theirs/libdaplofa.so.2 dapl.2.0 \"$instance\" \"\"" >"$work/their.conf"

# use LIBDAT PROVIDER: selects the libraries of the next end, each "ours" or "theirs".
use()
{
    case $1 in ours) libraries=$ours ;; *) libraries=$theirs ;; esac
    case $2 in ours) conf=$work/dat.conf ;; *) conf=$work/their.conf ;; esac
}

# Libraries of the ends; $way names one of these functions.
we_serve() { case $1 in server) use ours ours ;; *) use theirs theirs ;; esac; }
they_serve() { case $1 in server) use theirs theirs ;; *) use ours ours ;; esac; }
mixed() { case $1 in server) use ours theirs ;; *) use theirs ours ;; esac; }
at() { "$way" "$1"; }

for way in we_serve they_serve; do
    says=$(echo "$way" | tr _ ' ')
    immediate "$says"
    daplserver
    daplclient "$says: dapltest: transactions, data compared" "$done_transaction" T -i 20 -V \
        client SR 4096 2 server SR 4096 2 client RW 8192 1 server RR 4096 1
    daplquit "$says: dapltest"
    pair "$says: dtestcm: 50 endpoints" listens "$done_dtestcm" \
        dtestcm -P "$ia" -c 50 -- dtestcm -P "$ia" -c 50 -h localhost
done
way=mixed
pair 'either libdat2 over the provider of the other make: dtest' listens "$done_dtest" \
    dtest -P "$ia" -s -b 4096 -- dtest -P "$ia" -h localhost -b 4096
finish
