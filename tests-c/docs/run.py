#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the commands and programs in documents. Prints TAP.

    run.py [--machine] DOCUMENT...

Each document starts in an empty directory with a fresh shell. All share one private $HOME, so later documents can use what
earlier ones install. If $HOME/udapl does not exist when a document starts, this program installs it.

A block `sh` contains commands. A block `text` contains the output of the commands before it, standard error included.
Other blocks are not used, unless they are contents of files. Exports and the current directory persist between blocks of
commands. A hidden comment on the line before a block describes it:

    <!-- test: WORDS -->

    commands:
      skip, REASON  are not executed
      tree          run in the source tree
      fails         the last one must fail
      any           the last one may exit with 1
      server        run in the background during the following blocks
      verbs         need the provider verbs
      needs=TOOL    need a program, or a module of python3, that may be missing
      namespaces    need user and pid namespaces
      first, second run on one of two hosts: network namespaces with the addresses 192.0.2.7 and 192.0.2.8
      device, root  need an RDMA device, or change the machine: require --machine; sudo has no effect there
    text:
      numbers       matches any numbers
      server        is the output of the last server, for which this program waits
    any language:
      FILE          the block is the contents of this file, whose name contains a dot

Two comments are blocks themselves. `<!-- test: fixture NAME -->` runs tests-c/docs/fixtures/NAME.sh, with the source tree
in $sources. If a comment does not end on its first line, the lines up to `-->` are commands.

In a text, "..." matches the rest of a word or line, and on a separate line any lines. Spaces match any number of
spaces. Links within the tree must lead to an existing file, and to a heading in it.

If a row of a table begins with a number and then a name of the headers, both must agree in each version that has the
name. If it begins with two numbers, they are for 1.2 and 2.0, and "-" stands for a version without the name. A document
with rows of an enumeration of COMPLETE must have a row for each of its values.

--machine is for the virtual machine of tests-c/verbs/vm.sh, which tests may change. There, libraries and tools are used in
the build directory, because copies take minutes. CARGO_TARGET_DIR names it. $DAT_TEST_SCALE multiplies all timeouts.
"""

import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = Path(__file__).resolve().parent / "fixtures"
TIMEOUT = 100 * float(os.environ.get("DAT_TEST_SCALE", "1"))
# Documents that install libdat themselves.
INSTALLING = ("README", "getting-started")
# The virtual machine has no sudo.
AS_ROOT = 'sudo() { "$@"; }\n'
COMPLETE = ("DAT_EVENT_NUMBER", "DAT_IB_EVENT_NUMBER", "DAT_DTO_COMPLETION_STATUS", "DAT_RETURN_TYPE")
# Numbers that extensions define, not the interface.
RANGES = ("DAT_EXTENSION_BASE", "DAT_IB_EXTENSION_RANGE_BASE")
CLASS_ERROR = 0x80000000
ONLY_WITH_MACHINE = {"device": "needs an RDMA device", "root": "changes the machine, as root"}


class Block:
    """A block: its line in the document, its language, the words of its comment, and its text."""

    def __init__(self, line, kind, words, text):
        self.line, self.kind, self.text = line, kind, text
        self.skipped = words.removeprefix("skip,").strip() if words.startswith("skip,") else None
        words = [] if self.skipped else words.split()
        self.file = next((word for word in words if "." in word and "=" not in word), None)
        self.marks = set(words) - {self.file}


def blocks(document):
    """Returns the blocks of a document. Fences may be indented, as in lists."""
    found, words, start, hidden = [], "", None, None
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if hidden is not None:
            if line.strip() == "-->":
                found.append(Block(start, "sh", words, hidden))
                words, start, hidden = "", None, None
            else:
                hidden += line + "\n"
            continue
        fence = re.match(r"( *)```(.*)", line)
        if fence and start is None:
            start, indent, kind, text = number, len(fence[1]), fence[2].strip(), []
        elif fence:
            found.append(Block(start, kind, words, "\n".join(text) + "\n"))
            start, words = None, ""
        elif start is not None:
            text.append(line[indent:])
        elif comment := re.match(r" *<!-- test:(.*?)(-->)?$", line):
            words = comment[1].strip()
            if not comment[2]:
                start, hidden = number, ""
            elif words.startswith("fixture "):
                name = words.removeprefix("fixture ")
                text = (FIXTURES / f"{name}.sh").read_text()
                found.append(Block(number, "sh", "", f"# fixture {name}\nsources={shlex.quote(str(ROOT))}\n{text}"))
                words = ""
        elif line.strip():
            words = ""
    return found


def anchors(document):
    """Returns the anchors of a document's headings."""
    headings = re.findall(r"^#+ (.*)", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def broken_links(document):
    """Yields the links of a document, within this tree, that have no target."""
    for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
        if not re.match(r"\w+:", link):
            name, _, anchor = link.partition("#")
            place = document.parent / name if name else document
            if not place.exists() or (anchor and anchor not in anchors(place)):
                yield link


def enumerations(version):
    """Returns the enumerations in the headers of a version: for each, the values of its names."""
    found = {}
    for header in sorted((ROOT / "include" / version).glob("*.h")):
        for body, name in re.findall(r"^typedef enum \w+ \{$(.*?)^\} (\w+);", header.read_text(), re.MULTILINE | re.DOTALL):
            found[name] = {key: int(value, 0) for key, value in re.findall(r"^ +(\w+) = (\w+),", body, re.MULTILINE)}
    return found


def wrong_numbers(document):
    """Yields the rows whose numbers differ from the headers, and the values that have no row."""
    versions = [enumerations(version) for version in ("dat", "dat2")]
    names = [{name: value for values in enums.values() for name, value in values.items()} for enums in versions]
    number = r"\| (-|0x[0-9A-F]+|\d+) "
    rows = re.findall(rf"^{number}(?:{number})?\| `(DAT_\w+)` \|.*", document.read_text(), re.MULTILINE)
    for first, second, name in rows:
        if not any(name in values for values in names):
            yield f"{name}: in no header"
        for given, values in zip((first, second or first), names):
            known = values.get(name)
            # Return codes are shown with the class bit, which the headers do not contain.
            fits = given != "-" and known is not None and int(given, 0) in (known, known | CLASS_ERROR)
            if not fits and (known is not None or second and given != "-"):
                yield f"{name}: {given}, but {'not' if known is None else hex(known)} in the headers"
    shown = {name for _, _, name in rows}
    for enums in versions:
        for enum in (name for name in COMPLETE if shown & set(enums.get(name, ()))):
            yield from (f"{name}: no row" for name in enums[enum] if name not in shown and name not in RANGES)


def pattern(text, numbers):
    """Returns the regular expression for a text of a document."""
    lines = []
    for line in text.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
            continue
        parts = []
        for part in re.split(r"(\.\.\.| +|\d+(?:\.\d+)?)", line.strip()):
            if part == "...":
                parts.append(".*")
            elif part.startswith(" "):
                parts.append(" +")
            elif numbers and re.fullmatch(r"\d+(?:\.\d+)?", part):
                parts.append(r"\d+(?:\.\d+)?")
            else:
                parts.append(re.escape(part))
        lines.append(" *" + "".join(parts) + " *\n")
    return re.compile("".join(lines))


def shows(text, numbers, output):
    """Returns whether the output matches the text."""
    if output and not output.endswith("\n"):
        output += "\n"
    return pattern(text, numbers).fullmatch(output.replace("\t", " ")) is not None


class Results:
    """Counts and prints the tests."""

    def __init__(self):
        self.count = self.failed = 0

    def line(self, good, name, skipped=None, lines=()):
        self.count += 1
        self.failed += not good
        print("ok" if good else "not ok", self.count, "-", name + (f" # SKIP {skipped}" if skipped else ""))
        for line in lines:
            print("#", line)
        sys.stdout.flush()


class Hosts:
    """Two hosts and a wire, to which their default routes lead. end() removes them."""

    ADDRESSES = {"first": "192.0.2.7", "second": "192.0.2.8"}

    def __init__(self):
        self.processes = {}
        self.make("first", ["unshare", "--user", "--map-root-user", "--net"])
        # In the user namespace of the first host, which creates the wire.
        self.make("second", [*self.on("first"), "unshare", "--net"])
        self.run("first", f"ip link add eth0 type veth peer name eth0 netns {self.processes['second'].pid}")
        for host, address in self.ADDRESSES.items():
            self.run(host, f"ip addr add {address}/24 dev eth0; ip link set lo up; ip link set eth0 up; ip route add default dev eth0")

    def make(self, host, command):
        """Creates namespaces, which exist as soon as their process has written a line."""
        process = subprocess.Popen([*command, "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdout.readline()
        self.processes[host] = process

    def on(self, host):
        """Returns the prefix for a command on a host."""
        return ["nsenter", "--target", str(self.processes[host].pid), "--user", "--net", "--preserve-credentials"]

    def run(self, host, script):
        subprocess.run([*self.on(host), "sh", "-ec", script], check=True)

    def end(self):
        for process in self.processes.values():
            process.communicate()


class Server:
    """Commands in the background."""

    def __init__(self, command, environment, directory):
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command, env=environment, cwd=directory, stdin=subprocess.DEVNULL,
            stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True)

    def text(self):
        self.output.seek(0)
        return self.output.read().decode(errors="replace")

    def shows_soon(self, block):
        end = time.monotonic() + TIMEOUT
        while not (good := shows(block.text, "numbers" in block.marks, self.text())):
            if time.monotonic() > end:
                break
            time.sleep(0.02)
        return good

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(TIMEOUT)
        self.output.close()


class Session:
    """The state between blocks: directory, environment and servers."""

    def __init__(self, directory, environment):
        self.directory, self.environment, self.servers, self.hosts = directory, environment, [], None
        self.output = ""

    def place(self, block):
        """Returns the prefix for the commands of a block."""
        host = next(iter(block.marks & {"first", "second"}), None)
        if host:
            self.hosts = self.hosts or Hosts()
        return self.hosts.on(host) if host else []

    def run(self, block):
        """Runs commands. Returns whether they exit as expected."""
        directory = ROOT if "tree" in block.marks else self.directory
        if "server" in block.marks:
            command = [*self.place(block), "sh", "-ec", block.text]
            self.servers.append(Server(command, self.environment, directory))
            return True
        with tempfile.NamedTemporaryFile() as state:
            # Saves the state even if the last command fails.
            script = (f"trap 'dat_status=$?; {{ env -0; printf %s \"$PWD\"; }} >{shlex.quote(state.name)};"
                      f" exit $dat_status' EXIT\nset -e\n{AS_ROOT if 'root' in block.marks else ''}{block.text}")
            process = subprocess.Popen(
                [*self.place(block), "sh", "-c", script], env=self.environment, cwd=directory, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                output, _ = process.communicate(timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                # Kill the process group, because processes that the shell started would keep the pipe open.
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
                self.output = output.decode(errors="replace") + f"no end after {TIMEOUT} seconds\n"
                return False
            self.output = output.decode(errors="replace")
            *variables, where = state.read().decode().split("\0")
        self.environment = dict(variable.split("=", 1) for variable in variables)
        if "tree" not in block.marks:
            self.directory = Path(where)
        if "any" in block.marks:
            return process.returncode in (0, 1)
        return (process.returncode != 0) == ("fails" in block.marks)

    def shows(self, block):
        if "server" in block.marks:
            good = self.servers[-1].shows_soon(block)
            self.output = self.servers[-1].text()
            return good
        return shows(block.text, "numbers" in block.marks, self.output)

    def end(self):
        for part in [*self.servers, self.hosts]:
            if part:
                part.end()


def reason(block, machine, home):
    """Returns why a block cannot run here, or None."""
    if "verbs" in block.marks and not (home / "udapl/lib/libdaplverbs.so.1").exists():
        return "no libdaplverbs: see make"
    for tool in (mark.removeprefix("needs=") for mark in block.marks if mark.startswith("needs=")):
        if not shutil.which(tool) and not importlib.util.find_spec(tool):
            return f"no {tool} here"
    if block.marks & {"namespaces", "first", "second"} and subprocess.run(
            ["unshare", "--user", "--map-root-user", "--net", "--pid", "--fork", "--mount-proc", "ip", "link", "set", "lo", "up"],
            stderr=subprocess.DEVNULL).returncode != 0:
        return "unshare is refused here, or there is no ip"
    if "tree" in block.marks and machine:
        return "runs outside of the virtual machine"
    if block.skipped:
        return block.skipped
    needs = [ONLY_WITH_MACHINE[mark] for mark in sorted(block.marks & set(ONLY_WITH_MACHINE))]
    return ", ".join(needs) + ": runs in the virtual machine" if needs and not machine else None


def check(document, directory, environment, machine, results):
    """Runs all blocks of a document."""
    broken = list(broken_links(document))
    results.line(not broken, f"{document.name}: its links lead to what there is", None, broken)
    wrong = list(wrong_numbers(document))
    results.line(not wrong, f"{document.name}: its numbers are those of the headers", None, wrong)
    session, skipped = Session(directory, environment), None
    for block in blocks(document):
        first = next((line for line in block.text.splitlines() if not line.startswith("#")), "").strip()
        name = f"{document.name}:{block.line}: {first}".replace(" # ", " ")
        if block.file:
            (session.directory / block.file).write_text(block.text)
        elif block.kind == "sh":
            skipped = reason(block, machine, Path(environment["HOME"]))
            good = skipped is not None or session.run(block)
            results.line(good, name, skipped, () if good else session.output.splitlines())
            # The following blocks depend on this one.
            if not good:
                break
        elif block.kind == "text" and skipped is None:
            good = session.shows(block)
            results.line(good, f"{name}: printed as shown", None, () if good else session.output.splitlines())
    session.end()


def reader(home):
    """Returns the environment of a user who has just logged in, with the tests' compilers."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("DAT_", "DAPL_", "MAKE", "MFLAGS", "RUST_LOG", "LD_", "PKG_CONFIG"))}
    for name, place in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")):
        kept.setdefault(name, str(Path.home() / place))
    return {**kept, "HOME": str(home), "LC_ALL": "C", "CARGO_TERM_COLOR": "never"}


def main():
    arguments = sys.argv[1:]
    machine = "--machine" in arguments
    documents = [Path(name).resolve() for name in arguments if name != "--machine"]
    if not documents:
        sys.exit(__doc__)
    results = Results()
    with tempfile.TemporaryDirectory() as home:
        environment = reader(home)
        for document in documents:
            if machine:
                target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
                (Path(home) / "udapl").mkdir(exist_ok=True)
                for part in ("bin", "lib"):
                    (Path(home) / "udapl" / part).symlink_to(target / part)
            elif document.stem not in INSTALLING and not (Path(home) / "udapl").exists():
                subprocess.run(["make", "-C", ROOT, "install", f"PREFIX={home}/udapl"],
                               env=environment, check=True, stdout=subprocess.DEVNULL)
            directory = Path(home) / document.stem
            directory.mkdir()
            check(document, directory, environment, machine, results)
    print(f"1..{results.count}")
    return int(results.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
