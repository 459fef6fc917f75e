//! Assembly of a header from cbindgen's output and other text.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::functions;
use super::source::{Second, Source, Unit};
use super::spec::{Header, Part};
use super::text::WIDTH;
use crate::Result;
use crate::calls::Call;
use crate::interface::{COMMON, Interface};

/// Returns the text of a header, from the tree at `root`.
pub fn header(root: &Path, interface: &Interface, header: &Header, calls: &[Call]) -> Result<String> {
    let crates = [COMMON, interface.source].map(|source| root.join(source));
    let read = |path: &str| crates.each_ref().map(|folder| fs::read_to_string(folder.join(path)).ok());
    let macros = read(&format!("macros/{}", header.name)).into_iter().flatten().collect::<Vec<_>>().join("\n");
    let defined = defined_names(&macros);

    let mut sections = Vec::new();
    for part in header.parts {
        let (title, items) = match part {
            Part::Module(module) => {
                let explain = |e: String| format!("{}, {module}: {e}", interface.source);
                let [common, own] = read(&format!("src/{module}.rs"));
                if common.is_none() && own.is_none() {
                    return Err(explain("there is no such module".to_owned()));
                }
                let source = Source::new(common.as_deref(), own.as_deref(), &defined).map_err(explain)?;
                sections.extend(section(root, header, &source).map_err(explain)?);
                continue;
            }
            Part::Calls(level) => functions::prototypes(calls, *level)?,
            Part::SlotTypes(level) => functions::slot_types(calls, *level)?,
            Part::Table => functions::table(calls)?,
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
        sections.extend(section(root, header, &Source::of(title, items, &defined)?)?);
    }
    Ok(frame(interface, header, &sections.join("\n")))
}

/// Returns the section of a source. `None` if it is empty.
fn section(root: &Path, header: &Header, source: &Source) -> Result<Option<String>> {
    if source.units.is_empty() {
        return Ok(None);
    }
    let mut section = format!("/* ---- {} ---- */\n", source.title);
    for unit in &source.units {
        section.push('\n');
        section.push_str(&bindings(root, header, unit)?);
        section.push('\n');
    }
    Ok(Some(section))
}

fn bindings(root: &Path, header: &Header, unit: &Unit) -> Result<String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = dir.path().join("unit.rs");
    fs::write(&file, &unit.rust).map_err(|e| e.to_string())?;

    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml"))?;
    config.export.include = unit.types.clone();
    for tag in header.incomplete {
        config.export.rename.insert((*tag).to_owned(), format!("struct {tag}"));
    }
    let mut output = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(&file)
        .generate()
        .map_err(|e| e.to_string())?
        .write(&mut output);
    let output = String::from_utf8(output).map_err(|e| e.to_string())?;

    // cbindgen only warns about items that it omits.
    let words: HashSet<&str> = output.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    if let Some(name) = unit.names.iter().find(|name| !words.contains(name.as_str())) {
        return Err(format!("cbindgen left out {name}"));
    }
    let output = tidy(&unit.literals.restore(output));
    match &unit.second {
        Some(second) => join_names(&output, second),
        None => Ok(output),
    }
}

/// Joins a type and the type definition after it into `typedef struct tag { ... } NAME;`.
fn join_names(text: &str, second: &Second) -> Result<String> {
    let Second { tag, name } = second;
    for keyword in ["struct", "union", "enum"] {
        let opening = format!("{keyword} {tag} {{");
        let ending = format!("}};\n\ntypedef {keyword} {tag} {name};");
        if let Some(body) = text.strip_suffix(&ending) {
            return Ok(format!("{}}} {name};", body.replace(&opening, &format!("typedef {opening}"))));
        }
    }
    Err(format!("{tag} and {name} do not follow each other"))
}

/// Joins comments that fit on one line, and removes blank lines at both ends.
fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.trim_matches('\n').lines().collect();
    let mut result = Vec::new();
    let mut rest = &lines[..];
    while let [line, tail @ ..] = rest {
        rest = tail;
        if let [middle, end, tail @ ..] = tail {
            if line.trim_start() == "/**" && end.trim() == "*/" {
                if let Some(comment) = middle.trim_start().strip_prefix("* ") {
                    let joined = format!("{line} {comment} */");
                    if joined.len() <= WIDTH {
                        result.push(joined);
                        rest = tail;
                        continue;
                    }
                }
            }
        }
        result.push(line.trim_end().to_owned());
    }
    result.join("\n")
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

#[cfg(test)]
mod tests;
