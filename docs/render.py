#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Renders the documents and the manual pages as HTML, with links between them and an index page.

    render.py DIRECTORY

pandoc renders Markdown, mandoc the manual pages. The pages have the paths of their sources, with .html appended or instead of
.md. Files of the source tree to which a document links are copied; a link to a directory becomes its text.
"""

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/dev/*.md", "tests-c/README.md"]
SECTIONS = {"1": "Tools", "3": "Functions", "5": "Files", "7": "Overviews"}
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ max-width: 60em; margin: 1em auto; padding: 0 1em; font-family: sans-serif; line-height: 1.4 }}
pre {{ background: #f4f4f4; padding: .5em; overflow-x: auto }}
table {{ border-collapse: collapse }}
td, th {{ padding: .2em .6em; text-align: left; vertical-align: top }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def run(*command, text=None):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


class Site:
    """The pages by the paths of their sources, relative to the root of the source tree."""

    def __init__(self, out):
        self.out = out
        documents = [path for pattern in DOCUMENTS for path in sorted(ROOT.glob(pattern))]
        self.documents = [path.relative_to(ROOT) for path in documents]
        self.manual = sorted(path.relative_to(ROOT) for path in (ROOT / "docs/man").glob("*.[1357]"))
        self.pages = {path: path.with_suffix(".html") for path in self.documents}
        self.pages |= {path: path.with_name(path.name + ".html") for path in self.manual}
        self.pages[Path("docs/man")] = Path("index.html")

    def write(self, page, title, body):
        if page != Path("index.html"):
            body = f'<p><a href="{os.path.relpath("index.html", page.parent)}">All pages</a></p>\n{body}'
        (self.out / page).parent.mkdir(parents=True, exist_ok=True)
        (self.out / page).write_text(PAGE.format(title=html.escape(title), body=body))

    def target(self, source, link):
        """Where a link of a document leads to here; None if there is no such page."""
        if re.match(r"\w+:|#", link):
            return link
        name, mark, anchor = link.partition("#")
        path = Path(os.path.normpath(source.parent / name))
        page = self.pages.get(path)
        if page is None:
            if not (ROOT / path).is_file():
                return None
            page = path
            (self.out / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.out / page)
        return os.path.relpath(page, source.parent) + mark + anchor

    def document(self, source):
        text = (ROOT / source).read_text()
        title = re.search(r"^# (.*)", text, re.MULTILINE)[1]
        body = re.sub(r"<!-- test:.*?-->\n?", "", run("pandoc", "-f", "gfm", "-t", "html", text=text), flags=re.DOTALL)

        def anchor(match):
            link = self.target(source, html.unescape(match[1]))
            return match[2] if link is None else f'<a href="{html.escape(link)}">{match[2]}</a>'

        body = re.sub(r'<a\s+href="([^"]*)"[^>]*>(.*?)</a>', anchor, body, flags=re.DOTALL)
        body = re.sub(r'(<img\s+src=")([^"]*)', lambda match: match[1] + self.target(source, match[2]), body)
        self.write(self.pages[source], title, self.refer(source, body))

    def page(self, source):
        body = run("mandoc", "-T", "html", "-O", "fragment", str(ROOT / source))
        self.write(self.pages[source], source.name, self.refer(source, body))

    def refer(self, source, body):
        """Makes links of references such as libdat(7), docs/srq.md and examples/srq.c, whose markup may be bold or italic."""

        def link(match):
            path = Path(match["path"] or f"docs/man/{match['name']}.{match['section']}")
            link = self.target(source, os.path.relpath(path, source.parent)) if path != source else None
            return match[0] if link is None else f'<a href="{link}">{match[0]}</a>'

        name = r"(?:<b>)?\b(?P<name>[a-z][\w.-]*)(?:</b>)?\((?P<section>[1357])\)"
        path = r"\b(?P<path>(?:docs|examples)/[\w/-]+\.(?:md|c)\b)"

        # Text that is a link already stays.
        parts = re.split(r"(<a\s.*?</a>)", body, flags=re.DOTALL)
        return "".join(
            part if part.startswith("<a") else re.sub(f"{name}|{path}", link, part)
            for part in parts)

    def index(self):
        def row(source, text):
            return f'<li><a href="{self.pages[source]}">{html.escape(text)}</a></li>'

        body = "<h1>libdat</h1>\n<h2>Documents</h2>\n<ul>"
        body += "".join(row(path, str(path)) for path in self.documents) + "</ul>"
        for section, title in SECTIONS.items():
            pages = [path for path in self.manual if path.name.endswith(f".{section}")]
            body += f"\n<h2>{title}</h2>\n<ul>" + "".join(row(path, f"{path.stem}({section})") for path in pages) + "</ul>"
        self.write(Path("index.html"), "libdat", body)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for tool in ("pandoc", "mandoc"):
        if not shutil.which(tool):
            sys.exit(f"render.py: {tool} is not installed")
    out = Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    site = Site(out)
    for source in site.documents:
        site.document(source)
    for source in site.manual:
        site.page(source)
    site.index()
    print(out / "index.html")


if __name__ == "__main__":
    main()
