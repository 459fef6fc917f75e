//! Reader of a version's lists of calls and slots.

use std::path::Path;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, LitStr, Token, Type};

use crate::Result;
use crate::doc::{self, Doc};
use crate::headers::{TableRow, rows};
use crate::interface::Interface;
use crate::macros::{Invocation, Lists, invocations};

/// All calls, grouped by subject.
pub struct Calls {
    pub groups: Vec<CallGroup>,
    /// Slots in the order of the provider table.
    pub slots: Vec<Slot>,
}

pub struct CallGroup {
    pub about: String,
    pub calls: Vec<Call>,
}

pub struct Call {
    pub name: Ident,
    pub doc: Doc,
    /// `"C"` or `"C-unwind"`.
    pub abi: LitStr,
    /// Arguments that the slot also has.
    pub arguments: Vec<Argument>,
    /// Further arguments of the call.
    pub more: Vec<Argument>,
    pub how: How,
    /// Set if only this project's library exports the call.
    pub further: bool,
}

pub struct Argument {
    pub name: Ident,
    pub ty: Type,
    /// `in`, `out` or `in/out`.
    pub way: String,
    pub text: String,
}

/// The library's execution of a call.
pub enum How {
    /// Calls the slot of the first argument's provider.
    Dispatch,
    /// libdat executes the call around the provider's slot. If the slot has fewer arguments, contains the name of the
    /// type with all arguments.
    Wrap(Option<Ident>),
    /// libdat executes the call without a slot.
    Own,
    /// Like `Dispatch`, with `...`: the last argument of the slot is the list of these arguments.
    Variadic,
    /// A slot without a function.
    Slot,
}

/// A field of the provider table.
pub struct Slot {
    pub call: Ident,
    pub field: Ident,
    /// Type of the field.
    pub ty: Ident,
}

impl Calls {
    /// Reads the lists of `interface` in the tree at `root`.
    pub fn read(root: &Path, interface: &Interface) -> Result<Calls> {
        let lists = Lists::read(root, interface.source)?;
        let mut groups: Vec<CallGroup> = Vec::new();
        let mut all: Vec<(Invocation, bool)> = Vec::new();
        all.extend(lists.invocations("for_each_call")?.into_iter().map(|list| (list, false)));
        if interface.extended {
            all.extend(lists.invocations("for_each_further_call")?.into_iter().map(|list| (list, true)));
        }
        for (Invocation { list, arguments }, further) in all {
            let own =
                arguments.into_iter().filter_map(ident).filter(|name| name.to_string().ends_with("_calls")).last();
            let group = CallGroup::read(&lists, &list, own.as_ref(), interface).map_err(|e| format!("{list}: {e}"))?;
            let calls = group.calls.into_iter().map(|call| Call { further, ..call });
            match groups.iter_mut().find(|known| known.about == group.about) {
                Some(known) => known.calls.extend(calls),
                None => groups.push(CallGroup { about: group.about, calls: calls.collect() }),
            }
        }
        let calls = Calls { groups, slots: slots(&lists).map_err(|e| format!("for_each_slot: {e}"))? };
        calls.check()?;
        Ok(calls)
    }

    pub fn all(&self) -> impl Iterator<Item = &Call> {
        self.groups.iter().flat_map(|group| &group.calls)
    }

    pub fn find(&self, name: &str) -> Option<&Call> {
        self.all().find(|call| call.name == name)
    }

    /// Returns the calls that are functions.
    pub fn functions(&self) -> impl Iterator<Item = &Call> {
        self.all().filter(|call| !matches!(call.how, How::Slot))
    }

    /// Returns the functions, sorted by name.
    pub fn sorted(&self) -> Vec<&Call> {
        let mut calls: Vec<&Call> = self.functions().collect();
        calls.sort_by_key(|call| call.name.to_string());
        calls
    }

    pub fn slot(&self, call: &Call) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.call == call.name)
    }

    /// Checks that names are unique, and that a call has a slot exactly if its entry says so.
    fn check(&self) -> Result<()> {
        if let Some(twice) = self.sorted().windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(format!("{}: duplicate entry", twice[0].name));
        }
        for call in self.all() {
            if self.slot(call).is_none() != matches!(call.how, How::Own) {
                return Err(format!("{}: entry and list of slots disagree", call.name));
            }
        }
        match self.slots.iter().find(|slot| self.find(&slot.call.to_string()).is_none()) {
            Some(slot) => Err(format!("{}: a slot without a call", slot.call)),
            None => Ok(()),
        }
    }
}

impl CallGroup {
    /// Reads a list, with the version's list `own` in it, if any.
    fn read(lists: &Lists, list: &str, own: Option<&Ident>, interface: &Interface) -> Result<CallGroup> {
        let title = doc::lines(&lists.find(list)?.attrs).into_iter().next().unwrap_or_default();
        let about = title.strip_prefix("Calls: ").and_then(|rest| rest.split_once('.'));
        let (about, _) = about.ok_or("the list does not begin with \"Calls: WHAT.\"")?;
        let mut calls = Vec::new();
        for (macro_name, body) in invocations(lists.body(list)?)? {
            match (macro_name.to_string().as_str(), own) {
                ("callback", _) => calls.push(Call::read(body, interface, lists.common.contains(list))?),
                ("own", Some(own)) => {
                    for (_, body) in invocations(lists.body(&own.to_string())?)? {
                        calls.push(Call::read(body, interface, false)?);
                    }
                }
                (other, _) => return Err(format!("not expected here: ${other}!")),
            }
        }
        Ok(CallGroup { about: about.to_owned(), calls })
    }
}

fn slots(lists: &Lists) -> Result<Vec<Slot>> {
    let further = lists.invocations("for_each_slot")?.into_iter().next().ok_or("no list of slots")?;
    let (_, common) = invocations(lists.body(&further.list)?)?.into_iter().next().ok_or("no common slots")?;
    let common = common.into_iter().take_while(|tree| !matches!(tree, TokenTree::Punct(p) if p.as_char() == '$'));
    let further =
        further.arguments.into_iter().skip_while(|tree| !matches!(tree, TokenTree::Punct(p) if p.as_char() == ','));
    let rows = common.chain(further.skip(1)).collect();
    slot_rows.parse2(rows).map_err(|e| e.to_string())
}

fn ident(tree: TokenTree) -> Option<Ident> {
    match tree {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    }
}

impl Call {
    /// Reads an entry of `interface`'s list or a common list.
    fn read(tokens: TokenStream, interface: &Interface, common: bool) -> Result<Call> {
        let entry = |input: ParseStream| Call::parse(input, interface, common);
        entry.parse2(tokens).map_err(|e| e.to_string())
    }

    fn parse(input: ParseStream, interface: &Interface, common: bool) -> syn::Result<Call> {
        let lines = doc::lines(&input.call(Attribute::parse_outer)?);
        input.parse::<Token![extern]>()?;
        let abi = input.parse()?;
        input.parse::<Token![fn]>()?;
        let name: Ident = input.parse()?;
        let specification = match common {
            true => format!("uDAPL 1.2 and 2.0, {name}(3DAT)."),
            false => format!("uDAPL {}, {name}{}.", interface.version, interface.manual),
        };
        let doc = Doc::read(&lines, interface.version, specification);
        let doc = doc.map_err(|e| syn::Error::new(name.span(), format!("{name}: {e}")))?;
        let (first, mut more) = (arguments(input)?, Vec::new());
        if input.cursor().ident().is_some_and(|(word, _)| word == "and") {
            input.parse::<Ident>()?;
            more = arguments(input)?;
        }
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
            "slot" => How::Slot,
            "variadic" => How::Variadic,
            _ => return Err(syn::Error::new(how.span(), "neither dispatch, wrap, own, slot nor variadic")),
        };
        input.parse::<Token![;]>()?;
        Ok(Call { name, doc, abi, arguments: first, more, how, further: false })
    }

    pub fn all_arguments(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().chain(&self.more)
    }
}

fn arguments(input: ParseStream) -> syn::Result<Vec<Argument>> {
    let list;
    syn::parenthesized!(list in input);
    let argument = |TableRow { lines, name, value: ty }: TableRow<Type>| match lines.concat().trim().split_once(", ") {
        Some((way, text)) => Ok(Argument { name, ty, way: way.to_owned(), text: text.to_owned() }),
        None => Err(syn::Error::new(name.span(), "its text does not begin with in or out")),
    };
    rows::<Token![:], Type>(&list)?.into_iter().map(argument).collect()
}

fn slot_rows(input: ParseStream) -> syn::Result<Vec<Slot>> {
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
    Ok(slots)
}

#[cfg(test)]
mod tests;
