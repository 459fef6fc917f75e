//! Parts of the headers that are derived from calls.

use super::source::{Sources, WIDTH, section};
use crate::Result;
use crate::calls::Call;

/// Calls of the user-level interface only.
const USER: &str = "dat_cno_create dat_cno_fd_create dat_cno_free dat_cno_modify_agent dat_cno_query dat_cno_trigger \
    dat_cno_wait dat_evd_clear_unwaitable dat_evd_create dat_evd_disable dat_evd_enable dat_evd_modify_cno \
    dat_evd_set_unwaitable dat_evd_wait dat_lmr_create";

/// Calls between the registry and providers.
const REGISTRY: &str =
    "dat_registry_add_provider dat_registry_providers_related dat_registry_remove_provider dats_get_ia_handle";

/// Returns the level of a call: `user` and `registry` for the calls of [`USER`] and [`REGISTRY`], `shared` for those that
/// the user-level and the kernel-level interface share.
pub fn level(call: &Call) -> &'static str {
    let has_call = |(_, list): &(&str, &str)| list.split(' ').any(|name| name == call.name);
    [("user", USER), ("registry", REGISTRY)].into_iter().find(has_call).map_or("shared", |(level, _)| level)
}

fn of_level<'a>(calls: &'a [Call], wanted: &str) -> impl Iterator<Item = &'a Call> {
    assert!(["shared", "user", "registry"].contains(&wanted), "no level of calls: {wanted}");
    calls.iter().filter(move |call| level(call) == wanted)
}

/// Returns the section with the prototypes of a level's calls, or `None` if there are none.
pub fn prototypes(sources: &Sources, calls: &[Call], level: &str) -> Result<Option<String>> {
    let functions = of_level(calls, level).filter(|call| call.how != "slot");
    let texts = functions.map(|call| sources.bindings(&call.name, &prototype(call))).collect::<Result<Vec<_>>>()?;
    Ok(section("Calls; NAME(3) is the manual page of a call", &texts))
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

/// Returns the section with the types of the slots of a level's calls, or `None` if there are none.
pub fn slot_types(sources: &Sources, calls: &[Call], level: &str) -> Result<Option<String>> {
    let types = of_level(calls, level).filter_map(|call| {
        let (_, ty) = call.slot.as_ref()?;
        let Call { abi, name, arguments, .. } = call;
        let function = format!("Option<unsafe extern \"{abi}\" fn({arguments}) -> DAT_RETURN>");
        Some(sources.bindings(ty, &format!("/// Slot of {name}.\npub type {ty} = {function};")))
    });
    let title = match level {
        "user" => "Types of the slots of the user-level interface alone",
        _ => "Types of the slots that both interfaces share",
    };
    Ok(section(title, &types.collect::<Result<Vec<_>>>()?))
}

/// Returns the section with the structure of the provider table.
pub fn table(sources: &Sources, calls: &[Call]) -> Result<Option<String>> {
    let fields = calls.iter().filter_map(|call| {
        let (field, ty) = call.slot.as_ref()?;
        Some(format!("/// {}.\npub {field}: {ty},\n", call.name))
    });
    let table = format!(
        "/// Table of the functions of a provider. The order is part of the binary interface. For a slot that\n\
         /// is NULL, the library returns DAT_NOT_IMPLEMENTED.\n\
         #[repr(C)]\npub struct DAT_PROVIDER {{\n\
         /// Name of the adapter that the provider serves.\npub device_name: *const c_char,\n\
         /// For the provider's own use.\npub extension: DAT_PVOID,\n{}}}",
        fields.collect::<String>()
    );
    Ok(section("The table of a provider", &[sources.typed("DAT_PROVIDER", &table)?]))
}

/// Returns the section with the upper-case macros, which call a provider through its table.
pub fn redirections(calls: &[Call], level: &str) -> String {
    let through = |call: &&Call| ["dispatch", "slot", "variadic"].contains(&call.how.as_str());
    let macros = of_level(calls, level).filter(through).filter_map(redirection);
    format!(
        "/* ---- Calls by way of the table ---- */\n\n/*\n * Upper-case macros: the functions by way of the table of the object's provider, without \
         the library in\n * between. No handle is checked, and the one that names the table is evaluated twice.\n */\n{}",
        macros.collect::<String>()
    )
}

fn redirection(call: &Call) -> Option<String> {
    let (field, ty) = call.slot.as_ref()?;
    let names = call.names();
    let arguments = |open: &str, close: &str| -> Vec<String> {
        let item = |(at, name): (usize, &String)| {
            format!("{open}{name}{close}{}", if at + 1 == names.len() { ")" } else { "," })
        };
        names.iter().enumerate().map(item).collect()
    };
    let mut lines = fill(format!("#define {}(", ty.trim_end_matches("_FUNC")), &arguments("", ""));
    let function = format!("    (*DAT_HANDLE_TO_PROVIDER({})->{field})(", names[0]);
    lines.extend(fill(function, &arguments("(", ")")));
    Some(format!("\n/** {}. */\n{}\n", call.name, lines.join(" \\\n")))
}

/// Adds words to the line `head`. Begins a new line before a line exceeds [`WIDTH`].
fn fill(head: String, words: &[String]) -> Vec<String> {
    let indent = " ".repeat(head.len() - head.trim_start().len() + 8);
    let mut lines = vec![head];
    for word in words {
        let last = lines.last_mut().expect("it began with one");
        if last.len() + word.len() + 3 > WIDTH {
            lines.push(format!("{indent}{word}"));
        } else {
            last.push_str(if last.ends_with('(') { "" } else { " " });
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests;
