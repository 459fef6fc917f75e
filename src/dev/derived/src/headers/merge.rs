//! Merge of a version's items into the common module.

use std::collections::HashMap;

use syn::parse::{Parse, ParseStream};
use syn::{Ident, Item, Token};

use super::source::{Enumeration, is_call};
use crate::Result;

/// Returns the items of both modules in the order of the header. The items of `own` from a mark `place!(NAME);` to the
/// next replace the same mark in `common`. Items of `own` before the first mark come last. Members in `c_members!` are
/// added to the enumeration.
pub fn merge(common: Vec<Item>, own: Vec<Item>) -> Result<Vec<Item>> {
    let mut members: HashMap<String, Members> = HashMap::new();
    let mut runs: HashMap<String, Vec<Item>> = HashMap::new();
    let mut run = String::new();
    for item in own {
        match (place(&item), item) {
            (Some(name), _) => {
                run = name;
                runs.entry(run.clone()).or_default();
            }
            (None, Item::Macro(item)) if is_call(&item, "c_members") => {
                let added: Members = item.mac.parse_body().map_err(|e| e.to_string())?;
                members.insert(added.name.to_string(), added);
            }
            (None, item) => runs.entry(run.clone()).or_default().push(item),
        }
    }

    let mut items = Vec::new();
    for mut item in common {
        match (place(&item), &mut item) {
            (Some(place), _) => items.extend(runs.remove(&place).ok_or_else(|| format!("the version has no {place}"))?),
            (None, Item::Macro(enumeration)) if is_call(enumeration, "c_enum") => {
                let Enumeration { name, .. } = enumeration.mac.parse_body().map_err(|e| e.to_string())?;
                if let Some(added) = members.remove(&name.to_string()) {
                    enumeration.mac.tokens.extend(added.members);
                }
                items.push(item);
            }
            (None, _) => items.push(item),
        }
    }
    items.extend(runs.remove("").unwrap_or_default());
    match members.keys().next().or(runs.keys().next()) {
        Some(name) => Err(format!("{name}: the module has no such enumeration or place")),
        None => Ok(items),
    }
}

/// Returns the name in `place!(NAME);`.
fn place(item: &Item) -> Option<String> {
    match item {
        Item::Macro(item) if item.mac.path.is_ident("place") => Some(item.mac.tokens.to_string()),
        _ => None,
    }
}

/// Contents of `c_members! { NAME; ... }`.
struct Members {
    name: Ident,
    members: proc_macro2::TokenStream,
}

impl Parse for Members {
    fn parse(input: ParseStream) -> syn::Result<Members> {
        let name = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Members { name, members: input.parse()? })
    }
}

#[cfg(test)]
mod tests;
