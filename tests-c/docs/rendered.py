#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests docs/render.py and the links between the pages that it writes. Prints TAP."""

import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Required links, so that a page without links does not pass.
WANTED = (
    ("index.html", "docs/srq.html"),
    ("index.html", "docs/man/libdat.7.html"),
    ("docs/getting-started.html", "man/libdat.7.html"),
    ("docs/man/libdat.7.html", "dat_ep_connect.3.html"),
    ("docs/man/dat-info.1.html", "../troubleshooting.html"),
    ("docs/man/dat_srq_create.3.html", "../../examples/srq.c"),
)
# Required texts: what the index says of pages, and a table of contents.
TEXTS = (
    ("index.html", "<dd>This page shows how to build libdat"),
    ("index.html", "<dd>wait for events and dequeue the oldest event</dd>"),
    ("docs/srq.html", '<nav><ul><li><a href="#'),
    ("docs/man/dat_srq_create.3.html", "<h1>dat_srq_create(3)</h1>"),
)
SCRIPT = Path(__file__).resolve().parents[2] / "docs/render.py"


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src"):
                self.links.append(value)
            elif name == "id":
                self.anchors.add(value)


def broken(out):
    """Yields local links without a target."""
    pages = {path.resolve(): Page(path) for path in out.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages.get(target)
            if not target.is_file() or (parts.fragment and known and unquote(parts.fragment) not in known.anchors):
                yield f"{path.relative_to(out.resolve())}: {link}"


def main():
    missing = [tool for tool in ("pandoc", "mandoc") if not shutil.which(tool)]
    if missing:
        print(f"ok 1 - make html # SKIP not installed: {' '.join(missing)}\n1..1")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "html"
        ran = subprocess.run([SCRIPT, out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = ran.stdout.splitlines() if ran.returncode else []
        wrong = [] if ran.returncode else list(broken(out))
        texts = [(page, f'href="{link}"') for page, link in WANTED] + list(TEXTS)
        for page, text in texts if not ran.returncode else ():
            if text not in (out / page).read_text():
                wrong.append(f"{page} lacks {text}")
    for number, (name, problems) in enumerate((("it renders all pages", lines), ("links lead to pages and headings, and pages have their texts", wrong)), 1):
        good = not problems and (number == 1 or ran.returncode == 0)
        failed |= not good
        print("ok" if good else "not ok", number, "- make html:", name)
        print("".join(f"# {line}\n" for line in problems), end="")
    print("1..2")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
