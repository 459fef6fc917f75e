//! Expansion of the macros that define the common parts of structures.

use std::collections::HashMap;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::{Item, ItemMacro};

use crate::Result;

/// Removes the macros `($NAME:ident; $($own:tt)*) => { ... }` from the common items, and expands their invocations in
/// the version's items. Both parameters are optional.
pub fn expand(common: &mut Vec<Item>, own: Vec<Item>) -> Result<Vec<Item>> {
    let mut shared = HashMap::new();
    common.retain(|item| match item {
        Item::Macro(ItemMacro { ident: Some(name), mac, .. }) => {
            let body = mac.tokens.clone().into_iter().filter_map(braced).last();
            shared.insert(name.to_string(), body.map(|group| group.stream()).unwrap_or_default());
            false
        }
        _ => true,
    });
    let mut items = Vec::new();
    for item in own {
        let found = match &item {
            Item::Macro(call) => call.mac.path.segments.last().map(|name| (call, name)),
            _ => None,
        };
        let found = found.and_then(|(call, name)| Some((call, name, shared.get(&name.ident.to_string())?)));
        if let Some((call, name, body)) = found {
            let mut own: Vec<TokenTree> = call.mac.tokens.clone().into_iter().collect();
            let named = matches!(&own[..], [_, TokenTree::Punct(end), ..] if end.as_char() == ';');
            let given = named.then(|| own.drain(..2).next()).flatten();
            let made = substitute(body.clone(), given.as_ref(), &own.into_iter().collect());
            items.extend(syn::parse2::<syn::File>(made).map_err(|e| format!("{}: {e}", name.ident))?.items);
        } else {
            items.push(item);
        }
    }
    Ok(items)
}

/// Replaces `$($own)*` by `own`, and `$NAME` by `given`.
fn substitute(body: TokenStream, given: Option<&TokenTree>, own: &TokenStream) -> TokenStream {
    let mut trees = body.into_iter().peekable();
    let mut made = TokenStream::new();
    while let Some(tree) = trees.next() {
        match (tree, trees.peek()) {
            (TokenTree::Punct(dollar), Some(TokenTree::Group(_))) if dollar.as_char() == '$' => {
                made.extend(own.clone());
                // Skips the group and the asterisk.
                trees.nth(1);
            }
            (TokenTree::Punct(dollar), Some(TokenTree::Ident(name))) if dollar.as_char() == '$' => {
                // `$crate` becomes `crate`.
                if name != "crate" {
                    made.extend(given.cloned());
                    trees.next();
                }
            }
            (TokenTree::Group(group), _) => {
                made.extend([TokenTree::Group(Group::new(group.delimiter(), substitute(group.stream(), given, own)))]);
            }
            (tree, _) => made.extend([tree]),
        }
    }
    made
}

fn braced(tree: TokenTree) -> Option<Group> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
