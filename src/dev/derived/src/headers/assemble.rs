//! Assembly of a header from its parts.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::functions;
use super::source::Sources;
use super::spec::{Header, Part};
use crate::Result;
use crate::calls::Call;
use crate::interface::{COMMON, Interface};

/// Returns the text of a header, from the tree at `root`.
pub fn header(
    root: &Path,
    interface: &Interface,
    header: &Header,
    sources: &Sources,
    calls: &[Call],
) -> Result<String> {
    let read = |source| fs::read_to_string(root.join(source).join("macros").join(header.name)).ok();
    let macros: Vec<String> = [COMMON, interface.source].into_iter().filter_map(read).collect();
    let macros = macros.join("\n");
    let defined = defined_names(&macros);

    let mut sections = Vec::new();
    for part in header.parts {
        match part {
            Part::Module(name) => {
                let explain = |e: String| format!("{}: {name}: {e}", interface.source);
                sections.extend(sources.sections(name, &defined).map_err(explain)?);
            }
            Part::Calls(level) => sections.extend(functions::prototypes(sources, calls, *level)?),
            Part::SlotTypes(level) => sections.extend(functions::slot_types(sources, calls, *level)?),
            Part::Table => sections.extend(functions::table(sources, calls)?),
            Part::Redirections(level) => sections.push(functions::redirections(calls, *level)),
        }
    }
    if !macros.is_empty() {
        let after = sections.iter().position(|section| section.contains(functions::REDIRECTIONS));
        sections.insert(after.unwrap_or(sections.len()), format!("/* ---- Macros ---- */\n\n{macros}"));
    }
    Ok(frame(interface, header, &sections.join("\n")))
}

fn defined_names(text: &str) -> HashSet<String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("#define "))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

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
