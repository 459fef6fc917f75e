//! Reader of the macros that contain lists and the common parts of structures.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::{Item, ItemMacro};

use crate::interface::COMMON;
use crate::{Result, read};

/// Macros that contain a version's lists.
pub struct Lists {
    macros: HashMap<String, ItemMacro>,
    /// Names of the macros that versions share.
    pub common: HashSet<String>,
}

/// `$crate::...::LIST!(ARGUMENTS);`
pub struct Invocation {
    pub list: String,
    pub arguments: TokenStream,
}

impl Lists {
    /// Reads the calls of the common crate and of the version's crate `own`.
    pub fn read(root: &Path, own: &str) -> Result<Lists> {
        let mut lists = Lists { macros: HashMap::new(), common: HashSet::new() };
        for source in [COMMON, own] {
            let top = root.join(source).join("src/calls.rs");
            let folder = top.with_extension("");
            let files = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            let files = files.filter_map(|file| Some(file.ok()?.path())).chain([top]);
            for path in files {
                for item in parse_file(&path)? {
                    if let Item::Macro(item) = item {
                        if let Some(name) = &item.ident {
                            if source == COMMON {
                                lists.common.insert(name.to_string());
                            }
                            lists.macros.insert(name.to_string(), item);
                        }
                    }
                }
            }
        }
        Ok(lists)
    }

    pub fn find(&self, name: &str) -> Result<&ItemMacro> {
        self.macros.get(name).ok_or_else(|| format!("no macro {name}"))
    }

    /// Returns the tokens to which a macro expands.
    pub fn body(&self, name: &str) -> Result<TokenStream> {
        let braces = self.find(name)?.mac.tokens.clone().into_iter().filter_map(braced).last();
        braces.map(|group| group.stream()).ok_or_else(|| format!("{name} is no list"))
    }

    /// Returns the lists that a macro invokes, in order.
    pub fn invocations(&self, name: &str) -> Result<Vec<Invocation>> {
        let tokens: Vec<TokenTree> = self.body(name)?.into_iter().collect();
        let found = tokens.windows(3).filter_map(|window| match window {
            [TokenTree::Ident(list), TokenTree::Punct(bang), TokenTree::Group(group)] if bang.as_char() == '!' => {
                Some(Invocation { list: list.to_string(), arguments: group.stream() })
            }
            _ => None,
        });
        Ok(found.collect())
    }
}

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

fn parse_file(path: &Path) -> Result<Vec<Item>> {
    Ok(syn::parse_file(&read(path)?).map_err(|e| format!("{}: {e}", path.display()))?.items)
}

/// Returns name and arguments of each `$NAME! { ... }` and `$NAME!(...);`.
pub fn invocations(body: TokenStream) -> Result<Vec<(Ident, TokenStream)>> {
    let mut found = Vec::new();
    let mut rest = body.into_iter().peekable();
    while let Some(first) = rest.next() {
        match (first, rest.next(), rest.next(), rest.next()) {
            (
                TokenTree::Punct(_),
                Some(TokenTree::Ident(name)),
                Some(TokenTree::Punct(bang)),
                Some(TokenTree::Group(group)),
            ) if bang.as_char() == '!' => {
                found.push((name, group.stream()));
            }
            (first, ..) => return Err(format!("not `$name! {{ ... }}`: {first}")),
        }
        rest.next_if(|tree| matches!(tree, TokenTree::Punct(p) if p.as_char() == ';'));
    }
    Ok(found)
}

fn braced(tree: TokenTree) -> Option<Group> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
