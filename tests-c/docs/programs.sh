#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# programs.sh - compiles the examples with cc and pkg-config against an installed tree, and runs them and the example of
# the crate dat over shm and over TCP on the loopback interface. Prints TAP.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 2
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
limit=$(awk -v scale="${DAT_TEST_SCALE:-1}" 'BEGIN { print int(100 * scale) }')
. "$root/tests-c/common/tap.sh"

# compiles NAME VERSION: compiles the program, which must cause no warnings, because users copy it.
compiles()
{
    cc -std=c99 -Wall -Wextra -Werror "$examples/$1.c" $(pkg-config --cflags --libs "$2") -o "$work/$1"
}

# runs NAME ADAPTER TEXT: runs the program, which must print the line TEXT.
runs()
{
    timeout "$limit" "$work/$1" "$2" && grep -qxF "$3" "$work/output"
}

# meets SERVER CLIENT ADAPTER: runs a server and a client. The client's message must arrive.
meets()
{
    : >"$work/server.out"
    timeout "$limit" "$work/$1" "$3" >"$work/server.out" 2>&1 &
    server=$!
    until grep -qx waiting "$work/server.out"; do
        kill -0 "$server" || return 1
        sleep 0.02
    done
    timeout "$limit" "$work/$2" "$3" localhost >"$work/client.out" && wait "$server" && server= && grep -x 'received: hello' "$work/server.out"
}

# binding ADAPTER: runs the example of the crate dat, whose second process sends the message.
binding()
{
    timeout "$limit" cargo run --quiet --locked --manifest-path "$root/Cargo.toml" -p dat --example message "$1" &&
        grep -qx 'received: hello' "$work/output"
}

# fails NAME: runs the program, which must report that the adapter does not exist.
fails()
{
    "$work/$1" nosuch
    [ $? = 1 ] && grep -q 'DAT_PROVIDER_NOT_FOUND' "$work/output"
}

# Variables of the calling make would change what is installed.
unset MAKEFLAGS MFLAGS MAKELEVEL
for variable in $(env | sed -n 's/^\(DA[TP]L*_[A-Z_]*\)=.*/\1/p'); do
    [ "$variable" = DAT_TEST_SCALE ] || unset "$variable"
done
ok 'make install' make -C "$root" install PREFIX="$work/libdat"
examples=$work/libdat/share/doc/libdat/examples
export PKG_CONFIG_PATH="$work/libdat/lib/pkgconfig" LD_LIBRARY_PATH="$work/libdat/lib"
for source in "$root"/examples/*.c; do
    name=$(basename "$source" .c)
    grep -q '<dat2/' "$source" && version=dat2 || version=dat
    ok "$name.c: compiles" compiles "$name" $version
    ok "$name: fails if the adapter does not exist" fails "$name"
done
for adapter in shm tcp-lo; do
    ok "hello over $adapter" meets hello hello $adapter
    ok "hello2 over $adapter" meets hello2 hello2 $adapter
    ok "hello2 sends to hello over $adapter" meets hello hello2 $adapter
    ok "rdma over $adapter" runs rdma $adapter '4096 bytes written and read back'
    ok "srq over $adapter" runs srq $adapter '103 messages, 5 of 8 buffers in the queue'
    ok "hello2 sends to epoll over $adapter" meets epoll hello2 $adapter
    ok "datagrams over $adapter" meets datagrams datagrams $adapter
    ok "datagrams over $adapter: the reply arrives" grep -qx 'received: hello to you' "$work/client.out"
    ok "the example of the crate dat over $adapter" binding $adapter
done
echo "1..$number"
exit $failed
