//! Reads a version's list of calls, src/calls.rs of its crate.

use std::path::Path;

use crate::interface::Interface;
use crate::{Result, read};

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
    /// The function in a few words, from its manual page.
    pub about: String,
}

/// Returns the calls of `interface` in the tree at `root`, in the order of the list.
pub fn all(root: &Path, interface: &Interface) -> Result<Vec<Call>> {
    let path = root.join(interface.source).join("src/calls.rs");
    let text = read(&path)?;
    let entries = text.lines().map(str::trim).filter(|line| line.contains("extern \"") && !line.starts_with("//"));
    let call = |entry| {
        let mut call = Call::parse(entry).ok_or_else(|| format!("{}: not an entry: {entry}", path.display()))?;
        if call.how != "slot" {
            call.about = about(root, &call.name)?;
        }
        Ok(call)
    };
    let calls: Vec<Call> = entries.map(call).collect::<Result<_>>()?;
    if calls.is_empty() { Err(format!("{}: no calls", path.display()).into()) } else { Ok(calls) }
}

/// Returns the description of a call in the section NAME of its manual page.
fn about(root: &Path, name: &str) -> Result<String> {
    let page = root.join(format!("docs/man/{name}.3"));
    let text = read(&page)?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" \\- "));
    line.map(str::to_owned).ok_or_else(|| format!("{}: no line {name} \\- ...", page.display()).into())
}

impl Call {
    fn parse(entry: &str) -> Option<Call> {
        let entry = entry.strip_prefix("#[further] ").unwrap_or(entry);
        let (abi, rest) = entry.strip_prefix("extern \"")?.split_once("\" fn ")?;
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
