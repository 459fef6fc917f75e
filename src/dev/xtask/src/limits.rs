// SPDX-License-Identifier: MIT OR Apache-2.0

//! The limits of `tests-c/limits.txt`, whose head specifies them, and the phrases of `tests-c/style/phrases.txt`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use regex_lite::{Captures, Regex};

use crate::libraries;

/// Texts of files by their paths.
type Files = BTreeMap<String, String>;
/// The number of each row of a table, by the row's name.
type Values = BTreeMap<String, u64>;

const LIMITS: &str = "tests-c/limits.txt";
const PHRASES: &str = "tests-c/style/phrases.txt";
const INSTRUCTIONS: &str = "tests-c/perf/instructions.txt";
/// Crates outside the product: tests, fuzzers and checks.
const NOT_PRODUCT: [&str; 4] = ["dat-conformance", "dat-fuzz", "dat-libfuzzer", "xtask"];
/// Names of files and directories that only tests use, without `.rs`.
const TEST_MODULES: [&str; 5] = ["tests", "testing", "model", "fuzzing", "twin"];
/// Ends of the paths of files that may name a transport, because they are limits or generated.
const NOT_NAMING: [&str; 2] = [LIMITS, "Cargo.lock"];
/// The parts of Rust and C source text that matter: comments, literals, and sites of `unsafe`.
const TOKENS: &str = r###"(?x) //.* | /\*(?s:.*?)\*/
    | \b[bc]?r"[^"]*" | \b[bc]?r\#"(?s:.*?)"\# | \b[bc]?r\#\#"(?s:.*?)"\#\# | "(?s:\\.|[^"\\])*"
    | '(?:\\.[^']*|[^'\\])' | \bunsafe\s*(?:\{|(?:fn|impl|extern)\b)"###;
/// The parts of a page that are no prose: code blocks and comments.
const NO_PROSE: &str = r"(?sm)^ *```.*?^ *```|<!--.*?-->";
/// The pattern for a space in a phrase: a space, or the end of a line and the comment marker of the next line.
const SPACE: &str = r"(?: |\n[ \t]*(?:(?://[/!]?|\*|>) ?)?)";

/// Prints each limit with its value, and the phrases that occur, as TAP. Returns whether all tests pass.
pub fn run() -> Result<bool> {
    let root = crate::root();
    let mut files = Files::new();
    walk(&root, "", &mut files)?;
    let mut values = Values::new();
    let lines = sources(&files, &mut values)?;
    longest(&files, &mut values);
    naming(&files, &mut values)?;
    values.extend(table(&read(&root, INSTRUCTIONS)?)?.into_iter().map(|(row, n)| (format!("instructions:{row}"), n)));
    let mut tests = compare(&table(&read(&root, LIMITS)?)?, &values);
    let hits = find(&files, &read(&root, PHRASES)?)?;
    tests.push((hits.is_empty(), format!("comments and pages avoid the phrases of {PHRASES}: {} hits", hits.len())));
    hits.iter().for_each(|hit| println!("# {hit}"));
    println!("# The product has {lines} lines.");
    for (index, (passes, text)) in tests.iter().enumerate() {
        println!("{}ok {} - {text}", if *passes { "" } else { "not " }, index + 1);
    }
    println!("1..{}", tests.len());
    Ok(tests.iter().all(|(passes, _)| *passes))
}

fn read(root: &Path, path: &str) -> Result<String> {
    fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
}

/// Reads all files below a directory, without hidden files and the output of builds.
fn walk(root: &Path, directory: &str, files: &mut Files) -> Result<()> {
    for entry in fs::read_dir(root.join(directory)).with_context(|| format!("cannot read {directory}"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
        match entry.file_type()? {
            _ if name.starts_with('.') || name == "target" || path == "tests-c/build" => {}
            kind if kind.is_dir() => walk(root, &path, files)?,
            kind if kind.is_file() => {
                let bytes = fs::read(entry.path()).with_context(|| format!("cannot read {path}"))?;
                files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Parses lines of a name and a number. Further columns, and lines that begin with `#`, are ignored.
fn table(text: &str) -> Result<Values> {
    let mut rows = Values::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let row = words.next().zip(words.next().and_then(|word| word.parse().ok()));
        let (name, number) = row.with_context(|| format!("expected a name and a number: {line}"))?;
        anyhow::ensure!(rows.insert(name.to_owned(), number).is_none(), "{name} occurs twice");
    }
    Ok(rows)
}

/// Tests whether each value is at most its limit, which is 0 without a row, and whether each row has a value.
fn compare(limits: &Values, values: &Values) -> Vec<(bool, String)> {
    let test = |(name, value): (&String, &u64)| {
        let limit = limits.get(name).copied().unwrap_or(0);
        (*value <= limit, format!("{name}: {value} of at most {limit}"))
    };
    let stale = limits.keys().filter(|name| !values.contains_key(*name));
    let stale = stale.map(|name| (false, format!("{name}: nothing has this name; remove the row from {LIMITS}")));
    values.iter().map(test).chain(stale).collect()
}

/// Counts the unsafe sites of each product crate, without its tests. Returns the number of lines of all these crates.
fn sources(files: &Files, values: &mut Values) -> Result<usize> {
    let (tokens, mut total) = (Regex::new(TOKENS)?, 0);
    for (manifest, text) in files.iter().filter(|(path, _)| path.starts_with("src/") && path.ends_with("/Cargo.toml")) {
        let Some(name) = package(text) else { continue };
        let sources = manifest.replace("Cargo.toml", "src/");
        for (path, text) in files.iter().filter(|(path, _)| path.starts_with(&sources) && path.ends_with(".rs")) {
            if !NOT_PRODUCT.contains(&name) && !is_test(&path[sources.len()..]) {
                total += text.lines().count();
                let sites = tokens.find_iter(text).filter(|token| token.as_str().starts_with("unsafe")).count();
                *values.entry(format!("unsafe:{name}")).or_default() += sites as u64;
            }
        }
    }
    Ok(total)
}

/// Counts the lines of the longest Rust file.
fn longest(files: &Files, values: &mut Values) {
    let rust = files.iter().filter(|(path, _)| path.starts_with("src/") && path.ends_with(".rs"));
    if let Some((lines, path)) = rust.map(|(path, text)| (text.lines().count(), path)).max() {
        println!("# The longest file is {path}.");
        values.insert("file".to_owned(), lines as u64);
    }
}

/// Returns the name in the section `[package]` of a manifest.
fn package(manifest: &str) -> Option<&str> {
    manifest.split_once("[package]")?.1.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
}

/// Returns whether only tests use a file, by its path below its crate's `src`.
fn is_test(path: &str) -> bool {
    path.split(['/', '.']).any(|part| TEST_MODULES.contains(&part))
}

/// Counts for each transport the files outside its directory that contain one of its names.
fn naming(files: &Files, values: &mut Values) -> Result<()> {
    for transport in libraries::transports()? {
        let own = format!("src/transport/{transport}/");
        let name = names(&transport)?;
        let counts = |path: &str| !path.starts_with(&own) && !NOT_NAMING.iter().any(|ending| path.ends_with(ending));
        let outside = files.iter().filter(|(path, _)| counts(path));
        let count = outside.filter(|(_, text)| name.is_match(text)).count();
        values.insert(format!("naming:{transport}"), count as u64);
    }
    Ok(())
}

/// Returns a pattern for the libraries, packages, crates and directories of a transport.
fn names(transport: &str) -> Result<Regex> {
    Ok(Regex::new(&format!("(?:dapl|dat[-_]|src/transport/){transport}(?:[^a-z]|$)"))?)
}

/// Finds the phrases in comments of Rust and C, and in pages. Returns a line for each place.
fn find(files: &Files, phrases: &str) -> Result<Vec<String>> {
    let (tokens, no_prose) = (Regex::new(TOKENS)?, Regex::new(NO_PROSE)?);
    let (mut patterns, mut hits) = (Vec::new(), Vec::new());
    for line in phrases.lines().filter(|line| !line.starts_with('#')) {
        let (phrase, instead) = line.split_once('\t').with_context(|| format!("{PHRASES}: no tab: {line}"))?;
        let pattern = Regex::new(&format!("(?i){}", phrase.replace(' ', SPACE)));
        patterns.push((pattern.with_context(|| format!("{PHRASES}: {phrase}"))?, instead));
    }
    for (path, text) in files {
        let prose = match path.rsplit('.').next() {
            Some("rs" | "c" | "h") if !path.starts_with("include/") => comments(text, &tokens),
            Some("md") => no_prose.replace_all(text, |found: &Captures| newlines(&found[0])).into_owned(),
            _ => continue,
        };
        for (pattern, instead) in &patterns {
            hits.extend(pattern.find_iter(&prose).map(|found| {
                let line = newlines(&prose[..found.start()]).len() + 1;
                format!("{path}:{line}: {:?}: {instead}", found.as_str())
            }));
        }
    }
    Ok(hits)
}

fn newlines(text: &str) -> String {
    text.chars().filter(|char| *char == '\n').collect()
}

/// Removes from source text all but comments and ends of lines.
fn comments(text: &str, tokens: &Regex) -> String {
    let (mut prose, mut end) = (String::new(), 0);
    for token in tokens.find_iter(text).filter(|token| token.as_str().starts_with('/')) {
        prose += &newlines(&text[end..token.start()]);
        prose += token.as_str();
        end = token.end();
    }
    prose
}

#[cfg(test)]
mod tests;
