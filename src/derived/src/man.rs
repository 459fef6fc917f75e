//! Compares the manual pages with the tables of errors.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::Result;
use crate::calls::Calls;
use crate::doc::Code;

/// A macro that has a page of its own, and the call that it stands for.
const MACROS: &[(&str, &str)] = &[("dat_ia_open", "dat_ia_openv")];

/// A page names the states of an endpoint in the text below if the tag would be too long.
const STATES: &str = "DAT_INVALID_STATE_EP_...";

/// The section of a page about the calls of a version that change one of the version before.
const CHANGES: &str = "UDAPL 2.0";

/// Lists what is wrong with the pages, a line for each fault. `versions` are the calls of each version, from the first on.
///
/// The codes of a call stand under RETURN VALUES. Those that only a later version has stand in the section on it, with such
/// others as have another meaning there.
pub fn faults(root: &Path, versions: &[Calls]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for (nth, calls) in versions.iter().enumerate() {
        let pages = calls.functions().map(|call| (call.name.to_string(), call));
        let macros = MACROS.iter().filter_map(|(page, call)| Some(((*page).to_owned(), calls.find(call)?)));
        for (page, call) in pages.chain(macros) {
            let older = versions[..nth].iter().rev().find_map(|older| older.find(&call.name.to_string()));
            let heading = if older.is_none() { "RETURN VALUES" } else { CHANGES };
            let path = format!("docs/man/{page}.3");
            let text = fs::read_to_string(root.join(&path)).map_err(|e| format!("{path}: {e}"))?;
            let (table, page) = (call.doc.codes(), codes(&text, heading));
            let known = older.map(|older| older.doc.codes()).unwrap_or_default();
            let line = |code: &Code, only: &str| format!("{path}: {heading}: {code}: only {only}");
            let missing = table.difference(&page).filter(|code| !known.contains(code));
            faults.extend(missing.map(|code| line(code, "in the table of the call")));
            faults.extend(page.difference(&table).map(|code| line(code, "on the page")));
        }
    }
    Ok(faults)
}

/// An entry says this if its codes come only from providers of others.
const FOREIGN: &str = "Never from the providers of this project";

/// Every type with every subtype in the tags under a heading.
fn codes(page: &str, heading: &str) -> BTreeSet<Code> {
    let mut codes = BTreeSet::new();
    let mut sections = page.split("\n.SH ").filter_map(|section| section.split_once('\n'));
    let section = sections.find_map(|(found, text)| (found == heading).then_some(text)).unwrap_or_default();
    for entry in section.split("\n.TP\n").map(|entry| entry.trim_start_matches(".TP\n")) {
        let (tag, text) = entry.split_once('\n').unwrap_or((entry, ""));
        let Some(tag) = tag.strip_prefix(".BR ") else { continue };
        // The text after the last tag is about all codes.
        let text = text.split("\n.PP\n").next().unwrap_or_default();
        let (names, states) = (names(tag), tag.contains(STATES));
        let Some(kind) = names.first() else { continue };
        let subtypes: Vec<&str> = match states {
            true => self::names(text).into_iter().filter(|name| name.starts_with("DAT_INVALID_STATE_EP_")).collect(),
            false => names[1..].to_vec(),
        };
        let foreign = text.replace('\n', " ").contains(FOREIGN);
        codes.extend(subtypes.into_iter().map(|subtype| Code::new(kind, subtype, foreign)));
    }
    codes
}

/// The names in capitals, except those that end in an underscore and stand for several.
fn names(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '\\');
    let words = words.flat_map(|word| word.split("\\fB")).map(|word| word.trim_end_matches("\\fP"));
    words.filter(|word| word.starts_with("DAT_") && !word.ends_with('_')).collect()
}

#[cfg(test)]
mod tests;
