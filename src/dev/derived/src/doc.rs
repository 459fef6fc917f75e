//! Parses the documentation of a call.

use std::collections::BTreeSet;
use std::fmt;

use syn::{Attribute, Expr, Lit, Meta};

use crate::Result;

/// An entry of the list of returned codes ends with this if its codes come only from providers of others.
const FOREIGN: &str = "never from the providers of this project";

/// The headings that an entry may lack.
const OPTIONAL: [&str; 2] = ["Events", "Specification"];

/// A return code.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Code {
    kind: String,
    subtype: String,
    foreign: bool,
}

impl Code {
    /// A code of this type and subtype; `foreign` if the providers of this project never return it.
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

/// The documentation of a call.
pub struct Doc {
    /// The effect of the call, in paragraphs.
    pub summary: Vec<String>,
    /// What holds after success, if the entry says it.
    pub success: Option<String>,
    /// The rest of the list of returned codes.
    pub errors: Vec<Returned>,
    /// What follows the list, in paragraphs.
    pub notes: Vec<String>,
    /// The place where it is specified.
    pub specification: String,
}

/// An entry of the list of returned codes.
pub struct Returned {
    pub kind: String,
    /// The subtypes, none if it has none.
    pub subtypes: Vec<String>,
    /// The condition under which it is returned.
    pub when: String,
    /// Whether the providers of this project never return it.
    pub foreign: bool,
}

impl Doc {
    /// Parses `lines` for a version. `specification` is the place where the call is specified unless the lines name another.
    pub fn read(lines: &[String], version: &str, specification: String) -> Result<Doc> {
        let sections = sections(lines);
        let headings: Vec<&str> = sections.iter().map(|(heading, _)| heading.as_str()).collect();
        let mut expected = vec!["", "Returns", "Events", "Specification"];
        expected.retain(|name| !OPTIONAL.contains(name) || headings.contains(name));
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

    /// The types in the list but DAT_SUCCESS, each once, in the order of the list.
    pub fn types(&self) -> Vec<&str> {
        let mut types: Vec<&str> = Vec::new();
        for row in &self.errors {
            if !types.contains(&row.kind.as_str()) {
                types.push(&row.kind);
            }
        }
        types
    }

    /// The types that a provider of this project, or libdat, returns.
    pub fn own_types(&self) -> BTreeSet<&str> {
        self.errors.iter().filter(|row| !row.foreign).map(|row| row.kind.as_str()).collect()
    }

    /// Every type with every subtype, `DAT_NO_SUBTYPE` where there is none.
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

/// The lines of the documentation among attributes, without the space in front.
pub fn lines(attrs: &[Attribute]) -> Vec<String> {
    let texts = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    texts.map(|text| text.strip_prefix(' ').unwrap_or(&text).to_owned()).collect()
}

/// The lines under each heading; those before the first one have none.
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

/// Joins lines into paragraphs, which empty lines separate.
fn paragraphs(lines: &[String]) -> Vec<String> {
    let paragraphs = lines.split(|line| line.is_empty()).map(|lines| lines.join(" "));
    paragraphs.filter(|paragraph| !paragraph.is_empty()).collect()
}

/// The entries of the list. One of a single version begins with its number: `2.0: when`.
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
    /// Parses ``* `TYPE` / `SUBTYPE`, ... - when``, where a subtype may be abbreviated to `..._WORD`.
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

/// The words in backticks.
fn code(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests;
