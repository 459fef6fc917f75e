//! Reads a version's list of calls, src/calls.rs of its crate, and lists the names that its library exports.

use std::path::Path;

use crate::interface::Interface;
use crate::{Derived, Result, read};

pub struct Call {
    pub name: String,
    /// `C` or `C-unwind`.
    pub abi: String,
    /// Arguments of the call that its slot in the provider table, if any, also has, as `NAME: TYPE, ...`.
    pub arguments: String,
    /// Arguments of the call that its slot lacks, in the form of `arguments`.
    pub more: String,
    /// How the library performs the call, as the list documents: `dispatch`, `wrap`, `own`, `slot` or `variadic`.
    pub how: String,
    /// Field of the provider table, and its type. `None` if the call has no slot.
    pub slot: Option<(String, String)>,
    /// Set if only this project's library exports the call.
    pub further: bool,
    /// The function in a few words, from its manual page.
    pub about: String,
}

/// Returns the calls of `interface` in the tree at `root`, in the order of the list.
pub fn all(root: &Path, interface: &Interface) -> Result<Vec<Call>> {
    let path = root.join(interface.source).join("src/calls.rs");
    let text = read(&path)?;
    let entries = text.lines().map(str::trim).filter(|line| line.contains("extern \"") && !line.starts_with("//"));
    let mut calls = Vec::new();
    for entry in entries {
        let mut call = Call::parse(entry).ok_or_else(|| format!("{}: not an entry: {entry}", path.display()))?;
        if call.how != "slot" {
            call.about = about(root, &call.name)?;
        }
        calls.push(call);
    }
    if calls.is_empty() { Err(format!("{}: no calls", path.display())) } else { Ok(calls) }
}

/// Returns a file with the names that the registry library exports, sorted, one per line. For an extended version, a
/// second file has the names that only this project's library exports.
pub fn symbols(interface: &Interface, calls: &[Call]) -> Vec<Derived> {
    let mut functions: Vec<&Call> = calls.iter().filter(|call| call.how != "slot").collect();
    functions.sort_by_key(|call| &call.name);
    let file = |(further, full): (bool, &str)| {
        let exported = functions.iter().filter(|call| call.further == further);
        let text = exported.map(|call| format!("{}\n", call.name)).collect();
        Derived { path: format!("tests-c/abi/symbols{}{full}.txt", interface.suffix), text }
    };
    [(false, ""), (true, "_full")].into_iter().filter(|(further, _)| interface.extended || !further).map(file).collect()
}

/// Returns the description of a call in the section NAME of its manual page.
fn about(root: &Path, name: &str) -> Result<String> {
    let page = root.join(format!("docs/man/{name}.3"));
    let text = read(&page)?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" \\- "));
    line.map(str::to_owned).ok_or_else(|| format!("{}: no line {name} \\- ...", page.display()))
}

impl Call {
    fn parse(entry: &str) -> Option<Call> {
        let further = entry.strip_prefix("#[further] ");
        let (abi, rest) = further.unwrap_or(entry).strip_prefix("extern \"")?.split_once("\" fn ")?;
        let (name, rest) = rest.split_once('(')?;
        let (arguments, rest) = rest.split_once(") => ")?;
        let rest = rest.strip_suffix(';')?;
        // The slot, if any, follows the last parenthesis.
        let (how, slot) = match rest.rsplit_once(", ") {
            Some((how, slot)) if !slot.contains(')') => (how, Some(slot.split_once(": ")?)),
            _ => (rest, None),
        };
        let (how, with) = how.split_once('(').unwrap_or((how, ""));
        let more = if how == "wrap" { with.trim_end_matches(')') } else { "" };
        Some(Call {
            name: name.to_owned(),
            abi: abi.to_owned(),
            arguments: arguments.to_owned(),
            more: more.to_owned(),
            how: how.to_owned(),
            slot: slot.map(|(field, ty)| (field.to_owned(), ty.to_owned())),
            further: further.is_some(),
            about: String::new(),
        })
    }

    /// Returns all arguments, as `NAME: TYPE, ...`.
    pub fn all_arguments(&self) -> String {
        let separator = if self.more.is_empty() { "" } else { ", " };
        format!("{}{separator}{}", self.arguments, self.more)
    }

    /// Returns the names of all arguments.
    pub fn names(&self) -> Vec<String> {
        self.all_arguments().split(", ").filter_map(|argument| Some(argument.split_once(':')?.0.to_owned())).collect()
    }
}

#[cfg(test)]
mod tests;
