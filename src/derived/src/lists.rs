//! Lists of calls: the exported names, the return codes to test, the table in docs/functions.md.

use std::fs;
use std::path::Path;

use crate::calls::{Calls, How};
use crate::interface::{COMMON, Interface};
use crate::{Derived, Result, headers};

/// The names that the registry library exports, sorted, one a line.
pub fn symbols(interface: &Interface, calls: &Calls) -> Derived {
    Derived { path: format!("tests-c/abi/symbols{}.txt", interface.suffix), text: exported(calls, false) }
}

/// Those that it exports beside the ones that every library of this version has, if there are any.
pub fn further_symbols(interface: &Interface, calls: &Calls) -> Option<Derived> {
    let path = format!("tests-c/abi/symbols{}_full.txt", interface.suffix);
    interface.further.then(|| Derived { path, text: exported(calls, true) })
}

fn exported(calls: &Calls, further: bool) -> String {
    let names = calls.names().into_iter().filter(|name| calls.find(name).is_some_and(|call| call.further == further));
    names.map(|name| format!("{name}\n")).collect()
}

/// Each call with each type of return code that a provider of this project, or the library, returns.
pub fn codes(interface: &Interface, calls: &Calls) -> Derived {
    let mut text = format!(
        "# The return codes of each call, by the tables of errors in {COMMON}/src/calls and\n\
         # {}/src/calls: a subtest of the suite has to provoke each, or unprovoked{}.txt says why not.\n\
         # Written by `make derived`.\n",
        interface.source, interface.suffix
    );
    for name in calls.names() {
        let call = calls.find(&name).expect("the name is that of a call");
        for kind in call.doc.own_types() {
            text.push_str(&format!("{name} {kind}\n"));
        }
    }
    Derived { path: format!("tests-c/codes/codes{}.txt", interface.suffix), text }
}

const BEGIN: &str = "<!-- BEGIN functions -->\n";
const END: &str = "<!-- END functions -->\n";

/// docs/functions.md with its table; `all` has the calls of each version.
pub fn functions(root: &Path, all: &[Calls], operations: &[Operation]) -> Result<Derived> {
    let path = "docs/functions.md".to_owned();
    let old = fs::read_to_string(root.join(&path)).map_err(|e| format!("{path}: {e}"))?;
    let parts = old.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("{path}: no lines BEGIN functions and END functions"))?;
    Ok(Derived { text: format!("{before}{BEGIN}{}{END}{after}", table(all, operations)), path })
}

/// A row for each subject: the functions of the first version, which every other has too, and those that another adds.
fn table(all: &[Calls], operations: &[Operation]) -> String {
    let mut text = "<!-- Written by `make derived` from src/udat, src/udat12 and src/udat20. -->\n\n\
        | calls on | functions of 1.2 and 2.0 | functions that only 2.0 has |\n|---|---|---|\n"
        .to_owned();
    let mut subjects: Vec<&str> = Vec::new();
    for group in all.iter().flat_map(|calls| &calls.groups) {
        if !subjects.contains(&group.about.as_str()) {
            subjects.push(&group.about);
        }
    }
    let [first, others @ ..] = all else { return text };
    for subject in subjects {
        let common = names_on(first, subject);
        let further: Vec<String> = others.iter().flat_map(|calls| names_on(calls, subject)).collect();
        let further: Vec<String> = further.into_iter().filter(|name| !common.contains(name)).collect();
        let row = format!("| {subject} | {} | {} |\n", common.join(", "), further.join(", "));
        text.push_str(&row.replace("|  |", "| |"));
    }
    let (absent, present): (Vec<_>, Vec<_>) = operations.iter().partition(|operation| operation.absent);
    let quoted = |operations: &[&Operation]| -> String {
        let names: Vec<String> = operations.iter().map(|operation| format!("`{}`", operation.name)).collect();
        names.join(", ")
    };
    text.push_str(&format!("\nExtended operations, by `dat_extension_op`: {}.\n\n", quoted(&present)));
    text.push_str(&format!("These answer `DAT_NOT_IMPLEMENTED`: {}.\n", quoted(&absent)));
    text
}

/// The functions on a subject, in backticks.
fn names_on(calls: &Calls, subject: &str) -> Vec<String> {
    let groups = calls.groups.iter().filter(|group| group.about == subject);
    let calls = groups.flat_map(|group| &group.calls).filter(|call| !matches!(call.how, How::Slot));
    calls.map(|call| format!("`{}`", call.name)).collect()
}

/// An extended operation.
pub struct Operation {
    /// The macro by which programs call it.
    name: String,
    /// Whether it answers DAT_NOT_IMPLEMENTED.
    absent: bool,
}

impl Operation {
    /// The operations of a version, from the comments on their numbers.
    pub fn all(root: &Path, interface: &Interface) -> Result<Vec<Operation>> {
        let path = format!("{}/src/ib/operations.rs", interface.source);
        let text = fs::read_to_string(root.join(&path)).map_err(|e| format!("{path}: {e}"))?;
        let comments = headers::comments(&text, "dat_ib_op").map_err(|e| format!("{path}: {e}"))?;
        comments.iter().map(|comment| Operation::of(comment).ok_or_else(|| format!("{path}: {comment}"))).collect()
    }

    /// Parses `See NAME.` or `See NAME. Not in this project: ...`.
    fn of(comment: &str) -> Option<Operation> {
        let (name, rest) = comment.strip_prefix("See ")?.split_once('.')?;
        let absent = rest.starts_with(" Not in this project: ");
        (absent || rest.is_empty()).then(|| Operation { name: name.to_owned(), absent })
    }
}

#[cfg(test)]
mod tests;
