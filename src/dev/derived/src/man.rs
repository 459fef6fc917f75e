//! Manual page sections derived from entries of calls, and checks of other sections.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use syn::Type;

use crate::calls::{Call, Calls, How};
use crate::doc::{Code, Returned};
use crate::headers::{Level, wrap};
use crate::interface::INTERFACES;
use crate::{Derived, Result};

/// Macros with their own page, and their calls.
const MACROS: &[(&str, &str)] = &[("dat_ia_open", "dat_ia_openv")];

const SECTIONS: &[&str] = &["SYNOPSIS", "PARAMETERS", "RETURN VALUES"];

/// Manually written sections. Pages of functions without an entry are manual as a whole.
const MANUAL_SECTIONS: &[(&str, &[&str])] = &[
    // The macro has fewer parameters than the call.
    ("dat_ia_open", &["SYNOPSIS", "PARAMETERS"]),
    // The call has variable arguments, and its own header.
    ("dat_extension_op", &["SYNOPSIS"]),
];

/// Section about the changes in a later version.
const CHANGES: &str = "UDAPL 2.0";

const WIDTH: usize = 78;

/// Returns the pages with derived sections. A call of several versions is described as in the first.
pub fn pages(root: &Path, versions: &[Calls]) -> Result<Vec<Derived>> {
    let mut pages = Vec::new();
    for Paged { nth, page, call, .. } in paged(versions).iter().filter(|paged| paged.older.is_none()) {
        let (path, mut text) = read(root, page)?;
        let manual = MANUAL_SECTIONS.iter().find(|(name, _)| name == page).map_or(&[][..], |(_, sections)| sections);
        for heading in SECTIONS.iter().filter(|heading| !manual.contains(heading)) {
            let (begin, end) = place(&text, heading).ok_or_else(|| format!("{path}: no section {heading}"))?;
            let section = match *heading {
                "SYNOPSIS" => synopsis(*nth, call),
                "PARAMETERS" => Ok(parameters(call)),
                _ => return_values(call),
            };
            text.replace_range(begin..end, &section.map_err(|e| format!("{path}: {e}"))?);
        }
        pages.push(Derived { path, text });
    }
    Ok(pages)
}

/// Compares the sections about a later version with its calls: they must contain the codes that only this version
/// returns, and no code that the call does not return. Returns one line per error.
pub fn faults(root: &Path, versions: &[Calls]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for Paged { page, call, older, .. } in &paged(versions) {
        let Some(older) = older else { continue };
        let (path, text) = read(root, page)?;
        let changes = place(&text, CHANGES).map_or("", |(begin, end)| &text[begin..end]);
        let (table, page, known) = (call.doc.codes(), codes(changes), older.doc.codes());
        let line = |code: &Code, only: &str| format!("{path}: {CHANGES}: {code}: only {only}");
        let missing = table.difference(&page).filter(|code| !known.contains(code));
        faults.extend(missing.map(|code| line(code, "in the table of the call")));
        faults.extend(page.difference(&table).map(|code| line(code, "on the page")));
    }
    Ok(faults)
}

struct Paged<'a> {
    /// Index of the version.
    nth: usize,
    /// Name of the page: a call or a macro.
    page: String,
    call: &'a Call,
    /// The same call of an earlier version.
    older: Option<&'a Call>,
}

/// Returns the calls of all versions that have a page.
fn paged(versions: &[Calls]) -> Vec<Paged<'_>> {
    let mut paged = Vec::new();
    for (nth, calls) in versions.iter().enumerate() {
        let pages = calls.functions().map(|call| (call.name.to_string(), call));
        let macros = MACROS.iter().filter_map(|(page, call)| Some(((*page).to_owned(), calls.find(call)?)));
        paged.extend(pages.chain(macros).map(|(page, call)| {
            let older = versions[..nth].iter().rev().find_map(|older| older.find(&call.name.to_string()));
            Paged { nth, page, call, older }
        }));
    }
    paged
}

/// Reads a page. Returns its path and text.
fn read(root: &Path, page: &str) -> Result<(String, String)> {
    let path = format!("docs/man/{page}.3");
    let text = fs::read_to_string(root.join(&path)).map_err(|e| format!("{path}: {e}"))?;
    Ok((path, text))
}

fn place(page: &str, heading: &str) -> Option<(usize, usize)> {
    let head = format!("\n.SH {heading}\n");
    let begin = page.find(&head)? + head.len();
    let end = page[begin..].find("\n.SH ").map_or(page.len(), |length| begin + length + 1);
    Some((begin, end))
}

fn synopsis(nth: usize, call: &Call) -> Result<String> {
    let interface = &INTERFACES[nth];
    let header = if Level::of(&call.name.to_string()) == Level::Registry { "dat_registry" } else { "udat" };
    let head = format!("DAT_RETURN {}(", call.name);
    let arguments = call.all_arguments().map(|argument| Ok((c_type(&argument.ty)?, argument.name.to_string())));
    let arguments = arguments.collect::<Result<Vec<_>>>()?;
    // One argument per line, aligned after the name unless a line gets too long.
    let longest = arguments.iter().map(|(ty, name)| ty.len() + name.len() + 2).max().unwrap_or_default();
    let (mut lines, indent) = match head.len() + longest <= WIDTH {
        true => (String::new(), head.len()),
        false => (format!(".B {head}\n"), 8),
    };
    let last = arguments.len() - 1;
    for (at, (ty, name)) in arguments.iter().enumerate() {
        let before = if at == 0 && lines.is_empty() { head.clone() } else { " ".repeat(indent) };
        lines.push_str(&format!(".BI \"{before}{ty}\" {name} {}\n", if at == last { ");" } else { "," }));
    }
    let link = interface.library.trim_start_matches("lib");
    let include = interface.include;
    let mut text =
        format!(".nf\n.B #include <{include}/{header}.h>\n.PP\n{lines}.fi\n.PP\nLink with \\fI\\-l{link}\\fP.\n");
    // 2.0 has all calls of 1.2.
    if let (0, [_, later]) = (nth, &INTERFACES) {
        let (include, link) = (later.include, later.library.trim_start_matches("lib"));
        text += &format!("For uDAPL 2.0, include \\fI<{include}/{header}.h>\\fP and link with \\fI\\-l{link}\\fP.\n");
    }
    Ok(text)
}

/// Returns a type in C, so that a name can follow.
fn c_type(ty: &Type) -> Result<String> {
    let pointed = |ty: &Type| Ok::<_, String>(format!("{}*", c_type(ty)?));
    match ty {
        Type::Ptr(pointer) if pointer.const_token.is_some() => Ok(format!("const {}", pointed(&pointer.elem)?)),
        Type::Ptr(pointer) => pointed(&pointer.elem),
        Type::Path(path) => match path.path.segments.last().map(|segment| segment.ident.to_string()).as_deref() {
            Some("c_char") => Ok("char ".to_owned()),
            Some("c_ulong") => Ok("unsigned long ".to_owned()),
            Some(name) => Ok(format!("{name} ")),
            None => Err("a type without a name".to_owned()),
        },
        _ => Err("neither a name nor a pointer".to_owned()),
    }
}

fn parameters(call: &Call) -> String {
    let shown = call.all_arguments().count() - usize::from(matches!(call.how, How::Variadic));
    let entries = call.all_arguments().take(shown);
    entries.map(|entry| format!(".TP\n.IR {} \" ({})\"\n{}", entry.name, entry.way, text(&entry.text))).collect()
}

fn return_values(call: &Call) -> Result<String> {
    let success = call.doc.success.as_ref().ok_or("the entry does not say what holds after success")?;
    let mut section = format!(".TP\n.B DAT_SUCCESS\n{}", text(success));
    section.extend(call.doc.errors.iter().map(returned));
    if !matches!(call.how, How::Own) {
        section.push_str(&format!(".PP\n{}", text(ANY)));
    }
    section.extend(call.doc.notes.iter().map(|note| format!(".PP\n{}", text(note))));
    Ok(section)
}

/// Codes in no table, because a provider can return them from any call.
const ANY: &str = "Any call may also return `DAT_INTERNAL_ERROR` or `DAT_NOT_IMPLEMENTED`; see libdat(7).";

const STATE: &str = "DAT_INVALID_STATE_EP_";

/// Returns the entry of one or more codes with the same condition.
fn returned(row: &Returned) -> String {
    let Returned { kind, subtypes, when, foreign } = row;
    let mut when = format!("{when}{}", handle(kind, when));
    let tag = match &subtypes[..] {
        [] => "\" / \" DAT_NO_SUBTYPE".to_owned(),
        // That many names make the tag too long.
        [others @ .., last] if others.len() > 1 && subtypes.iter().all(|name| name.starts_with(STATE)) => {
            when.push_str(&format!(". The subtype names the state: `{}` or `{last}`", others.join("`, `")));
            format!("\" / {STATE}...\"")
        }
        subtypes => format!("\" / \" {}", subtypes.join(" \", \" ")),
    };
    let foreign = if *foreign { ". Only other providers return this code" } else { "" };
    format!(".TP\n.BR {kind} {tag}\n{}", text(&format!("{when}{foreign}")))
}

/// Returns the explanation of a handle's condition "`NAME` is not a KIND".
fn handle(kind: &str, when: &str) -> &'static str {
    let what = when.split_once(" is not a").filter(|_| kind == "DAT_INVALID_HANDLE");
    match what.map(|(_, what)| what.trim_start_matches('n').trim_start()) {
        Some("object") => ": null, misaligned, or already freed",
        Some(what) if what.contains([',', ';', '.', ':']) || what.contains(" or ") => "",
        Some("open interface adapter") => ": null, misaligned, of another kind, or already closed",
        Some(_) => ": null, misaligned, of another kind, or already freed",
        None => "",
    }
}

/// Returns the lines of a text. Sentences begin with a capital on a new line, and end with a full stop.
fn text(entry: &str) -> String {
    let mut entry = entry.trim_end_matches('.').to_owned() + ".";
    if !entry.starts_with("dat") {
        entry[..1].make_ascii_uppercase();
    }
    let lines = entry.replace(". ", ".\n").replace("...\n", "... ");
    let lines = lines.lines().flat_map(|sentence| wrap(marked(sentence).split(' '), WIDTH));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Marks the words of a sentence. In backticks, constants become bold and other names italic; functions and pages
/// without backticks get their section.
fn marked(sentence: &str) -> String {
    let spans = sentence.split('`').enumerate().map(|(at, span)| {
        let span = span.replace('\\', "\\e").replace('\'', "\\(aq");
        match at % 2 {
            0 => span.split(' ').map(word).collect::<Vec<_>>().join(" "),
            _ if span.starts_with(|c: char| c.is_ascii_uppercase()) => format!("\\fB{span}\\fP"),
            _ => format!("\\fI{span}\\fP"),
        }
    });
    spans.collect()
}

fn word(word: &str) -> String {
    if let Some((name, section)) = word.split_once('(') {
        if section.starts_with(|c: char| c.is_ascii_digit()) && name.starts_with(|c: char| c.is_ascii_lowercase()) {
            return format!("\\fB{name}\\fP({section}");
        }
    }
    match word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len()) {
        end if word.starts_with("dat_") => format!("\\fB{}\\fP(3){}", &word[..end], &word[end..]),
        _ => word.replace("-1", "\\-1"),
    }
}

/// Marks an entry whose codes only other providers return.
const FOREIGN: &str = "Only other providers return this code";

/// Returns all pairs of type and subtype in the tags of a section.
fn codes(section: &str) -> BTreeSet<Code> {
    let mut codes = BTreeSet::new();
    for entry in section.split("\n.TP\n").map(|entry| entry.trim_start_matches(".TP\n")) {
        let (tag, text) = entry.split_once('\n').unwrap_or((entry, ""));
        let Some(tag) = tag.strip_prefix(".BR ") else { continue };
        // Text after the last tag applies to all codes.
        let text = text.split("\n.PP\n").next().unwrap_or_default();
        let names: Vec<&str> = tag.split([' ', '"', ',']).filter(|word| word.starts_with("DAT_")).collect();
        let [kind, subtypes @ ..] = &names[..] else { continue };
        let foreign = text.replace('\n', " ").contains(FOREIGN);
        codes.extend(subtypes.iter().map(|subtype| Code::new(kind, subtype, foreign)));
    }
    codes
}

#[cfg(test)]
mod tests;
