//! Lists of calls: the exported names, the return codes to test, the table in README.md.

use std::fs;
use std::path::Path;

use crate::calls::Calls;
use crate::{Derived, Result};

/// The names that libdat.so.1 exports, sorted, one a line.
pub fn symbols(calls: &Calls) -> Derived {
    let text = calls.names().iter().map(|name| format!("{name}\n")).collect();
    Derived { path: "tests-c/abi/symbols.txt".to_owned(), text }
}

/// Each call with each type of return code that a provider of this project, or libdat, returns.
pub fn codes(calls: &Calls) -> Derived {
    let mut text = String::from(
        "# The return codes of each call, by the tables of errors in src/udat12/src/calls: a subtest of the\n\
         # suite has to provoke each, or unprovoked.txt says why not. Written by `make derived`.\n",
    );
    for name in calls.names() {
        let call = calls.find(&name).expect("the name is that of a call");
        for kind in call.doc.own_types() {
            text.push_str(&format!("{name} {kind}\n"));
        }
    }
    Derived { path: "tests-c/codes/codes.txt".to_owned(), text }
}

const BEGIN: &str = "<!-- BEGIN functions -->\n";
const END: &str = "<!-- END functions -->\n";

/// README.md with the table of functions.
pub fn readme(root: &Path, calls: &Calls) -> Result<Derived> {
    let path = "README.md".to_owned();
    let old = fs::read_to_string(root.join(&path)).map_err(|e| format!("{path}: {e}"))?;
    let parts = old.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("{path}: no lines BEGIN functions and END functions"))?;
    Ok(Derived { text: format!("{before}{BEGIN}{}{END}{after}", table(calls)), path })
}

fn table(calls: &Calls) -> String {
    let mut text =
        "<!-- Written by `make derived` from src/udat12. -->\n\n| calls on | functions |\n|---|---|\n".to_owned();
    for group in &calls.groups {
        let names: Vec<String> = group.calls.iter().map(|call| format!("`{}`", call.name)).collect();
        text.push_str(&format!("| {} | {} |\n", group.about, names.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_in_every_list() {
        let calls = Calls::read(&crate::root()).unwrap();
        let (symbols, table) = (symbols(&calls).text, table(&calls));
        assert!(calls.all().all(|call| symbols.contains(&format!("{}\n", call.name))));
        assert!(calls.all().all(|call| table.contains(&format!("`{}`", call.name))));
    }
}
