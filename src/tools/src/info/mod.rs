//! dat-info: the interface adapters of this host.
//!
//! The tool's own copy of the registry applies the rules of dat.conf and reports each step of its search. `explain`
//! shows the steps and compares the result with the loaded library's list. Only a provider can check its own
//! requirements. So a separate process opens each adapter with error messages enabled. A provider that crashes or hangs
//! then affects no other adapter.

mod arguments;
mod attributes;
mod devices;
mod explain;
mod listing;
mod probe;
mod processes;

pub use arguments::Arguments;

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStringExt;

use anyhow::bail;
use dat::{Api, Request};
use serde_json::json;

use crate::print::{self, HEADING, styled};
use crate::shell::operand;
use crate::tool::{Common, Found, Loaded, Outcome, Tool, beside_this_tool, version};
use attributes::Group;

/// The output of `--licences`, compiled in so that it does not depend on installed files.
const LICENCES: &[&str] = &[
    include_str!("../../../../LICENSE"),
    include_str!("../../../../LICENSE-MIT"),
    include_str!("../../../../LICENSE-THIRD-PARTY"),
];

impl Tool for Arguments {
    const MANUAL: &'static str = include_str!("manual.txt");

    fn run(self) -> anyhow::Result<Outcome> {
        if self.licences {
            print::line(LICENCES.join("\n").trim_end())?;
            return Ok(Outcome::Fine);
        }
        let (common, json) = (&self.common, self.common.json);
        // An argument cannot contain a NUL byte, so this does not fail.
        let name = self.name.map(|name| CString::new(name.into_vec()).unwrap_or_default());
        let outcome = match (name.as_deref(), self.probe) {
            (Some(name), Some(request)) => return probe::answer(name, request, common),
            (None, _) if self.processes => processes::run(json, self.all, self.watch),
            (name, _) if self.explain => explain::run(name, common, self.all),
            (Some(name), _) => one(name, common),
            (None, _) => listing::run(common, self.all),
        };
        if let Err(error) = &outcome {
            if json {
                let mut object = json!({ "error": format!("{error:#}") });
                if let Some(name) = &name {
                    object["name"] = words(name).into();
                }
                print::line(format_args!("{object:#}"))?;
            }
        }
        outcome
    }
}

fn one(name: &CStr, common: &Common) -> anyhow::Result<Outcome> {
    // Load the library here first: its error is clearer than the probe's.
    let library = common.library_with(Some(name.to_bytes()))?.library;
    let probe = probe::probe(name, Request::of(library.api()), common.library.as_deref());
    let opened = match &probe.answer {
        Ok(opened) => opened,
        Err(why) => {
            for message in &probe.messages {
                print::complain(shown(&message.text));
            }
            let (shown, name) = (shown(&words(name)), operand(name.to_bytes()));
            bail!("{shown} does not open: {why}; `dat-info --explain {name}` shows more")
        }
    };
    if common.json {
        let mut object = json!({ "name": words(name), "library": opened.library });
        for group in &opened.groups {
            let attributes = group.attributes.iter().map(|one| (one.name.clone(), one.value.clone())).collect();
            object[&group.name] = serde_json::Value::Object(attributes);
        }
        print::line(format_args!("{object:#}"))?;
    } else {
        print::line(text(opened))?;
    }
    Ok(Outcome::Fine)
}

fn text(opened: &probe::Opened) -> String {
    let all = || opened.groups.iter().flat_map(|group| &group.attributes);
    let width = all().map(|attribute| attribute.meaning.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Group { name, attributes } in &opened.groups {
        text += &format!("{}\n", styled(HEADING, name));
        for attribute in attributes {
            text += &format!("  {:width$}  {}\n", shown(&attribute.meaning), shown(&attribute.words));
        }
        if name == "provider" {
            if let Some(library) = &opened.library {
                text += &format!("  {:width$}  {}\n", "Library", shown(library));
            }
        }
    }
    text.trim_end().to_owned()
}

fn words(string: &CStr) -> String {
    string.to_string_lossy().into_owned()
}

/// Escapes control characters, which could affect the terminal.
fn shown(text: &str) -> String {
    let escaped = |letter: char| if letter.is_control() { letter.escape_default().to_string() } else { letter.into() };
    text.chars().map(escaped).collect()
}

fn load(common: &Common) -> Vec<anyhow::Result<Loaded>> {
    common.libraries().into_iter().map(|found| found.and_then(Found::load)).collect()
}

/// Returns a hint if the loader finds no library for programs, but one is installed with this tool, or if it finds a
/// library that is not libdat.
fn hidden(found: &Found) -> Option<String> {
    let (library, api) = (found.library.path()?, found.library.api());
    if found.foreign {
        let installed = beside_this_tool(api).filter(|file| dat::is_libdat(file).unwrap_or(false));
        let directory = installed.as_ref().and_then(|file| file.parent());
        let directory = directory.map_or("the directory of libdat".to_owned(), |path| path.display().to_string());
        let library = library.display();
        return Some(format!(
            "Programs of uDAPL {api} load {library}, which is not libdat: put {directory} first in LD_LIBRARY_PATH."
        ));
    }
    found.missed.as_ref()?;
    let (own, directory) = (api.library(), library.parent()?.display());
    Some(format!("Programs do not find {own}: add {directory} to LD_LIBRARY_PATH, or see ldconfig(8)."))
}

/// Returns a fault if an entry is for a lower minor version than its programs request, such as 1.1 instead of 1.2.
fn outdated(request: Request) -> Option<String> {
    let api = Api::ALL.into_iter().find(|api| api.version().0 == request.version.0)?;
    let (major, minor) = request.version;
    let fault = || format!("its line is for uDAPL {major}.{minor}; for programs of {api}, write u{api}");
    (minor < api.version().1).then(fault)
}
