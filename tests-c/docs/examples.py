#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests docs/examples as services of systemd and compose. Prints TAP.

    examples.py BINARIES

BINARIES is the directory with the tools; the libraries are in ../lib. Services of compose run in separate namespaces with
their volumes. tests-c/packages/packages.sh executes the Containerfile.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "docs/examples"
TIMEOUT = 60 * float(os.environ.get("DAT_TEST_SCALE", "1"))
made = failed = 0


def result(good, name, output=""):
    global made, failed
    made += 1
    failed += not good
    print("ok" if good else "not ok", made, "-", name)
    if not good:
        print("\n".join(f"# {line}" for line in output.splitlines()))


def skip(name, why):
    global made
    made += 1
    print("ok", made, "-", name, "# SKIP", why)


def unit(binaries, work):
    """Verifies the unit, with the built program."""
    name = "systemd: dat-server.service has no fault"
    if not shutil.which("systemd-analyze"):
        return skip(name, "no systemd-analyze here")
    text = (EXAMPLES / "dat-server.service").read_text()
    (work / "dat-server.service").write_text(text.replace("/usr/bin/", f"{binaries}/"))
    ran = subprocess.run(["systemd-analyze", "verify", "--man=no", work / "dat-server.service"], capture_output=True, text=True)
    # systemd also reports errors in other units of the machine.
    about = [line for line in ran.stderr.splitlines() if "dat-server" in line]
    return result(not about and "RuntimeDirectory=dat\n" in text, name, "\n".join(about))


def contained(binaries, work, service, volumes):
    """Returns the command that runs a service of compose in separate namespaces with its volumes."""
    mounts = []
    for volume in service["volumes"]:
        source, target = volume.split(":")
        source = work / volumes[source]
        mounts.append(f"mkdir -p {target} && mount --bind {source} {target}")
    script = "mount -t tmpfs none /run && " + " && ".join(mounts) + ' && exec "$@"'
    return ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
            "sh", "-c", script, "sh", str(binaries / service["command"][0]), *service["command"][1:]]


def ends_well(command, environment, server):
    """Restarts the client until it succeeds, as compose does."""
    end = time.monotonic() + TIMEOUT
    while True:
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
        if ran.returncode == 0 or server.poll() is not None or time.monotonic() > end:
            return ran
        time.sleep(0.05)


def compose(binaries, work):
    """Checks that the services reach each other through their volume."""
    name = "compose: the client reaches the server through the volume"
    try:
        import yaml
    except ImportError:
        return skip(name, "no module yaml for python3 here")
    if subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "true"],
                      stderr=subprocess.DEVNULL).returncode != 0:
        return skip(name, "unshare is refused here")
    described = yaml.safe_load((EXAMPLES / "compose.yaml").read_text())
    volumes = {volume: f"volume-{volume}" for volume in described["volumes"]}
    for directory in volumes.values():
        (work / directory).mkdir(mode=0o700)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("DAT_", "DAPL_"))}
    environment = {**kept, "DAT_OVERRIDE": str(EXAMPLES / "shm.conf"), "LD_LIBRARY_PATH": str(binaries.parent / "lib")}
    server, client = (contained(binaries, work, described["services"][of], volumes) for of in ("server", "client"))
    with subprocess.Popen(server, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        ran = ends_well(client, environment, running)
        running.kill()
        output = running.communicate()[0] + ran.stdout + ran.stderr
    return result(ran.returncode == 0 and re.search("3 rounds, 3 complete", ran.stdout) is not None, name, output)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    binaries = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as work:
        unit(binaries, Path(work))
        compose(binaries, Path(work))
    print(f"1..{made}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
