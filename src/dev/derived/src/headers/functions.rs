//! Parts of the headers that are derived from calls.

use syn::Item;

use super::spec::Level;
use super::text::{WIDTH, wrap};
use crate::Result;
use crate::calls::Call;

/// A title and its items.
type Part = (String, Vec<Item>);

fn part(title: &str, items: impl Iterator<Item = String>) -> Result<Part> {
    let items = items.map(|text| syn::parse_str(&text).map_err(|e| format!("{e}: {text}")));
    Ok((title.to_owned(), items.collect::<Result<Vec<Item>>>()?))
}

fn of_level(calls: &[Call], level: Level) -> impl Iterator<Item = &Call> {
    calls.iter().filter(move |call| Level::of(&call.name) == level)
}

/// Returns the prototypes.
pub fn prototypes(calls: &[Call], level: Level) -> Result<Part> {
    let functions = of_level(calls, level).filter(|call| call.how != "slot");
    part("Calls; NAME(3) is the manual page of a call", functions.map(prototype))
}

fn prototype(call: &Call) -> String {
    let Call { abi, name, about, .. } = call;
    let mut arguments = call.all_arguments();
    if call.how == "variadic" {
        let fixed = arguments.rfind(", ").unwrap_or_default();
        arguments.replace_range(fixed.., ", ...");
    }
    format!("unsafe extern \"{abi}\" {{\n/// {name}(3): {about}.\npub fn {name}({arguments}) -> DAT_RETURN;\n}}")
}

/// Returns the types of slots.
pub fn slot_types(calls: &[Call], level: Level) -> Result<Part> {
    let types = of_level(calls, level).filter_map(|call| {
        let (_, ty) = call.slot.as_ref()?;
        let Call { abi, name, arguments, .. } = call;
        Some(format!(
            "/// Slot of {name}.\npub type {ty} = Option<unsafe extern \"{abi}\" fn({arguments}) -> DAT_RETURN>;"
        ))
    });
    let title = match level {
        Level::User => "Types of the slots of the user-level interface alone",
        _ => "Types of the slots that both interfaces share",
    };
    part(title, types)
}

/// Returns the provider table.
pub fn table(calls: &[Call]) -> Result<Part> {
    let fields = calls.iter().filter_map(|call| {
        let (field, ty) = call.slot.as_ref()?;
        Some(format!("/// {}.\npub {field}: {ty},\n", call.name))
    });
    let table = format!(
        "/// Table of the functions of a provider. The order is part of the binary interface. For a slot that\n\
         /// is NULL, the library returns DAT_NOT_IMPLEMENTED.\n\
         #[repr(C)]\npub struct dat_provider {{\n\
         /// Name of the adapter that it serves.\npub device_name: *const c_char,\n\
         /// For the provider's own use.\npub extension: DAT_PVOID,\n{}}}",
        fields.collect::<String>()
    );
    part("The table of a provider", [table, "pub type DAT_PROVIDER = dat_provider;".to_owned()].into_iter())
}

/// Returns the upper-case macros, which call through the table.
pub fn redirections(calls: &[Call], level: Level) -> String {
    let mut text = "/* ---- Calls by way of the table ---- */\n\n\
        /*\n * Upper-case macros: the functions by way of the table of the object's provider, without the library in\n \
        * between. No handle is checked, and the one that names the table is evaluated twice.\n */\n"
        .to_owned();
    let through = |call: &&Call| ["dispatch", "slot", "variadic"].contains(&call.how.as_str());
    text.extend(of_level(calls, level).filter(through).filter_map(redirection));
    text
}

fn redirection(call: &Call) -> Option<String> {
    let (field, ty) = call.slot.as_ref()?;
    let macro_name = ty.trim_end_matches("_FUNC");
    let names = call.names();
    let (handle, last) = (&names[0], names.len() - 1);
    let list = |open: &str, close: &str| -> Vec<String> {
        let item = |(at, name): (usize, &String)| format!("{open}{name}{close}{}", if at == last { ")" } else { "," });
        names.iter().enumerate().map(item).collect()
    };
    // All lines except the last end with a space and a backslash.
    let lines = |head: String, items: Vec<String>, room: usize| -> Vec<String> {
        let whole = format!("{head}{}", items.join(" "));
        if whole.len() <= WIDTH - room {
            return vec![whole];
        }
        let indent = " ".repeat(head.len() - head.trim_start().len() + 4);
        let rest = wrap(items.iter().map(String::as_str), WIDTH - 2 - indent.len());
        std::iter::once(head).chain(rest.iter().map(|line| format!("{indent}{line}"))).collect()
    };
    let mut all = lines(format!("#define {macro_name}("), list("", ""), 2);
    all.extend(lines(format!("    (*DAT_HANDLE_TO_PROVIDER({handle})->{field})("), list("(", ")"), 0));
    Some(format!("\n/** {}. */\n{}\n", call.name, all.join(" \\\n")))
}
