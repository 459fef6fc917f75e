// SPDX-License-Identifier: MIT OR Apache-2.0

//! The values that the table limits.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::source::{self, Line};
use super::style;

/// Crates outside the product: tests, fuzzers and checks.
const NOT_PRODUCT: [&str; 4] = ["dat-conformance", "dat-fuzz", "dat-libfuzzer", "xtask"];
/// Names of modules that only tests use.
const TEST_MODULES: [&str; 5] = ["tests", "testing", "model", "fuzzing", "twin"];
const TRANSPORTS: [&str; 3] = ["shm", "tcp", "verbs"];
/// Files whose naming of a transport does not count: the table itself, and a generated file.
const NOT_NAMING: [&str; 2] = [super::TABLE, "Cargo.lock"];
/// Crate and file of the trait `Transport`.
const TRANSPORT_TRAIT: (&str, &str) = ("dat-core", "src/transport/mod.rs");
const INSTRUCTIONS: &str = "tests-c/perf/instructions.txt";

#[derive(Debug, PartialEq)]
pub struct Measurement {
    pub name: String,
    pub value: u64,
    /// Location of the value, for a maximum.
    pub place: Option<String>,
}

impl Measurement {
    /// Creates a measurement without a location.
    pub fn new(name: impl Into<String>, value: u64) -> Self {
        Measurement { name: name.into(), value, place: None }
    }
}

pub struct Crate {
    pub name: String,
    /// Directory of the manifest.
    directory: PathBuf,
    pub files: Vec<File>,
}

pub struct File {
    /// Path relative to the root of the tree.
    pub path: String,
    pub lines: Vec<Line>,
    length: u64,
    is_product: bool,
}

pub fn all(root: &Path) -> Result<Vec<Measurement>> {
    let crates = crates(root)?;
    let mut measured = Vec::new();
    lines(&crates, &mut measured);
    longest(&crates, &mut measured);
    let page = read(&root.join("docs/dev/architecture.md"))?;
    measured.push(Measurement::new("words:architecture.md", page.split_whitespace().count() as u64));
    for krate in &crates {
        let words = krate.files.iter().map(|file| source::comment_words(&file.lines)).sum();
        measured.push(Measurement::new(format!("comments:{}", krate.name), words));
    }
    traits(&crates, &mut measured)?;
    for krate in crates.iter().filter(|krate| is_product(krate)) {
        let files = krate.files.iter().filter(|file| file.is_product);
        let sites = files.map(|file| source::unsafe_sites(&file.lines)).sum();
        measured.push(Measurement::new(format!("unsafe:{}", krate.name), sites));
    }
    marks(root, &mut measured)?;
    naming(root, &crates, &mut measured)?;
    measured.extend(style::measure(root)?);
    instructions(root, &mut measured)?;
    Ok(measured)
}

fn is_product(krate: &Crate) -> bool {
    !NOT_PRODUCT.contains(&krate.name.as_str())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Finds the crates below `src`, sorted by name, and reads their sources.
pub fn crates(root: &Path) -> Result<Vec<Crate>> {
    let mut manifests = Vec::new();
    walk(&root.join("src"), &|path| path.ends_with("Cargo.toml"), &mut manifests)?;
    let mut crates = Vec::new();
    for manifest in manifests {
        let text = read(&manifest)?;
        let Some(name) = package_name(&text) else { continue };
        let directory = manifest.parent().unwrap_or(root).to_owned();
        let mut paths = Vec::new();
        let sources = directory.join("src");
        if sources.is_dir() {
            walk(&sources, &|path| path.extension().is_some_and(|end| end == "rs"), &mut paths)?;
        }
        let mut files = Vec::new();
        for path in paths {
            let text = read(&path)?;
            files.push(File {
                path: path.strip_prefix(root)?.display().to_string(),
                lines: source::split(&text),
                length: text.lines().count() as u64,
                is_product: !NOT_PRODUCT.contains(&name) && !is_test(path.strip_prefix(&sources)?),
            });
        }
        if !files.is_empty() {
            crates.push(Crate { name: name.to_owned(), directory: directory.strip_prefix(root)?.to_owned(), files });
        }
    }
    crates.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(crates)
}

/// Appends the files below a directory that `is_wanted` accepts, in the order of their paths.
pub fn walk(directory: &Path, is_wanted: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) -> Result<()> {
    let context = || format!("cannot list {}", directory.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).with_context(context)? {
        paths.push(entry.with_context(context)?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() && !path.ends_with("target") {
            walk(&path, is_wanted, found)?;
        } else if path.is_file() && is_wanted(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// Returns the name in the section `[package]` of a manifest; `None` without one.
pub fn package_name(manifest: &str) -> Option<&str> {
    let mut lines = manifest.lines().skip_while(|line| line.trim() != "[package]").skip(1);
    let value = lines.find_map(|line| line.strip_prefix("name = \""))?;
    value.strip_suffix('"')
}

/// Returns whether only tests use a file, by its path below its crate's `src`.
pub fn is_test(path: &Path) -> bool {
    path.components().any(|component| match component {
        Component::Normal(name) => {
            let name = name.to_string_lossy();
            TEST_MODULES.contains(&name.strip_suffix(".rs").unwrap_or(&name))
        }
        _ => false,
    })
}

fn lines(crates: &[Crate], measured: &mut Vec<Measurement>) {
    let mut total = 0;
    for krate in crates.iter().filter(|krate| is_product(krate)) {
        let lines = krate.files.iter().filter(|file| file.is_product).map(|file| file.length).sum();
        total += lines;
        measured.push(Measurement::new(format!("lines:{}", krate.name), lines));
    }
    measured.push(Measurement::new("lines", total));
}

fn longest(crates: &[Crate], measured: &mut Vec<Measurement>) {
    let mut file_max = Measurement::new("longest:file", 0);
    let mut function_max = Measurement::new("longest:function", 0);
    for file in crates.iter().flat_map(|krate| &krate.files).filter(|file| file.is_product) {
        if file.length > file_max.value {
            file_max.value = file.length;
            file_max.place = Some(file.path.clone());
        }
        for function in source::functions(&file.lines) {
            if function.lines > function_max.value {
                function_max.value = function.lines;
                function_max.place = Some(format!("{} in {}", function.name, file.path));
            }
        }
    }
    measured.extend([file_max, function_max]);
}

fn traits(crates: &[Crate], measured: &mut Vec<Measurement>) -> Result<()> {
    let (package, path) = TRANSPORT_TRAIT;
    let krate = crates.iter().find(|krate| krate.name == package).with_context(|| format!("no crate {package}"))?;
    let path = krate.directory.join(path);
    let file = krate.files.iter().find(|file| Path::new(&file.path) == path);
    let file = file.with_context(|| format!("no file {}", path.display()))?;
    let (methods, constants) = source::trait_members(&file.lines, "Transport")
        .with_context(|| format!("{}: no trait Transport", path.display()))?;
    measured.push(Measurement::new("transport:methods", methods));
    measured.push(Measurement::new("transport:constants", constants));
    Ok(())
}

fn output(root: &Path, program: &str, args: &[&str]) -> Result<String> {
    let output = Command::new(program).args(args).current_dir(root).output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    ensure!(output.status.success(), "{program} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn marks(root: &Path, measured: &mut Vec<Measurement>) -> Result<()> {
    let places = output(root, "tests-c/marks.sh", &["--places"])?;
    let names: BTreeSet<_> = places.lines().filter_map(|line| line.split('\t').next()).collect();
    measured.push(Measurement::new("marks:names", names.len() as u64));
    measured.push(Measurement::new("marks:places", places.lines().count() as u64));
    Ok(())
}

/// Measures for each transport the files outside its own crates that name it, if the tree is a git repository.
fn naming(root: &Path, crates: &[Crate], measured: &mut Vec<Measurement>) -> Result<()> {
    let Ok(listed) = output(root, "git", &["ls-files", "-z", "--cached", "--others", "--exclude-standard"]) else {
        return Ok(());
    };
    let paths: BTreeSet<_> = listed.split('\0').filter(|path| !path.is_empty() && !NOT_NAMING.contains(path)).collect();
    let mut texts = Vec::new();
    for path in paths {
        // A file that is deleted but still in the index does not count.
        if let Ok(bytes) = fs::read(root.join(path)) {
            texts.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    for transport in TRANSPORTS {
        let names = ["", "12", "20"].map(|version| format!("dat-{transport}{version}"));
        let own: Vec<_> =
            crates.iter().filter(|krate| names.contains(&krate.name)).map(|krate| &krate.directory).collect();
        let patterns = patterns(transport, own.iter().map(|directory| directory.display().to_string()));
        let outside =
            texts.iter().filter(|(path, _)| !own.iter().any(|directory| Path::new(path).starts_with(directory)));
        let count = outside.filter(|(_, text)| names_any(text, &patterns)).count();
        measured.push(Measurement::new(format!("naming:{transport}"), count as u64));
    }
    Ok(())
}

/// Returns the strings that name a transport: its libraries, packages, crates and directories.
pub fn patterns(transport: &str, directories: impl Iterator<Item = String>) -> Vec<String> {
    let prefixes = ["dapl", "dat-", "dat_"].map(|prefix| format!("{prefix}{transport}"));
    prefixes.into_iter().chain(directories).collect()
}

/// Returns whether a text contains one of the strings, not followed by a lower-case letter.
pub fn names_any(text: &str, patterns: &[String]) -> bool {
    let ends = |rest: &str| !rest.starts_with(|char: char| char.is_ascii_lowercase());
    patterns.iter().any(|pattern| text.match_indices(pattern.as_str()).any(|(at, _)| ends(&text[at + pattern.len()..])))
}

fn instructions(root: &Path, measured: &mut Vec<Measurement>) -> Result<()> {
    for line in read(&root.join(INSTRUCTIONS))?.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let Some(row) = words.next() else { continue };
        let value = words.next().and_then(|word| word.parse().ok());
        let value = value.with_context(|| format!("{INSTRUCTIONS}: {row} has no number"))?;
        measured.push(Measurement::new(format!("instructions:{row}"), value));
    }
    Ok(())
}
