#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tries docs/examples as services of systemd and of compose, and prints TAP.

    examples.py BINARIES

BINARIES is the folder with the tools, whose libraries are in ../lib. The services of compose run in user, pid and mount
namespaces of their own, with their volumes. tests-c/packages/packages.sh carries out the steps of the Containerfile.
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
PATIENCE = 60 * float(os.environ.get("DAT_TEST_SCALE", "1"))
made = failed = 0


def result(good, name, told=""):
    global made, failed
    made += 1
    failed += not good
    print("ok" if good else "not ok", made, "-", name)
    if not good:
        print("\n".join(f"# {line}" for line in told.splitlines()))


def skip(name, why):
    global made
    made += 1
    print("ok", made, "-", name, "# SKIP", why)


def unit(binaries, work):
    """systemd finds no fault in the unit; its program is where it was built."""
    name = "systemd: dat-server.service has no fault"
    if not shutil.which("systemd-analyze"):
        return skip(name, "no systemd-analyze here")
    text = (EXAMPLES / "dat-server.service").read_text()
    (work / "dat-server.service").write_text(text.replace("/usr/bin/", f"{binaries}/"))
    ran = subprocess.run(["systemd-analyze", "verify", "--man=no", work / "dat-server.service"], capture_output=True, text=True)
    # It also tells of faults in the units of the machine.
    about = [line for line in ran.stderr.splitlines() if "dat-server" in line]
    return result(not about and "RuntimeDirectory=dat\n" in text, name, "\n".join(about))


def contained(binaries, work, service, volumes):
    """The command that runs a service of compose in namespaces of its own, with its volumes."""
    mounts = []
    for volume in service["volumes"]:
        source, target = volume.split(":")
        source = work / volumes[source]
        mounts.append(f"mkdir -p {target} && mount --bind {source} {target}")
    script = "mount -t tmpfs none /run && " + " && ".join(mounts) + ' && exec "$@"'
    return ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
            "sh", "-c", script, "sh", str(binaries / service["command"][0]), *service["command"][1:]]


def ends_well(command, environment, server):
    """Starts the client again, as compose does, until it ends well."""
    end = time.monotonic() + PATIENCE
    while True:
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        if ran.returncode == 0 or server.poll() is not None or time.monotonic() > end:
            return ran
        time.sleep(0.05)


def compose(binaries, work):
    """The services of the compose file reach each other through their volume."""
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
    for folder in volumes.values():
        (work / folder).mkdir(mode=0o700)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("DAT_", "DAPL_"))}
    environment = {**kept, "DAT_OVERRIDE": str(EXAMPLES / "shm.conf"), "LD_LIBRARY_PATH": str(binaries.parent / "lib")}
    server, client = (contained(binaries, work, described["services"][of], volumes) for of in ("server", "client"))
    with subprocess.Popen(server, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        ran = ends_well(client, environment, running)
        running.kill()
        told = running.communicate()[0] + ran.stdout + ran.stderr
    return result(ran.returncode == 0 and re.search("3 rounds, 3 complete", ran.stdout) is not None, name, told)


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
