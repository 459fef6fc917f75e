//! Reads the modules of an interface crate, and converts their items to C.
//!
//! cbindgen converts structures, unions, type aliases and functions, each in a run of its own, because it sorts the
//! items of a run. This module itself writes enumerations, which are constants in Rust, and other constants, which
//! cbindgen would write in decimal.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use crate::Result;
use crate::interface::{COMMON, Interface};

/// Types whose constants have 64 bits.
const WIDE: &[&str] = &["DAT_EP_PARAM_MASK", "DAT_IA_ATTR_MASK", "DAT_PROVIDER_ATTR_MASK"];

/// Maximum length of a header's line.
pub const WIDTH: usize = 120;

pub struct Item {
    docs: Vec<String>,
    name: String,
    /// The item without its documentation.
    text: String,
    /// Type and value of a constant. `None` for other items.
    constant: Option<(String, String)>,
}

/// A module: the first line of its documentation, and its items.
type Module = (String, Vec<Item>);

/// The modules of the common crate, then of a version's crate, by their paths below `src` without `.rs`.
pub struct Sources {
    config: cbindgen::Config,
    modules: [BTreeMap<String, Module>; 2],
}

impl Sources {
    pub fn read(root: &Path, interface: &Interface) -> Result<Sources> {
        let mut modules = [BTreeMap::new(), BTreeMap::new()];
        for (source, modules) in [COMMON, interface.source].into_iter().zip(&mut modules) {
            read_modules(&root.join(source).join("src"), "", modules).map_err(|e| format!("{source}: {e}"))?;
        }
        Ok(Sources { config: cbindgen::Config::from_file(root.join("cbindgen.toml"))?, modules })
    }

    /// Returns the section with the items of the module `name` of both crates, or none if there are no items. Omits the
    /// items in `defined`, which macros define.
    pub fn section(&self, name: &str, defined: &HashSet<String>) -> Result<Option<String>> {
        let modules: Vec<&Module> = self.modules.iter().filter_map(|modules| modules.get(name)).collect();
        let (title, _) = modules.last().ok_or_else(|| format!("{name}: no such module"))?;
        let items = modules.iter().flat_map(|(_, items)| items).filter(|item| !defined.contains(&item.name));
        let texts = items.filter_map(|item| self.c_item(item).transpose()).collect::<Result<Vec<String>>>()?;
        Ok(section(title, &texts))
    }

    /// Returns an item in C. `None` for a member of an enumeration, which is part of its type.
    fn c_item(&self, item: &Item) -> Result<Option<String>> {
        let Item { docs, name, text, constant } = item;
        if let Some((ty, value)) = constant {
            if is_number(value) && self.enumeration(ty) {
                return Ok(None);
            }
            let value = c_value(ty, value).ok_or_else(|| format!("{name}: no template defines it"))?;
            return Ok(Some(format!("{}#define {name} {value}", comment(docs, ""))));
        }
        if self.enumeration(name) {
            return Ok(Some(self.c_enumeration(item)));
        }
        let docs: String = docs.iter().map(|line| format!("/// {line}\n")).collect();
        Ok(Some(self.typed(name, &format!("{docs}#[repr(C)]\n{text}"))?))
    }

    fn all(&self) -> impl Iterator<Item = &Item> {
        self.modules.iter().flat_map(|modules| modules.values()).flat_map(|(_, items)| items)
    }

    fn enumeration(&self, name: &str) -> bool {
        self.all().any(|item| item.name == name && item.text.ends_with("= c_enum;\n"))
    }

    fn c_enumeration(&self, item: &Item) -> String {
        let name = &item.name;
        let mut text = format!("{}typedef enum {} {{\n", comment(&item.docs, ""), tag(name));
        for Item { docs, name: member, constant, .. } in self.all() {
            if let Some((_, value)) = constant.as_ref().filter(|(ty, value)| ty == name && is_number(value)) {
                text += &format!("{}    {member} = {value},\n", comment(docs, "    "));
            }
        }
        text + &format!("}} {name};")
    }

    /// Converts a type with cbindgen. A structure or union gets a tag in lower case, and a typedef `name`.
    pub fn typed(&self, name: &str, rust: &str) -> Result<String> {
        Ok(with_tag(name, &self.bindings(name, rust)?))
    }

    /// Converts the item `name`, whose text is `rust`, with cbindgen.
    pub fn bindings(&self, name: &str, rust: &str) -> Result<String> {
        let dir = tempfile::tempdir()?;
        let file = dir.path().join("item.rs");
        fs::write(&file, rust)?;
        let mut config = self.config.clone();
        config.export.include = vec![name.to_owned()];
        let mut output = Vec::new();
        let bindings = cbindgen::Builder::new().with_config(config).with_src(&file).generate();
        bindings?.write(&mut output);
        let output = String::from_utf8(output)?;
        // cbindgen only warns about items that it omits.
        if !output.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name) {
            return Err(format!("cbindgen left out {name}").into());
        }
        Ok(tidy(&output.replace("struct struct ", "struct ")))
    }
}

/// Returns a section of a header. `None` if it is empty.
pub fn section(title: &str, texts: &[String]) -> Option<String> {
    let text = || format!("/* ---- {title} ---- */\n\n{}\n", texts.join("\n\n"));
    (!texts.is_empty()).then(text)
}

/// Reads the modules of a directory whose path below `src` is `prefix`.
fn read_modules(directory: &Path, prefix: &str, modules: &mut BTreeMap<String, Module>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = format!("{prefix}{}", path.file_stem().unwrap_or_default().to_string_lossy());
        if path.is_dir() {
            read_modules(&path, &format!("{name}/"), modules)?;
        } else {
            let text = fs::read_to_string(&path)?;
            let title = text.lines().next().and_then(|line| line.strip_prefix("//! ")).unwrap_or_default();
            let items = items(&text).map_err(|line| std::io::Error::other(format!("{name}: not expected: {line}")))?;
            modules.insert(name, (title.to_owned(), items));
        }
    }
    Ok(())
}

/// Returns the structures, unions, type aliases and constants of a formatted module. Fails with the first line of a
/// public enum, static or trait, which a header may need but cannot have.
fn items(text: &str) -> std::result::Result<Vec<Item>, &str> {
    let (mut items, mut docs, mut code) = (Vec::new(), Vec::new(), String::new());
    let mut named = false;
    for line in text.lines() {
        // The constants in `named! { ... }` are indented.
        named = line == "named! {" || named && line != "}";
        let line = if named { line.trim_start() } else { line };
        if let Some(doc) = line.strip_prefix("///") {
            if code.is_empty() {
                docs.push(doc.trim_start().to_owned());
                continue;
            }
        }
        let keyword = line.strip_prefix("pub ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        if !code.is_empty() || ["struct", "union", "type", "const"].contains(&keyword) && !line.contains(" fn ") {
            code += line;
            code += "\n";
            let block = code.starts_with("pub struct") || code.starts_with("pub union");
            if if block { line == "}" } else { line.ends_with(';') } {
                items.push(Item::new(std::mem::take(&mut docs), std::mem::take(&mut code)));
            }
        } else if ["enum", "static", "trait"].contains(&keyword) {
            return Err(line);
        } else if !line.starts_with('#') {
            docs.clear();
        }
    }
    Ok(items)
}

impl Item {
    fn new(docs: Vec<String>, text: String) -> Item {
        let words: Vec<&str> = text.trim_end_matches(";\n").split_whitespace().collect();
        let name: String = words[2].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let line = words[2..].join(" ");
        let constant =
            line.split_once(": ").and_then(|(_, rest)| rest.split_once(" = ")).filter(|_| words[1] == "const");
        let constant = constant.map(|(ty, value)| (ty.to_owned(), value.to_owned()));
        Item { docs, name, text, constant }
    }
}

/// Returns documentation as a comment in C.
fn comment(docs: &[String], indent: &str) -> String {
    match docs {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let lines: String =
                lines.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n").collect();
            format!("{indent}/**\n{lines}{indent} */\n")
        }
    }
}

fn is_number(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the value of a constant in C, or `None` if it has no C form.
fn c_value(ty: &str, value: &str) -> Option<String> {
    match value {
        value if value.contains(['(', '{']) => None,
        value if is_number(value) && WIDE.contains(&ty) => Some(format!("UINT64_C({value})")),
        value if value.starts_with('-') || value.contains(' ') => Some(format!("({value})")),
        value => Some(value.strip_prefix('c').filter(|rest| rest.starts_with('"')).unwrap_or(value).to_owned()),
    }
}

/// Returns the tag of the structure, union or enumeration `name`.
fn tag(name: &str) -> String {
    let tag = name.to_lowercase();
    if tag.ends_with("_async_error_reason") { tag.replacen("dat_", "", 1) } else { tag }
}

/// Turns `struct NAME { ... };` into `typedef struct tag { ... } NAME;`. Leaves a type with a name in lower case
/// unchanged, because this is already its tag.
fn with_tag(name: &str, text: &str) -> String {
    for keyword in ["struct", "union"] {
        let opening = format!("{keyword} {name} {{");
        if let Some((before, rest)) = text.split_once(&opening).filter(|_| name.starts_with("DAT")) {
            return format!("{before}typedef {keyword} {} {{{}}} {name};", tag(name), rest.trim_end_matches("};"));
        }
    }
    text.to_owned()
}

/// Joins comments that fit on one line, and removes blank lines at both ends.
fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.trim_matches('\n').lines().map(str::trim_end).collect();
    let mut result: Vec<String> = Vec::new();
    for line in &lines {
        let comment = match &result[..] {
            [.., open, middle] if line.trim() == "*/" && open.trim() == "/**" => middle.trim().strip_prefix("* "),
            _ => None,
        };
        let joined = comment.map(|comment| format!("{} {comment} */", result[result.len() - 2]));
        if let Some(joined) = joined.filter(|joined| joined.len() <= WIDTH) {
            result.truncate(result.len() - 2);
            result.push(joined);
        } else {
            result.push((*line).to_owned());
        }
    }
    result.join("\n")
}

#[cfg(test)]
mod tests;
