//! Assembles a header from the declarations of its modules and the text around them.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::declare::declarations;
use super::spec::{Header, Part};
use super::{functions, source};
use crate::Result;
use crate::calls::Calls;
use crate::interface::{COMMON, Interface};

/// The text of a header of `interface`; `root` is the top of the tree.
pub fn header(root: &Path, interface: &Interface, header: &Header, calls: &Calls) -> Result<String> {
    let crates = [COMMON, interface.source].map(|source| root.join(source));
    let read = |path: &str| crates.each_ref().map(|folder| fs::read_to_string(folder.join(path)).ok());
    let macros = read(&format!("macros/{}", header.name)).into_iter().flatten().collect::<Vec<_>>().join("\n");
    let defined = defined_names(&macros);

    let mut sections = Vec::new();
    for part in header.parts {
        let declared = match part {
            Part::Module(module) => {
                let explain = |e: String| format!("{}, {module}: {e}", interface.source);
                let [common, own] = read(&format!("src/{module}.rs"));
                if common.is_none() && own.is_none() {
                    return Err(explain("there is no such module".to_owned()));
                }
                let (title, items) = source::module(common.as_deref(), own.as_deref()).map_err(explain)?;
                let text = declarations(items, |name| defined.contains(name), header.incomplete).map_err(explain)?;
                vec![(title, text)]
            }
            Part::Calls(level) => functions::prototypes(interface, calls, *level)?,
            Part::SlotTypes(level) => vec![functions::slot_types(calls, *level)?],
            Part::Table => vec![functions::table(calls)],
            Part::Macros if macros.is_empty() => return Err(format!("{}: no text in macros/", header.name)),
            Part::Macros => {
                sections.push(format!("/* ---- Macros ---- */\n\n{macros}"));
                continue;
            }
            Part::Redirections(level) => {
                sections.push(functions::redirections(calls, *level));
                continue;
            }
        };
        let shown = declared.iter().filter(|(_, text)| !text.is_empty());
        sections.extend(shown.map(|(title, text)| format!("/* ---- {title} ---- */\n{text}")));
    }
    Ok(frame(interface, header, &sections.join("\n")))
}

/// The names that a text defines as macros.
fn defined_names(text: &str) -> HashSet<String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("#define "))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

/// Adds what surrounds the sections of a header.
fn frame(interface: &Interface, header: &Header, body: &str) -> String {
    let Interface { version, source, library, include, .. } = interface;
    let guard = format!("{include}_{}", header.name.replace('.', "_")).to_uppercase();
    let mut text = format!(
        "/*\n * {include}/{}: {}.\n *\n * Part of {library}, an implementation of uDAPL {version}.\n \
         * SPDX-License-Identifier: MIT OR Apache-2.0\n *\n \
         * Generated from {source} by `make derived`; changes belong there.\n */\n\n\
         #ifndef {guard}\n#define {guard}\n",
        header.name, header.about
    );
    let includes = |text: &mut String, open: char, names: &[&str], close: char| {
        if !names.is_empty() {
            text.push('\n');
        }
        for name in names {
            text.push_str(&format!("#include {open}{name}{close}\n"));
        }
    };
    let mut system = header.system.to_vec();
    if body.contains("va_list") {
        system.push("stdarg.h");
    }
    includes(&mut text, '<', &system, '>');
    includes(&mut text, '"', header.needs, '"');
    let extended = body.contains("DAT_NOT_IMPLEMENTED = 0xFFFF0000");
    if extended {
        text.push_str(
            "\n/* DAT_NOT_IMPLEMENTED has bit 31, which needs an extension in C before C23. */\n\
             #ifdef __GNUC__\n#pragma GCC diagnostic push\n\
             #pragma GCC diagnostic ignored \"-Wpedantic\"\n#endif\n",
        );
    }
    if !body.is_empty() {
        text.push_str("\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
        text.push_str(body);
        text.push_str("\n#ifdef __cplusplus\n}\n#endif\n");
    }
    if extended {
        text.push_str("\n#ifdef __GNUC__\n#pragma GCC diagnostic pop\n#endif\n");
    }
    includes(&mut text, '"', header.adds, '"');
    text.push_str(&format!("\n#endif /* {guard} */\n"));
    text
}

#[cfg(test)]
mod tests;
