//! The C headers of a version.
//!
//! The templates are C text: `headers` of the common crate, and of a version's crate for headers that only this version
//! has. `@NAME@` is replaced by a value of the version. Whole lines are directives:
//!
//! | line | replaced by |
//! |---|---|
//! | `@module NAME` | the items of the module in both crates, except those for which the template has a `#define` |
//! | `@calls LEVEL` | the prototypes of the calls of a [level](functions::level) |
//! | `@slots LEVEL` | the types of their slots |
//! | `@table` | the structure of the provider table |
//! | `@redirections LEVEL` | upper-case macros, which call through the table |
//! | `@only VERSION` ... `@end` | the lines between, only for this version |
//!
//! Each header can be included alone. dat_redirection.h, udat_redirection.h and udat.h depend on each other, so udat.h
//! includes the others at its end.

mod functions;
mod source;

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::calls::Call;
use crate::interface::{COMMON, INTERFACES, Interface};
use crate::{Derived, Result};

/// Returns all headers of `interface`.
pub fn all(root: &Path, interface: &Interface, calls: &[Call]) -> Result<Vec<Derived>> {
    let sources = source::Sources::read(root, interface)?;
    let templates = |source: &str| fs::read_dir(root.join(source).join("headers"));
    let mut headers = Vec::new();
    for template in templates(COMMON)?.chain(templates(interface.source).into_iter().flatten()) {
        let path = template?.path();
        // Editors leave copies under other names.
        let Some(name) = path.to_str().and_then(|path| path.strip_suffix(".in")?.split('/').next_back()) else {
            continue;
        };
        let text = header(&crate::read(&path)?, interface, &sources, calls);
        let text = text.map_err(|e| format!("{}, {}: {e}", path.display(), interface.version))?;
        headers.push(Derived { path: format!("include/{}/{name}", interface.include), text });
    }
    Ok(headers)
}

/// Replaces the directives and values in a template.
fn header(template: &str, interface: &Interface, sources: &source::Sources, calls: &[Call]) -> Result<String> {
    let defined = defined_names(template);
    let (mut text, mut shown) = (String::new(), true);
    for line in template.lines() {
        let Some(directive) = line.strip_prefix('@') else {
            // Blank lines around what is left out leave only one.
            if shown && !(line.is_empty() && text.ends_with("\n\n")) {
                text += &format!("{line}\n");
            }
            continue;
        };
        shown = match directive.strip_prefix("only ") {
            Some(version) if INTERFACES.iter().any(|known| known.version == version) => version == interface.version,
            Some(version) => return Err(format!("no version: {version}").into()),
            None => shown || directive == "end",
        };
        let section = match directive.split_once(' ').unwrap_or((directive, "")) {
            ("only" | "end", _) => None,
            _ if !shown => None,
            ("module", name) => sources.section(name, &defined)?,
            ("calls", level) => functions::prototypes(sources, calls, level)?,
            ("slots", level) => functions::slot_types(sources, calls, level)?,
            ("table", _) => functions::table(sources, calls)?,
            ("redirections", level) => Some(functions::redirections(calls, level)),
            _ => return Err(format!("not a directive: {line}").into()),
        };
        text += &section.unwrap_or_default();
    }
    if !shown {
        return Err("@only without @end".into());
    }
    let Interface { version, source, library, include, .. } = interface;
    for (name, value) in [("version", version), ("source", source), ("library", library), ("include", include)] {
        text = text.replace(&format!("@{name}@"), value);
    }
    text = text.replace("@INCLUDE@", &include.to_uppercase());
    Ok(text)
}

/// Returns the names of the macros that a template defines.
fn defined_names(text: &str) -> HashSet<String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("#define "))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

#[cfg(test)]
mod tests;
