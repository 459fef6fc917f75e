#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# crates.py - the crates of others whose code is in the libraries and tools that make builds.
#
#   crates.py notices          writes their licences into LICENSE-THIRD-PARTY, behind packaging/third-party.head
#   crates.py notices --check  fails if that file does not say what Cargo.lock and the features lead to
#   crates.py sbom FILE        writes what that file and Cargo.lock say as a bill of materials, in the form of CycloneDX 1.5
#
# cargo-cyclonedx does not replace this. It lists crates such as errno, which only the features of other packages add, and
# omits Rust's standard library. Its documents differ from run to run.
# cargo-about does not replace it either. It lists procedural macros such as paste, which are not linked, and does not name the
# binaries that contain a crate.
#
# A licence that deny.toml does not allow is an error. CARGO and RUSTC are respected.
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTICES = ROOT / 'LICENSE-THIRD-PARTY'
TARGETS = ['x86_64-unknown-linux-gnu', 'aarch64-unknown-linux-gnu']
# The packages that one run of cargo builds, each with its word in the third column of LICENSE-THIRD-PARTY. If one package of
# a run requests a feature, cargo enables the feature for all packages of that run.
RUNS = [{}, {'dat-tools': 'tools'}]
# The files for each word.
BINARIES = {}
for line in (ROOT / 'packaging/libraries.txt').read_text().splitlines():
    if line[:1] in ('1', '2', 'b'):
        _, package, _, file, kind, *_ = line.split()
        word = kind if kind == 'libdat' else f'libdapl{kind}'
        RUNS[0][package] = word
        BINARIES.setdefault(word, []).append(file)
BINARIES['tools'] = ['dat-info', 'dat-ping', 'dat-perf']
TABLE = ('crate', 'licence', 'in')
# Words by which the text of a licence is known.
WORDS = {
    'MIT': 'Permission is hereby granted, free of charge, to any person',
    'ISC': 'Permission to use, copy, modify, and',
    'Apache-2.0': 'Apache License Version 2.0',
}


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def cargo(*arguments):
    return output(os.environ.get('CARGO', 'cargo'), *arguments)


def toml(file):
    with open(ROOT / file, 'rb') as opened:
        return tomllib.load(opened)


def linked():
    """The crates, as name and version, each with the words for the binaries that have its code."""
    crates = {}
    for run in RUNS:
        chosen = [word for package in run for word in ('-p', package)]
        for target in TARGETS:
            trees = cargo('tree', '--locked', '--edges=normal,no-proc-macro', '--prefix=none', '--no-dedupe',
                          '--format={p}', f'--target={target}', *chosen)
            for tree in trees.strip().split('\n\n'):
                names = [tuple(line.split()[:2]) for line in tree.splitlines() if '(/' not in line]
                for name, version in names:
                    crates.setdefault((name, version.removeprefix('v')), set()).add(run[tree.split()[0]])
    return crates


def plain(text):
    return ' '.join(text.split())


class Crate:
    def __init__(self, package, allowed):
        self.name = f"{package['name']} {package['version']}"
        folder = pathlib.Path(package['manifest_path']).parent
        texts = [path.read_text() for path in sorted(folder.iterdir())
                 if path.is_file() and re.match('licen[sc]e|copying|unlicense', path.name, re.I)]
        there = {licence: text for licence, words in WORDS.items() for text in texts if words in plain(text)}
        # Without an expression the file is the licence.
        self.licence = (package['license'] or ' OR '.join(there)).replace('/', ' OR ')
        # Of licences to choose from, the first that deny.toml allows.
        chosen = [licence for licence in allowed if licence in self.licence.split(' OR ')]
        if not chosen:
            sys.exit(f'crates.py: deny.toml does not allow the licence of {self.name}: {self.licence}')
        if chosen[0] not in there:
            sys.exit(f'crates.py: {self.name} has no text of {chosen[0]}')
        self.text = there[chosen[0]]


def notices():
    """What LICENSE-THIRD-PARTY says: a table, then each text once."""
    allowed = toml('deny.toml')['licenses']['allow']
    metadata = json.loads(cargo('metadata', '--format-version=1', '--locked', *(f'--filter-platform={t}' for t in TARGETS)))
    packages = {(package['name'], package['version']): package for package in metadata['packages']}
    rows, by_text = [TABLE], {}
    for key, words in sorted(linked().items()):
        crate = Crate(packages[key], allowed)
        rows.append((crate.name, crate.licence, ' '.join(word for word in BINARIES if word in words)))
        by_text.setdefault(plain(crate.text), (crate.text, []))[1].append(crate.name)
    widths = [max(len(row[n]) for row in rows) for n in range(2)]
    lines = [f'{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}' for row in rows]
    parts = [(ROOT / 'packaging/third-party.head').read_text().rstrip(), '\n'.join(lines)]
    for text, users in by_text.values():
        shown = '\n'.join(line.rstrip() for line in text.expandtabs().splitlines())
        parts.append('-' * 100 + '\n' + ', '.join(users) + '\n\n' + shown.strip('\n'))
    return '\n\n'.join(parts) + '\n'


def rows():
    """The table of LICENSE-THIRD-PARTY: name, version, licence and words of each crate."""
    lines = iter(NOTICES.read_text().splitlines())
    while tuple(next(lines).split()) != TABLE:
        pass
    for line in iter(lines.__next__, ''):
        crate, licence, words = re.split('  +', line)
        yield *crate.split(), licence, words.split()


def sbom():
    product = toml('Cargo.toml')['workspace']['package']
    sums = {(package['name'], package['version']): package.get('checksum') for package in toml('Cargo.lock')['package']}
    rust = output(os.environ.get('RUSTC', 'rustc'), '--version').split()[1]
    std = f'rust-std@{rust}'
    own = {'version': product['version'], 'licenses': [{'expression': product['license']}]}
    whole = f"libdat@{product['version']}"
    parts = {name: [std] for names in BINARIES.values() for name in names}
    components = [{'type': 'library' if '.so.' in name else 'application', 'bom-ref': name, 'name': name} | own
                  for name in parts]
    components.append({'type': 'library', 'bom-ref': std, 'name': "Rust's standard library", 'version': rust,
                       'licenses': [{'expression': '(MIT OR Apache-2.0) AND MIT AND Apache-2.0 WITH LLVM-exception AND Unicode-3.0'}]})
    for name, version, licence, words in rows():
        purl = f'pkg:cargo/{name}@{version}'
        components.append({
            'type': 'library',
            'bom-ref': purl,
            'name': name,
            'version': version,
            'hashes': [{'alg': 'SHA-256', 'content': sums[name, version]}],
            'licenses': [{'expression': licence}],
            'purl': purl,
        })
        for word in words:
            for binary in BINARIES[word]:
                parts[binary].append(purl)
    return {
        'bomFormat': 'CycloneDX',
        'specVersion': '1.5',
        'version': 1,
        'metadata': {'component': {'type': 'application', 'bom-ref': whole, 'name': 'libdat'} | own},
        'components': components,
        'dependencies': [{'ref': whole, 'dependsOn': list(parts)}] +
                        [{'ref': name, 'dependsOn': crates} for name, crates in parts.items()],
    }


def main(arguments):
    match arguments:
        case ['notices']:
            NOTICES.write_text(notices())
        case ['notices', '--check']:
            if not NOTICES.exists() or NOTICES.read_text() != notices():
                sys.exit(f'crates.py: {NOTICES.name} is not what Cargo.lock leads to; make notices writes it')
        case ['sbom', file]:
            pathlib.Path(file).write_text(json.dumps(sbom(), indent=2) + '\n')
        case _:
            sys.exit('usage: crates.py notices [--check] | sbom FILE')


main(sys.argv[1:])
