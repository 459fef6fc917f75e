//! The table of what each transport supports, from some types and the constants of its `impl Transport`.

use std::fs;
use std::path::Path;

use crate::{Derived, Result, read};

const PAGE: &str = "docs/dev/architecture.md";
const BEGIN: &str = "<!-- Begin of what `make derived` writes. -->\n\n";
const END: &str = "\n<!-- End of what `make derived` writes. -->\n";
const OBJECTS: [&str; 3] = ["Window", "Srq", "DatagramQp"];

/// Returns the page with a table that is derived from the sources below `root`.
pub fn page(root: &Path) -> Result<Derived> {
    let text = read(&root.join(PAGE))?;
    let (before, rest) = text.split_once(BEGIN).ok_or_else(|| format!("{PAGE}: no {BEGIN:?}"))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| format!("{PAGE}: no {END:?}"))?;
    Ok(Derived { path: PAGE.to_owned(), text: format!("{before}{BEGIN}{}{END}{after}", table(root)?) })
}

fn table(root: &Path) -> Result<String> {
    let directory = root.join("src/transport");
    let entries = fs::read_dir(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| directory.join(name).join("src/adapter.rs").exists());
    names.sort();
    let mut table = format!("| `Transport` | | {} |\n|---|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let read_adapter = |name: &String| read(&directory.join(name).join("src/adapter.rs"));
    let adapters = names.iter().map(read_adapter).collect::<Result<Vec<_>>>()?;
    for (item, meaning) in items(&read(&root.join("src/core/src/transport/mod.rs"))?) {
        table += &format!("| `{item}` | {meaning} |");
        for (name, text) in names.iter().zip(&adapters) {
            let value = value(text, &item).ok_or_else(|| format!("{name}: no {item} in the impl of Transport"))?;
            table += &format!(" {value} |");
        }
        table.push('\n');
    }
    Ok(table)
}

/// Returns the types in [`OBJECTS`] and the constants of the trait `Transport`, each with its documentation up to the
/// first comma, semicolon or full stop.
fn items(text: &str) -> Vec<(String, String)> {
    let mut doc = String::new();
    let mut items = Vec::new();
    for line in text.lines().skip_while(|line| !line.starts_with("pub trait Transport:")) {
        let line = line.trim();
        if let Some(more) = line.strip_prefix("///") {
            doc += more;
            continue;
        }
        if let Some((name, _)) =
            line.strip_prefix("type ").or(line.strip_prefix("const ")).and_then(|l| l.split_once(':'))
        {
            if line.starts_with("const ") || OBJECTS.contains(&name) {
                let begin = doc.split([';', ',', '.']).next().unwrap_or_default();
                items.push((name.to_owned(), begin.trim().replace(['[', ']'], "")));
            }
        }
        doc.clear();
    }
    items
}

/// Returns the value of a type or constant in the `impl Transport` of an adapter's source, or `None` if it is missing.
fn value(text: &str, item: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("impl Transport for ")).map(str::trim);
    let of = |line: &str| {
        let rest = line.strip_prefix("type ").or(line.strip_prefix("const "))?.strip_prefix(item)?;
        let (kind, value) = rest.strip_suffix(';')?.split_once(" = ")?;
        (kind.is_empty() || kind.starts_with(':')).then(|| value.to_owned())
    };
    lines.find_map(of).map(|value| format!("`{value}`"))
}

#[cfg(test)]
mod tests;
