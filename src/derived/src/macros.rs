//! Reads the macros in which a version's lists are written.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::{Item, ItemMacro};

use crate::Result;

/// The macros in which a version's lists are written, by name.
pub struct Lists(HashMap<String, ItemMacro>);

/// `$crate::...::LIST!(ARGUMENTS);`
pub struct Invocation {
    /// The name.
    pub list: String,
    /// What is passed to it.
    pub arguments: TokenStream,
}

impl Lists {
    /// Reads calls.rs and the files in calls of each of the crates.
    pub fn read(root: &Path, crates: &[&str]) -> Result<Lists> {
        let mut lists = HashMap::new();
        for source in crates {
            let top = root.join(source).join("src/calls.rs");
            let folder = top.with_extension("");
            let files = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            let files = files.filter_map(|file| Some(file.ok()?.path())).chain([top]);
            for path in files {
                for item in parse_file(&path)? {
                    if let Item::Macro(item) = item
                        && let Some(name) = &item.ident
                    {
                        lists.insert(name.to_string(), item);
                    }
                }
            }
        }
        Ok(Lists(lists))
    }

    /// The macro `name`.
    pub fn find(&self, name: &str) -> Result<&ItemMacro> {
        self.0.get(name).ok_or_else(|| format!("no macro {name}"))
    }

    /// The tokens that the macro `name` expands to.
    pub fn body(&self, name: &str) -> Result<TokenStream> {
        let braces = self.find(name)?.mac.tokens.clone().into_iter().filter_map(braced).last();
        braces.map(|group| group.stream()).ok_or_else(|| format!("{name} is no list"))
    }

    /// The lists that the macro `name` goes through, in its order.
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

fn parse_file(path: &Path) -> Result<Vec<Item>> {
    let explain = |e: String| format!("{}: {e}", path.display());
    let text = fs::read_to_string(path).map_err(|e| explain(e.to_string()))?;
    Ok(syn::parse_file(&text).map_err(|e| explain(e.to_string()))?.items)
}

/// The name and the arguments of each `$NAME! { ... }` and `$NAME!(...);`.
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
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn a_list_is_made_of_invocations() {
        let found = invocations(quote!($callback! { a } $own!($callback); $callback! { b })).unwrap();
        let names: Vec<String> = found.iter().map(|(name, _)| name.to_string()).collect();
        assert_eq!(names, ["callback", "own", "callback"]);
        assert!(invocations(quote!($callback! { a } stray)).is_err());
    }
}
