//! Reads a module of a version's crate together with the one of the same name that all versions have in common.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, Item, Token, Variant};

use super::merge;
use crate::{Result, doc, macros};

/// The title of a module, which is the first line of its documentation, and its items. Of its texts, the one that versions
/// share and the one of the version, one may be missing.
pub fn module(common: Option<&str>, own: Option<&str>) -> Result<(String, Vec<Item>)> {
    let parse = |text: &str| syn::parse_file(text).map_err(|e| e.to_string());
    let (common, own) = (common.map(parse).transpose()?, own.map(parse).transpose()?);
    let attrs = common.as_ref().or(own.as_ref()).map(|file| &file.attrs[..]).unwrap_or_default();
    let title = doc::lines(attrs).into_iter().next().unwrap_or_default();
    let items = |file: Option<syn::File>| file.map(|file| file.items).unwrap_or_default();
    let mut common = items(common);
    let own = macros::expand(&mut common, items(own))?;
    Ok((title, merge::merge(common, own)?))
}

/// The enumerations of a module.
pub fn enumerations(text: &str) -> Result<Vec<Enumeration>> {
    let items = syn::parse_file(text).map_err(|e| e.to_string())?.items;
    let enumerations = items.iter().filter_map(|item| match item {
        Item::Macro(item) if item.mac.path.is_ident("c_enum") => Some(item.mac.parse_body()),
        _ => None,
    });
    enumerations.map(|enumeration| enumeration.map_err(|e: syn::Error| e.to_string())).collect()
}

/// The contents of `c_enum! { ... }`.
pub struct Enumeration {
    pub attrs: Vec<Attribute>,
    /// Its first name.
    pub tag: Ident,
    pub name: Ident,
    pub members: Punctuated<Variant, Token![,]>,
}

impl Parse for Enumeration {
    fn parse(input: ParseStream) -> syn::Result<Enumeration> {
        let attrs = input.call(Attribute::parse_outer)?;
        input.parse::<Token![pub]>()?;
        input.parse::<Token![enum]>()?;
        let tag = input.parse()?;
        input.parse::<Token![as]>()?;
        let name = input.parse()?;
        let body;
        syn::braced!(body in input);
        let members = body.parse_terminated(Variant::parse, Token![,])?;
        Ok(Enumeration { attrs, tag, name, members })
    }
}
