//! Puts the items of a version where the module that versions share has places for them.

use std::collections::HashMap;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::{Item, ItemMacro};

use super::source::Enumeration;
use crate::Result;

/// The items of both modules in the order of the header.
///
/// `place!(NAME);` in `common` stands for the items of `own` between the same mark and the next one. What stands before
/// the first mark comes last. The members in `c_members!` join those of the enumeration.
pub fn merge(common: Vec<Item>, own: Vec<Item>) -> Result<Vec<Item>> {
    let mut added = HashMap::new();
    let mut runs: HashMap<String, Vec<Item>> = HashMap::new();
    let mut run = String::new();
    for item in own {
        match (place(&item), item) {
            (Some(name), _) => {
                run = name;
                runs.entry(run.clone()).or_default();
            }
            (None, Item::Macro(item)) if item.mac.path.is_ident("c_members") => {
                added.extend([members(item.mac.tokens)?]);
            }
            (None, item) => runs.entry(run.clone()).or_default().push(item),
        }
    }

    let mut items = Vec::new();
    for mut item in common {
        match (place(&item), &mut item) {
            (Some(place), _) => items.extend(runs.remove(&place).ok_or_else(|| format!("the version has no {place}"))?),
            (None, Item::Macro(enumeration)) if enumeration.mac.path.is_ident("c_enum") => {
                let known: Enumeration = enumeration.mac.parse_body().map_err(|e| e.to_string())?;
                if let Some(members) = added.remove(&known.name.to_string()) {
                    add(enumeration, &members)?;
                }
                items.push(item);
            }
            (None, _) => items.push(item),
        }
    }
    items.extend(runs.remove("").unwrap_or_default());
    match added.keys().next().or(runs.keys().next()) {
        Some(name) => Err(format!("{name}: the module has no such enumeration or place")),
        None => Ok(items),
    }
}

/// The name in `place!(NAME);`.
fn place(item: &Item) -> Option<String> {
    match item {
        Item::Macro(item) if item.mac.path.is_ident("place") => Some(item.mac.tokens.to_string()),
        _ => None,
    }
}

/// The name and the members in `c_members! { NAME { ... } }`.
fn members(tokens: TokenStream) -> Result<(String, TokenStream)> {
    match &tokens.into_iter().collect::<Vec<_>>()[..] {
        [TokenTree::Ident(name), TokenTree::Group(members)] => Ok((name.to_string(), members.stream())),
        _ => Err("not `c_members! { NAME { ... } }`".to_owned()),
    }
}

/// Adds members behind those of an enumeration.
fn add(enumeration: &mut ItemMacro, members: &TokenStream) -> Result<()> {
    let mut tokens: Vec<TokenTree> = enumeration.mac.tokens.clone().into_iter().collect();
    let Some(TokenTree::Group(body)) = tokens.pop() else { return Err("an enumeration without members".to_owned()) };
    let body = body.stream();
    enumeration.mac.tokens = quote!(#(#tokens)* { #body #members });
    Ok(())
}

#[cfg(test)]
mod tests;
