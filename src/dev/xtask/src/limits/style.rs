// SPDX-License-Identifier: MIT OR Apache-2.0

//! Phrases to avoid and long sentences, in comments and in pages.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use regex_lite::Regex;

use super::measure::{self, Measurement};
use super::source::{self, Line};

const PHRASES: &str = "tests-c/style/phrases.txt";
/// Maximum words of a sentence.
const LONG: usize = 35;
/// Pages outside `docs`.
const PAGES: [&str; 6] =
    ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "tests-c/README.md", "src/README.md"];

pub struct Phrase {
    pattern: Regex,
    pub instead: String,
}

/// A place with a phrase to avoid or a long sentence.
pub struct Place {
    /// Number of the first line of the paragraph.
    pub line: usize,
    /// The phrase, or the sentence.
    pub text: String,
    pub instead: String,
}

/// A text that is judged as a unit, such as the comments of a crate.
pub struct Text {
    /// Name of the unit in the table of limits.
    pub unit: String,
    pub path: String,
    /// Consecutive lines of prose, with the number of the first line.
    paragraphs: Vec<(usize, String)>,
}

pub fn phrases(root: &Path) -> Result<Vec<Phrase>> {
    let text = fs::read_to_string(root.join(PHRASES)).with_context(|| format!("cannot read {PHRASES}"))?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let (pattern, instead) = line.split_once('\t').with_context(|| format!("{PHRASES}: no tab: {line}"))?;
            let pattern = Regex::new(&format!("(?i){pattern}")).with_context(|| format!("{PHRASES}: {pattern}"))?;
            Ok(Phrase { pattern, instead: instead.to_owned() })
        })
        .collect()
}

/// Reads all comments below `src` and `tests-c`, and all pages.
pub fn texts(root: &Path) -> Result<Vec<Text>> {
    let mut texts = Vec::new();
    for krate in measure::crates(root)? {
        for file in krate.files {
            texts.push(Text { unit: krate.name.clone(), path: file.path, paragraphs: paragraphs(&file.lines) });
        }
    }
    let mut paths = Vec::new();
    let is_c = |path: &Path| path.extension().is_some_and(|end| end == "c" || end == "h");
    measure::walk(
        &root.join("tests-c"),
        &|path| is_c(path) && !path.starts_with(root.join("tests-c/build")),
        &mut paths,
    )?;
    measure::walk(&root.join("examples"), &is_c, &mut paths)?;
    for path in paths {
        let lines = source::split(&String::from_utf8_lossy(&fs::read(&path)?));
        texts.push(Text { unit: "tests-c".to_owned(), path: relative(root, &path)?, paragraphs: paragraphs(&lines) });
    }
    let mut pages: Vec<PathBuf> = PAGES.iter().map(|page| root.join(page)).collect();
    measure::walk(&root.join("docs"), &|path| path.extension().is_some_and(|end| end == "md"), &mut pages)?;
    for page in pages {
        let text = fs::read_to_string(&page).with_context(|| page.display().to_string())?;
        texts.push(Text { unit: "pages".to_owned(), path: relative(root, &page)?, paragraphs: of_page(&text) });
    }
    Ok(texts)
}

fn relative(root: &Path, path: &Path) -> Result<String> {
    Ok(path.strip_prefix(root)?.display().to_string())
}

pub fn with_phrases(text: &Text, phrases: &[Phrase]) -> Vec<Place> {
    let mut places = Vec::new();
    for (line, paragraph) in &text.paragraphs {
        for phrase in phrases {
            let found = phrase.pattern.find_iter(paragraph);
            places.extend(found.map(|found| Place {
                line: *line,
                text: found.as_str().to_owned(),
                instead: phrase.instead.clone(),
            }));
        }
    }
    places
}

pub fn long_sentences(text: &Text) -> Vec<Place> {
    let mut places = Vec::new();
    // The cells of a table are no sentences.
    for (line, paragraph) in text.paragraphs.iter().filter(|(_, text)| !text.starts_with('|')) {
        for sentence in sentences(paragraph) {
            let words = sentence.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count();
            if words > LONG {
                let instead = format!("shorter sentences: this one has {words} words");
                places.push(Place { line: *line, text: sentence.to_owned(), instead });
            }
        }
    }
    places
}

/// Splits a paragraph after full stops, colons and question marks that a space follows.
fn sentences(paragraph: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, _) in paragraph.match_indices([' ', '\n']) {
        if paragraph[start..at].ends_with(['.', '?', '!', ':']) {
            found.push(&paragraph[start..at]);
            start = at + 1;
        }
    }
    found.push(&paragraph[start..]);
    found
}

/// Returns the paragraphs of comments. Blank lines, list items, tables and code end them.
fn paragraphs(lines: &[Line]) -> Vec<(usize, String)> {
    let stripped = lines.iter().map(|line| {
        let comment = line.comment.trim();
        let text = comment.trim_start_matches(['/', '!', '*']).trim_end_matches("*/").trim();
        // The marker of a function's documentation is a part of some phrases.
        if comment.starts_with("/// ") { format!("/// {text}") } else { text.to_owned() }
    });
    join(stripped, |line| line.strip_prefix("/// ").unwrap_or(line))
}

fn of_page(text: &str) -> Vec<(usize, String)> {
    let (mut is_code, mut is_hidden, mut is_indented) = (false, false, false);
    let mut is_blank = true;
    let prose = text.lines().map(|line| {
        let fence = line.trim_start().starts_with("```");
        is_code ^= fence;
        is_hidden |= line.contains("<!--");
        is_indented = line.starts_with("    ") && (is_blank || is_indented);
        is_blank = line.trim().is_empty();
        let shown = !is_code && !fence && !is_hidden && !is_indented;
        is_hidden &= !line.contains("-->");
        if shown { line.trim().to_owned() } else { String::new() }
    });
    join(prose, |line| line)
}

/// Joins lines to paragraphs. `rest` returns what a line adds to its paragraph.
fn join(lines: impl Iterator<Item = String>, rest: impl Fn(&str) -> &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    let mut is_code = false;
    for (index, line) in lines.enumerate() {
        let text = rest(&line);
        let fence = text.starts_with("```");
        is_code ^= fence;
        let begins =
            text.starts_with(['-', '*', '|', '#', '>']) || text.starts_with(|char: char| char.is_ascii_digit());
        if text.is_empty() || fence || is_code {
            is_open = false;
            continue;
        }
        match found.last_mut().filter(|_| is_open && !begins) {
            Some((_, paragraph)) => *paragraph += &format!(" {text}"),
            None => found.push((index + 1, line)),
        }
        is_open = true;
    }
    found
}

pub fn measure(root: &Path) -> Result<Vec<Measurement>> {
    let (phrases, texts) = (phrases(root)?, texts(root)?);
    let mut units: Vec<&str> = texts.iter().map(|text| text.unit.as_str()).collect();
    units.sort_unstable();
    units.dedup();
    let mut measured = Vec::new();
    for (kind, count) in [
        ("phrases", &(|text: &Text| with_phrases(text, &phrases).len()) as &dyn Fn(&Text) -> usize),
        ("sentences", &|text: &Text| long_sentences(text).len()),
    ] {
        for unit in &units {
            let value: usize = texts.iter().filter(|text| text.unit == *unit).map(count).sum();
            measured.push(Measurement::new(format!("{kind}:{unit}"), value as u64));
        }
    }
    Ok(measured)
}

/// Arguments of `xtask phrases`.
#[derive(clap::Args)]
pub struct Args {
    /// Only files whose path contains this.
    #[arg(default_value = "")]
    pattern: String,
}

/// Lists phrases to avoid and long sentences.
pub fn list(args: &Args) -> Result<bool> {
    let root = crate::root();
    let phrases = phrases(&root)?;
    let mut out = std::io::stdout().lock();
    for text in texts(&root)?.iter().filter(|text| text.path.contains(&args.pattern)) {
        for Place { line, text: found, instead } in with_phrases(text, &phrases).iter().chain(&long_sentences(text)) {
            writeln!(out, "{}:{line}: \"{found}\": {instead}", text.path)?;
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
