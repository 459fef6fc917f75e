//! Reads the lists of calls and slots in src/udat12/src/calls.

use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, LitStr, Token, Type};

use crate::Result;
use crate::doc::{self, Doc};

/// Every call, grouped by subject, in the order of the lists.
pub struct Calls {
    /// The lists.
    pub groups: Vec<CallGroup>,
    /// The slots in the order of the provider table.
    pub slots: Vec<Slot>,
}

/// The calls of one list.
pub struct CallGroup {
    /// Their subject.
    pub about: String,
    /// The calls.
    pub calls: Vec<Call>,
}

/// A call.
pub struct Call {
    /// Its name.
    pub name: Ident,
    /// Its documentation.
    pub doc: Doc,
    /// `"C"` or `"C-unwind"`.
    pub abi: LitStr,
    /// The arguments that the slot has too, if there is a slot.
    pub arguments: Vec<Argument>,
    /// The further arguments of the call.
    pub more: Vec<Argument>,
    /// The way in which it is carried out.
    pub how: How,
}

/// An argument.
pub struct Argument {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: Type,
}

/// The ways to carry out a call.
pub enum How {
    /// The provider that the first argument belongs to does it.
    Dispatch,
    /// libdat does it, around the provider's slot. If the slot has fewer arguments, the name is that of the type of the
    /// whole function.
    Wrap(Option<Ident>),
    /// libdat does it alone.
    Own,
}

/// A place in the provider table.
pub struct Slot {
    /// The call.
    pub call: Ident,
    /// The field.
    pub field: Ident,
    /// The name of the field's type.
    pub ty: Ident,
}

impl Calls {
    /// Reads the lists; `root` is the top of the tree.
    pub fn read(root: &Path) -> Result<Calls> {
        let top = root.join("src/udat12/src/calls.rs");
        let lists = parse_file(&top)?;
        let slots = list_body(&lists, "for_each_slot").and_then(|body| {
            let rows = invocations(body)?.into_iter().next().ok_or("no list of slots")?;
            Ok(syn::parse2::<Slots>(rows).map_err(|e| e.to_string())?.0)
        });
        let slots = slots.map_err(|e| format!("{}: {e}", top.display()))?;
        let order = list_body(&lists, "for_each_call").map(names_of_lists);
        let mut groups = Vec::new();
        for list in order.map_err(|e| format!("{}: {e}", top.display()))? {
            let path = root.join(format!("src/udat12/src/calls/{}.rs", list.trim_end_matches("_calls")));
            groups.push(CallGroup::read(&path, &list).map_err(|e| format!("{}: {e}", path.display()))?);
        }
        let calls = Calls { groups, slots };
        calls.check()?;
        Ok(calls)
    }

    /// All calls.
    pub fn all(&self) -> impl Iterator<Item = &Call> {
        self.groups.iter().flat_map(|group| &group.calls)
    }

    /// The call of this name.
    pub fn find(&self, name: &str) -> Option<&Call> {
        self.all().find(|call| call.name == name)
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.all().map(|call| call.name.to_string()).collect();
        names.sort();
        names
    }

    /// The slot of a call.
    pub fn slot(&self, call: &Call) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.call == call.name)
    }

    /// Checks that every name occurs once, and has a slot if and only if its entry says so.
    fn check(&self) -> Result<()> {
        let names = self.names();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("{} is there twice", twice[0]));
        }
        for call in self.all() {
            if self.slot(call).is_none() != matches!(call.how, How::Own) {
                return Err(format!("{}: the list of slots does not agree", call.name));
            }
        }
        match self.slots.iter().find(|slot| self.find(&slot.call.to_string()).is_none()) {
            Some(slot) => Err(format!("{}: a slot without a call", slot.call)),
            None => Ok(()),
        }
    }
}

impl CallGroup {
    fn read(path: &Path, list: &str) -> Result<CallGroup> {
        let items = parse_file(path)?;
        let title = doc::lines(attributes_of(&items, list)?).into_iter().next().unwrap_or_default();
        let about = title.strip_prefix("Calls: ").and_then(|rest| rest.split_once('.'));
        let (about, _) = about.ok_or_else(|| format!("{list} does not begin with \"Calls: WHAT.\""))?;
        let calls = invocations(list_body(&items, list)?)?.into_iter().map(Call::read).collect::<Result<_>>()?;
        Ok(CallGroup { about: about.to_owned(), calls })
    }
}

impl Call {
    fn read(tokens: TokenStream) -> Result<Call> {
        let entry: Entry = syn::parse2(tokens).map_err(|e| e.to_string())?;
        let name = entry.name.to_string();
        let arguments = entry.arguments.iter().chain(&entry.more).map(|argument| argument.name.to_string());
        let doc = Doc::read(&doc::lines(&entry.attrs), &arguments.collect::<Vec<_>>());
        let doc = doc.map_err(|e| format!("{name}: {e}"))?;
        Ok(Call { name: entry.name, doc, abi: entry.abi, arguments: entry.arguments, more: entry.more, how: entry.how })
    }

    /// All arguments of the call.
    pub fn all_arguments(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().chain(&self.more)
    }
}

fn parse_file(path: &Path) -> Result<Vec<Item>> {
    let explain = |e: String| format!("{}: {e}", path.display());
    let text = fs::read_to_string(path).map_err(|e| explain(e.to_string()))?;
    Ok(syn::parse_file(&text).map_err(|e| explain(e.to_string()))?.items)
}

fn attributes_of<'a>(items: &'a [Item], name: &str) -> Result<&'a [Attribute]> {
    let found = items.iter().find_map(|item| match item {
        Item::Macro(item) if item.ident.as_ref().is_some_and(|ident| ident == name) => Some(&item.attrs[..]),
        _ => None,
    });
    found.ok_or_else(|| format!("no macro {name}"))
}

/// The tokens that the macro `name` expands to.
fn list_body(items: &[Item], name: &str) -> Result<TokenStream> {
    let tokens = items.iter().find_map(|item| match item {
        Item::Macro(item) if item.ident.as_ref().is_some_and(|ident| ident == name) => Some(item.mac.tokens.clone()),
        _ => None,
    });
    let braces = tokens.ok_or_else(|| format!("no macro {name}"))?.into_iter().filter_map(braced).last();
    braces.map(|group| group.stream()).ok_or_else(|| format!("{name} is no list"))
}

/// The tokens in the braces of each `$callback! { ... }`.
fn invocations(body: TokenStream) -> Result<Vec<TokenStream>> {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let calls = tokens.chunks(4).map(|chunk| match chunk {
        [TokenTree::Punct(_), TokenTree::Ident(callback), TokenTree::Punct(bang), TokenTree::Group(group)]
            if callback == "callback" && bang.as_char() == '!' =>
        {
            Ok(group.stream())
        }
        other => {
            Err(format!("not `$callback! {{ ... }}`: {}", other.iter().map(ToString::to_string).collect::<String>()))
        }
    });
    calls.collect()
}

fn braced(tree: TokenTree) -> Option<Group> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

/// The lists that `for_each_call!` goes through, in its order.
fn names_of_lists(body: TokenStream) -> Vec<String> {
    let idents = body.into_iter().filter_map(|tree| match tree {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    });
    idents.filter(|name| name.ends_with("_calls")).collect()
}

/// The entry of a call, as written in the braces.
struct Entry {
    attrs: Vec<Attribute>,
    abi: LitStr,
    name: Ident,
    arguments: Vec<Argument>,
    more: Vec<Argument>,
    how: How,
}

impl Parse for Entry {
    fn parse(input: ParseStream) -> syn::Result<Entry> {
        let attrs = input.call(Attribute::parse_outer)?;
        input.parse::<Token![extern]>()?;
        let abi = input.parse()?;
        input.parse::<Token![fn]>()?;
        let name = input.parse()?;
        let arguments = arguments(input)?;
        let more = if word(input, "and") { arguments_behind(input)? } else { Vec::new() };
        input.parse::<Token![=>]>()?;
        let how: Ident = input.parse()?;
        let how = match how.to_string().as_str() {
            "dispatch" => {
                let subtype;
                syn::parenthesized!(subtype in input);
                subtype.parse::<Ident>()?;
                How::Dispatch
            }
            "wrap" if input.parse::<Option<Token![as]>>()?.is_some() => How::Wrap(Some(input.parse()?)),
            "wrap" => How::Wrap(None),
            "own" => How::Own,
            _ => return Err(syn::Error::new(how.span(), "neither dispatch, wrap nor own")),
        };
        input.parse::<Token![;]>()?;
        Ok(Entry { attrs, abi, name, arguments, more, how })
    }
}

fn word(input: ParseStream, wanted: &str) -> bool {
    input.cursor().ident().is_some_and(|(ident, _)| ident == wanted)
}

fn arguments_behind(input: ParseStream) -> syn::Result<Vec<Argument>> {
    input.parse::<Ident>()?;
    arguments(input)
}

fn arguments(input: ParseStream) -> syn::Result<Vec<Argument>> {
    let list;
    syn::parenthesized!(list in input);
    Ok(Punctuated::<Argument, Token![,]>::parse_terminated(&list)?.into_iter().collect())
}

impl Parse for Argument {
    fn parse(input: ParseStream) -> syn::Result<Argument> {
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        Ok(Argument { name, ty: input.parse()? })
    }
}

struct Slots(Vec<Slot>);

impl Parse for Slots {
    fn parse(input: ParseStream) -> syn::Result<Slots> {
        let mut slots = Vec::new();
        while !input.is_empty() {
            let call = input.parse()?;
            input.parse::<Token![:]>()?;
            let field = input.parse()?;
            input.parse::<Token![,]>()?;
            let ty = input.parse()?;
            input.parse::<Token![;]>()?;
            slots.push(Slot { call, field, ty });
        }
        Ok(Slots(slots))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn entry(how: TokenStream) -> Result<Call> {
        Call::read(quote! {
            /// Does it.
            ///
            /// # Parameters
            /// * `a` - in, one.
            ///
            /// # Errors
            /// | returned | when |
            /// |---|---|
            /// | `DAT_ABORT` | never |
            ///
            /// # Specification
            /// None.
            extern "C" fn dat_x(a: DAT_HANDLE) => #how;
        })
    }

    #[test]
    fn an_entry_says_who_carries_it_out() {
        assert!(matches!(entry(quote!(dispatch(S))).unwrap().how, How::Dispatch));
        assert!(matches!(entry(quote!(wrap)).unwrap().how, How::Wrap(None)));
        assert!(matches!(entry(quote!(wrap as T)).unwrap().how, How::Wrap(Some(_))));
        assert!(matches!(entry(quote!(own)).unwrap().how, How::Own));
        assert!(entry(quote!(else_where)).is_err());
    }

    #[test]
    fn a_list_is_made_of_invocations() {
        let found = invocations(quote!($callback! { a } $callback! { b })).unwrap();
        assert_eq!(found.len(), 2);
        assert!(invocations(quote!($callback! { a } stray)).is_err());
    }
}
