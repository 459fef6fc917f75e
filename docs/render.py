#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Renders the documents and the manual pages as HTML, with links between them and an index page. The index has the first
sentence of each document, in the order of the list in README.md, and the NAME of each manual page.

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
DOCUMENTS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/dev/*.md",
             "src/tools/dat/README.md", "tests-c/README.md"]
SECTIONS = {
    "7": "Manual pages: overviews",
    "1": "Manual pages: tools",
    "5": "Manual pages: files",
    "3": "Manual pages: functions",
}
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --text: #1b1f24; --back: #fff; --box: #f3f4f6; --line: #d5d9de; --link: #0b57b8 }}
@media (prefers-color-scheme: dark) {{
  :root {{ --text: #d9dde2; --back: #15181c; --box: #22272d; --line: #3c434b; --link: #7db4f5 }}
}}
body {{ max-width: 56em; margin: 1em auto; padding: 0 1em; font-family: sans-serif; line-height: 1.45;
  color: var(--text); background: var(--back); overflow-wrap: break-word }}
h1, h2, h3, h4 {{ line-height: 1.2; margin: 1.4em 0 .5em }}
h2 {{ border-bottom: 1px solid var(--line); padding-bottom: .2em }}
a {{ color: var(--link) }}
a.permalink {{ color: inherit; text-decoration: none }}
pre, code {{ font-family: monospace, monospace; font-size: .9em; background: var(--box) }}
pre code {{ font-size: 1em }}
pre {{ padding: .6em; overflow-x: auto }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; margin: 1em 0 }}
td, th {{ padding: .25em .6em; text-align: left; vertical-align: top; border-top: 1px solid var(--line); min-width: 3em }}
table.foot {{ color: gray }}
dt {{ margin-top: .5em }}
dd {{ margin: 0 0 .5em 2em }}
img {{ max-width: 100%; background: #fff }}
nav ul {{ padding: 0; list-style: none; columns: 15em }}
dl.index {{ display: grid; grid-template-columns: 14em 1fr; gap: .3em 1em }}
dl.index > * {{ margin: 0 }}
@media (max-width: 40em) {{ dl.index {{ display: block }} dl.index dd {{ margin: 0 0 .6em }} }}
@media (min-width: 84em) {{
  nav {{ position: fixed; left: 1em; top: 1em; width: calc(50vw - 34em); max-height: 95vh; overflow-y: auto;
    font-size: .9em }}
}}
</style>
</head>
<body>
{body}
</body>
</html>
"""
# Headings in a table of contents.
MIN_SECTIONS = 4


def run(*command, text=None):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def plain(markup):
    return " ".join(re.sub(r"<[^>]*>", "", markup).split())


def contents(body):
    """The table of contents of a page: the highest level of headings below the title with enough of them. Or nothing."""
    for level in (1, 2):
        sections = re.findall(rf'<h{level}[^>]*\bid="([^"]*)"[^>]*>(.*?)</h{level}>', body, flags=re.DOTALL)
        if len(sections) >= MIN_SECTIONS:
            rows = (f'<li><a href="#{mark}">{plain(text)}</a></li>' for mark, text in sections)
            return "\n<nav><ul>" + "".join(rows) + "</ul></nav>"
    return ""


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
        # The titles of the pages, and what each is for, as HTML.
        self.titles, self.purposes = {}, {}

    def write(self, page, title, body):
        if page != Path("index.html"):
            head, mark, rest = body.partition("</h1>")
            index = os.path.relpath("index.html", page.parent)
            body = f'<p><a href="{index}">All pages</a></p>\n{head}{mark}{contents(rest)}{rest}'
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
        self.titles[source] = html.escape(title)
        paragraph = plain(re.search(r"<p>(.*?)</p>", body, flags=re.DOTALL)[1])
        self.purposes[source] = re.match(r".*?\.(?=\s|$)", paragraph)[0]
        self.write(self.pages[source], title, self.refer(source, body))

    def page(self, source):
        body = run("mandoc", "-T", "html", "-O", "fragment", str(ROOT / source))
        title = f"{source.stem}({source.suffix[1:]})"
        self.titles[source] = title
        name = plain(re.search(r'id="NAME".*?<p[^>]*>(.*?)</p>', body, flags=re.DOTALL)[1])
        self.purposes[source] = name.partition(" - ")[2]
        # The title is a heading, and sections are one level below it.
        for level in (2, 1):
            body = re.sub(rf"(</?h){level}\b", rf"\g<1>{level + 1}", body)
        body = re.sub(r'<table class="head">.*?</table>', f"<h1>{title}</h1>", body, flags=re.DOTALL)
        self.write(self.pages[source], title, self.refer(source, body))

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

    def groups(self):
        """The documents by the headings of the list in README.md. The last heading has those that are not in the list."""
        listed = (ROOT / "README.md").read_text().partition("## Documentation\n")[2].partition("\n## ")[0]
        groups = {"": [Path("README.md")]}
        for heading, text in re.findall(r"^- (\w+):(.*?)(?=^- |\Z)", listed, flags=re.DOTALL | re.MULTILINE):
            groups[heading] = [Path(link) for link in re.findall(r"\]\((.*?)\)", text) if Path(link) in self.documents]
        seen = [path for paths in groups.values() for path in paths]
        groups[heading] += [path for path in self.documents if path not in seen]
        return groups

    def index(self):
        groups = self.groups()
        for section, heading in SECTIONS.items():
            groups[heading] = [path for path in self.manual if path.suffix == f".{section}"]
        body = "<h1>libdat</h1>"
        for heading, paths in groups.items():
            body += f"\n<h2>{heading}</h2>" if heading else ""
            rows = (f'<dt><a href="{self.pages[path]}">{self.titles[path]}</a></dt>\n<dd>{self.purposes[path]}</dd>\n'
                    for path in paths)
            body += '\n<dl class="index">\n' + "".join(rows) + "</dl>"
        self.write(Path("index.html"), "libdat", body)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for tool in "pandoc", "mandoc":
        if not shutil.which(tool):
            sys.exit(f"make html needs {tool}: install Debian's package {tool}")
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
