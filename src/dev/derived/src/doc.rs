//! Parser of the documentation of calls.

use std::collections::BTreeSet;
use std::fmt;

use syn::{Attribute, Expr, ExprLit, Lit, Meta, MetaNameValue};

use crate::Result;

/// Suffix of an entry whose codes only other providers return.
const FOREIGN: &str = "never from the providers of this project";

#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Code {
    kind: String,
    subtype: String,
    foreign: bool,
}

impl Code {
    /// Creates a code. `foreign` is set if only other providers return it.
    pub fn new(kind: &str, subtype: &str, foreign: bool) -> Code {
        Code { kind: kind.to_owned(), subtype: subtype.to_owned(), foreign }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Code { kind, subtype, foreign } = self;
        write!(f, "{kind} / {subtype}{}", if *foreign { ", " } else { "" })?;
        f.write_str(if *foreign { FOREIGN } else { "" })
    }
}

/// Documentation of a call.
pub struct Doc {
    /// Effect of the call, in paragraphs.
    pub summary: Vec<String>,
    /// Condition after success.
    pub success: Option<String>,
    /// All other entries of the list of return codes.
    pub errors: Vec<Returned>,
    /// Paragraphs after the list.
    pub notes: Vec<String>,
    /// Section that specifies the call.
    pub specification: String,
}

/// An entry of the list of return codes.
pub struct Returned {
    pub kind: String,
    /// Subtypes, or none.
    pub subtypes: Vec<String>,
    /// Condition under which the code is returned.
    pub when: String,
    /// Set if only other providers return it.
    pub foreign: bool,
}

impl Doc {
    /// Parses `lines` for a version. `specification` is the default for the section of this name.
    pub fn read(lines: &[String], version: &str, specification: String) -> Result<Doc> {
        let sections = sections(lines);
        let headings: Vec<&str> = sections.iter().map(|(heading, _)| heading.as_str()).collect();
        let mut expected = vec!["", "Returns", "Events", "Specification"];
        expected.retain(|name| !["Events", "Specification"].contains(name) || headings.contains(name));
        if headings != expected {
            return Err(format!("headings are {headings:?}, not {expected:?}"));
        }
        let section = |wanted: &str| sections.iter().find(|(heading, _)| heading == wanted).map_or(&[][..], |(_, l)| l);
        let (list, notes): (Vec<_>, Vec<_>) =
            section("Returns").iter().cloned().partition(|line| line.starts_with("* "));
        let mut errors = rows(&list, version)?;
        let success = errors.iter().position(|row| row.kind == "DAT_SUCCESS").map(|at| errors.remove(at).when);
        let summary = paragraphs(section(""));
        if summary.is_empty() {
            return Err("no summary".to_owned());
        }
        let own = paragraphs(section("Specification")).join(" ");
        let specification = if own.is_empty() { specification } else { own };
        Ok(Doc { summary, success, errors, notes: paragraphs(&notes), specification })
    }

    /// Returns the types except DAT_SUCCESS, without duplicates, in the order of the list.
    pub fn types(&self) -> Vec<&str> {
        let mut known = BTreeSet::new();
        self.errors.iter().map(|row| row.kind.as_str()).filter(|kind| known.insert(*kind)).collect()
    }

    /// Returns the types that this project returns.
    pub fn own_types(&self) -> BTreeSet<&str> {
        self.errors.iter().filter(|row| !row.foreign).map(|row| row.kind.as_str()).collect()
    }

    /// Returns all pairs of type and subtype, with `DAT_NO_SUBTYPE` for types without one.
    pub fn codes(&self) -> BTreeSet<Code> {
        let of_row = |row: &Returned| -> Vec<Code> {
            let code = |subtype: &str| Code::new(&row.kind, subtype, row.foreign);
            match &row.subtypes[..] {
                [] => vec![code("DAT_NO_SUBTYPE")],
                subtypes => subtypes.iter().map(|subtype| code(subtype)).collect(),
            }
        };
        self.errors.iter().flat_map(of_row).collect()
    }
}

/// Returns the lines of documentation, without the leading space.
pub fn lines(attrs: &[Attribute]) -> Vec<String> {
    let texts = attrs.iter().filter(|attr| attr.path().is_ident("doc")).filter_map(|attr| match &attr.meta {
        Meta::NameValue(MetaNameValue { value: Expr::Lit(ExprLit { lit: Lit::Str(text), .. }), .. }) => {
            Some(text.value())
        }
        _ => None,
    });
    texts.map(|text| text.strip_prefix(' ').unwrap_or(&text).to_owned()).collect()
}

/// Splits lines at headings. Lines before the first have an empty heading.
fn sections(lines: &[String]) -> Vec<(String, Vec<String>)> {
    let mut sections = vec![(String::new(), Vec::new())];
    for line in lines {
        match line.strip_prefix("# ") {
            Some(heading) => sections.push((heading.to_owned(), Vec::new())),
            None => sections.last_mut().expect("it began with one").1.push(line.clone()),
        }
    }
    sections
}

/// Joins lines into paragraphs, separated by empty lines.
fn paragraphs(lines: &[String]) -> Vec<String> {
    let paragraphs = lines.split(|line| line.is_empty()).map(|lines| lines.join(" "));
    paragraphs.filter(|paragraph| !paragraph.is_empty()).collect()
}

/// Parses the entries of the list for a version. An entry for one version begins with its number: `2.0: when`.
fn rows(list: &[String], version: &str) -> Result<Vec<Returned>> {
    let of_version = |row: &&String| match row.split_once(" - ").and_then(|(_, when)| when.split_once(": ")) {
        Some((only, _)) if only.starts_with(|c: char| c.is_ascii_digit()) => only == version,
        _ => true,
    };
    if list.is_empty() {
        return Err("no list of returned codes".to_owned());
    }
    let rows = list.iter().filter(of_version);
    rows.map(|row| Returned::read(row).ok_or_else(|| format!("not a returned code: {row}"))).collect()
}

impl Returned {
    /// Parses ``* `TYPE` / `SUBTYPE`, ... - when``. `..._WORD` replaces the last word of the preceding subtype.
    pub fn read(row: &str) -> Option<Returned> {
        let (returned, when) = row.strip_prefix("* ")?.split_once(" - ")?;
        let [kind, names @ ..] = &code(returned)[..] else { return None };
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let form = if names.is_empty() { String::new() } else { format!(" / {}", quoted.join(", ")) };
        if returned != format!("`{kind}`{form}") || when.is_empty() {
            return None;
        }
        let mut subtypes: Vec<String> = Vec::new();
        for name in names {
            let whole = match name.strip_prefix("..._") {
                Some(word) => format!("{}_{word}", subtypes.last()?.rsplit_once('_')?.0),
                None => (*name).to_owned(),
            };
            subtypes.push(whole);
        }
        let own = when.strip_suffix(FOREIGN).and_then(|when| when.strip_suffix("; "));
        let (when, foreign) = (own.unwrap_or(when).to_owned(), own.is_some());
        Some(Returned { kind: (*kind).to_owned(), subtypes, when, foreign })
    }
}

/// Returns the words in backticks.
fn code(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests;
