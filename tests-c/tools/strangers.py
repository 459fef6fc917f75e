#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""strangers.py PING - what those do to a server over TCP who are no programs of uDAPL: dat-ping serves on, its descriptors
come back, and it rests while nobody speaks. Prints TAP."""

import os
import random
import resource
import socket
import subprocess
import sys
import time

PING = sys.argv[1]
SILENT = 2000
PATIENCE = 60
# The first bytes of a request for a connection of libfabric's provider tcp: version, type, and the length of the data behind.
HALF = bytes([1, 1, 0, 0]) + (16).to_bytes(4, "big")

number = failed = 0


def ok(good, what):
    global number, failed
    number += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {what}", flush=True)


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def listens(port):
    with open("/proc/net/tcp") as table:
        return any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A" for line in table.readlines()[1:])


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def processor_time(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    silent = min(SILENT, hard // 2)
    port = free_port()
    server = subprocess.Popen([PING, "tcp-lo", "-q", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def connect(words=b""):
        stranger = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        stranger.sendall(words)
        return stranger

    def serves(what):
        try:
            ping = [PING, "tcp-lo", "127.0.0.1", "-q", str(port), "--count", "1"]
            done = subprocess.run(ping, capture_output=True, timeout=PATIENCE, text=True)
            good, said = done.returncode == 0, done.stderr
        except subprocess.TimeoutExpired:
            good, said = False, f"no answer in {PATIENCE} s"
        ok(good and server.poll() is None, f"{what}: the server serves")
        if not good:
            print(f"# {said.strip()}")

    try:
        ok(wait_for(lambda: listens(port)), "the server listens")
        serves("before")
        before = descriptors(server.pid)

        chance = random.Random(7)
        for _ in range(50):
            try:
                connect(chance.randbytes(chance.randrange(1, 2000))).close()
            except ConnectionError:
                pass
        serves("50 strangers with garbage")
        half = [connect(HALF[:n]) for n in range(1, len(HALF) + 1)]
        serves(f"{len(half)} strangers with a part of a greeting")
        for stranger in half:
            stranger.close()
        # An HTTP client, as a scanner of ports is one.
        connect(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").close()
        serves("a browser")

        strangers = [connect() for _ in range(silent)]
        serves(f"{silent} strangers that say nothing")
        began = processor_time(server.pid)
        time.sleep(2)
        used = processor_time(server.pid) - began
        ok(used < 0.2, f"{silent} strangers that say nothing: the server rests")
        if used >= 0.2:
            print(f"# {used:.2f} s of 2 s")
        for stranger in strangers:
            stranger.close()
        ok(wait_for(lambda: descriptors(server.pid) <= before), "when they have gone, their descriptors come back")
        if descriptors(server.pid) > before:
            print(f"# {descriptors(server.pid)}, before {before}")
        serves("after")
    finally:
        server.kill()
        server.wait()
    print(f"1..{number}")
    return 1 if failed else 0


sys.exit(main())
