//! Conversion of modules into the input of cbindgen.
//!
//! A module of the common crate and its namesake in a version's crate describe the interface in Rust. The conversion
//! changes what differs in C:
//! - Tables of `c_enum!` and similar macros become their definitions.
//! - Integers keep their base, and 64-bit masks get their width.
//! - Items that the texts in macros/ define, and items without a meaning in C, are omitted.

use std::collections::HashSet;

use proc_macro2::TokenTree;
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::visit_mut::{VisitMut, visit_expr_mut};
use syn::{
    Attribute, Expr, ExprLit, ForeignItem, Ident, Item, ItemConst, ItemMacro, ItemType, Lit, LitStr, Meta,
    MetaNameValue, Token, Type, UnOp, Variant,
};

use super::merge;
use crate::{Result, macros};

/// Types of 64-bit constants.
const WIDE: &[&str] = &["DAT_EP_PARAM_MASK", "DAT_IA_ATTR_MASK", "DAT_PROVIDER_ATTR_MASK"];

/// The input for one section of a header.
pub struct Source {
    /// First line of the module's documentation.
    pub title: String,
    pub units: Vec<Unit>,
}

/// Input of one run of cbindgen: an item, and its second name.
/// cbindgen sorts constants, types and functions of one run separately.
#[derive(Default)]
pub struct Unit {
    /// Rust for cbindgen.
    pub rust: String,
    /// Names that the output must contain.
    pub names: Vec<String>,
    /// Types among these names.
    pub types: Vec<String>,
    /// Both names of a type with two names in the same module.
    pub second: Option<Second>,
    /// Placeholders of integers and strings.
    pub literals: Literals,
}

/// Names in `typedef struct tag { ... } NAME;`.
pub struct Second {
    pub tag: String,
    pub name: String,
}

impl Source {
    /// Reads a module's common and own text; one can be missing. `defined` contains the header's macros.
    pub fn new(common: Option<&str>, own: Option<&str>, defined: &HashSet<String>) -> Result<Source> {
        let parse = |text: &str| syn::parse_file(text).map_err(|e| e.to_string());
        let (common, own) = (common.map(parse).transpose()?, own.map(parse).transpose()?);
        let attrs = common.as_ref().or(own.as_ref()).map(|file| &file.attrs[..]).unwrap_or_default();
        let title = doc_lines(attrs).into_iter().next().unwrap_or_default();
        let items = |file: Option<syn::File>| file.map(|file| file.items).unwrap_or_default();
        let mut common = items(common);
        let own = macros::expand(&mut common, items(own))?;
        Source::of(title, merge::merge(common, own)?, defined)
    }

    /// Converts items that are from no module.
    pub fn of(title: String, items: Vec<Item>, defined: &HashSet<String>) -> Result<Source> {
        let mut source = Source { title, units: Vec::new() };
        for item in items {
            source.item(item, defined)?;
        }
        Ok(source)
    }

    fn item(&mut self, item: Item, defined: &HashSet<String>) -> Result<()> {
        match item {
            Item::Macro(item) if item.mac.path.is_ident("for_each_call") => {}
            Item::Macro(item) => self.table(&item, defined)?,
            Item::Const(item) => self.constant(item, defined)?,
            Item::Struct(item) => self.units.push(Unit::of_type(&item.ident, &item)),
            Item::Type(item) => self.alias(item),
            Item::ForeignMod(item) => {
                let mut unit = Unit::default();
                for item in &item.items {
                    if let ForeignItem::Fn(function) = item {
                        unit.names.push(function.sig.ident.to_string());
                    }
                }
                unit.push(&item);
                self.units.push(unit);
            }
            Item::Fn(_) | Item::Mod(_) | Item::Use(_) => {}
            other => return Err(format!("not expected here: {}", other.to_token_stream())),
        }
        Ok(())
    }

    /// Converts an invocation of a macro of the common crate.
    fn table(&mut self, item: &ItemMacro, defined: &HashSet<String>) -> Result<()> {
        let wrong = |e: syn::Error| e.to_string();
        if is_call(item, "c_enum") {
            self.enumeration(item.mac.parse_body().map_err(wrong)?);
        } else if is_call(item, "c_struct") {
            self.units.push(item.mac.parse_body_with(structure).map_err(wrong)?);
        } else if is_call(item, "c_types") {
            for TableRow { lines, name, value } in item.mac.parse_body_with(rows::<Token![=], Type>).map_err(wrong)? {
                self.alias(syn::parse_quote!(#(#[doc = #lines])* pub type #name = #value;));
            }
        } else if is_call(item, "c_consts") {
            for constant in item.mac.parse_body_with(constants).map_err(wrong)? {
                self.constant(constant, defined)?;
            }
        } else {
            return Err(format!("not expected here: {}", item.to_token_stream()));
        }
        Ok(())
    }

    fn enumeration(&mut self, item: Enumeration) {
        let Enumeration { attrs, tag, name, mut members } = item;
        let mut literals = Literals::default();
        for member in &mut members {
            if let Some((_, value)) = &mut member.discriminant {
                literals.visit_expr_mut(value);
            }
        }
        let item = quote!(#(#attrs)* #[repr(C)] pub enum #tag { #members });
        let mut unit = Unit::of_type(&tag, &item);
        unit.names.extend(members.iter().map(|m| m.ident.to_string()));
        unit.literals = literals;
        unit.give_second(&tag, &name);
        self.units.push(unit);
    }

    fn constant(&mut self, mut item: ItemConst, defined: &HashSet<String>) -> Result<()> {
        let name = item.ident.to_string();
        if defined.contains(&name) {
            return Ok(());
        }
        if matches!(*item.expr, Expr::Call(_) | Expr::Struct(_)) {
            return Err(format!("{name}: no text in macros/ defines it"));
        }
        let mut unit = Unit::default();
        unit.literals.wide = last_segment(&item.ty).is_some_and(|name| WIDE.contains(&name.as_str()));
        unit.literals.visit_expr_mut(&mut item.expr);
        // cbindgen would turn the Rust type into a cast.
        *item.ty = syn::parse_quote!(u32);
        unit.names.push(name);
        unit.push(&item);
        self.units.push(unit);
        Ok(())
    }

    fn alias(&mut self, item: ItemType) {
        match (last_segment(&item.ty), self.units.last_mut()) {
            (Some(tag), Some(unit)) if unit.types.first() == Some(&tag) && tag.starts_with(char::is_lowercase) => {
                unit.give_second(&format_ident!("{tag}"), &item.ident);
            }
            _ => self.units.push(Unit::of_type(&item.ident, &item)),
        }
    }
}

impl Unit {
    fn of_type(name: &Ident, item: &impl ToTokens) -> Unit {
        let mut unit = Unit::default();
        unit.names.push(name.to_string());
        unit.types.push(name.to_string());
        unit.push(item);
        unit
    }

    fn push(&mut self, item: &impl ToTokens) {
        self.rust.push_str(&item.to_token_stream().to_string());
        self.rust.push('\n');
    }

    fn give_second(&mut self, tag: &Ident, name: &Ident) {
        self.push(&quote!(pub type #name = #tag;));
        self.names.push(name.to_string());
        self.types.push(name.to_string());
        self.second = Some(Second { tag: tag.to_string(), name: name.to_string() });
    }
}

/// Returns whether an item invokes the macro `name`, or `name` with the suffix `_with_names`.
pub fn is_call(item: &ItemMacro, name: &str) -> bool {
    let called = item.mac.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
    called.strip_suffix("_with_names").unwrap_or(&called) == name
}

/// Contents of `c_enum! { ... }`.
pub struct Enumeration {
    attrs: Vec<Attribute>,
    pub tag: Ident,
    pub name: Ident,
    pub members: Punctuated<Variant, Token![,]>,
}

impl Parse for Enumeration {
    fn parse(input: ParseStream) -> syn::Result<Enumeration> {
        let attrs = input.call(Attribute::parse_outer)?;
        let tag = input.parse()?;
        input.parse::<Token![as]>()?;
        let name = input.parse()?;
        input.parse::<Token![;]>()?;
        let member = |TableRow { lines, name, value }: TableRow<Expr>| -> Variant {
            syn::parse_quote!(#(#[doc = #lines])* #name = #value)
        };
        let members = rows::<Token![=], Expr>(input)?.into_iter().map(member).collect();
        Ok(Enumeration { attrs, tag, name, members })
    }
}

/// Parses the contents of `c_struct! { ... }`.
fn structure(input: ParseStream) -> syn::Result<Unit> {
    let attrs = input.call(Attribute::parse_outer)?;
    let (kind, tag): (TokenTree, Ident) = (input.parse()?, input.parse()?);
    let name = if input.parse::<Option<Token![as]>>()?.is_some() { Some(input.parse()?) } else { None };
    input.parse::<Token![;]>()?;
    let fields = rows::<Token![:], Type>(input)?;
    let fields = fields.iter().map(|TableRow { lines, name, value }| quote!(#(#[doc = #lines])* pub #name: #value));
    let mut unit = Unit::of_type(&tag, &quote!(#(#attrs)* #[repr(C)] pub #kind #tag { #(#fields),* }));
    if let Some(name) = name {
        unit.give_second(&tag, &name);
    }
    Ok(unit)
}

/// Parses the contents of `c_consts! { TYPE; ... }`.
fn constants(input: ParseStream) -> syn::Result<Vec<ItemConst>> {
    let ty: Type = input.parse()?;
    input.parse::<Token![;]>()?;
    let constant = |TableRow { lines, name, value }: TableRow<Expr>| syn::parse_quote!(#(#[doc = #lines])* pub const #name: #ty = #value;);
    Ok(rows::<Token![=], Expr>(input)?.into_iter().map(constant).collect())
}

/// A row of a table, `NAME = VALUE, "COMMENT";`.
pub struct TableRow<V> {
    /// Lines of the comment, with a leading space.
    pub lines: Vec<String>,
    pub name: Ident,
    pub value: V,
}

/// Parses the rows of a table, with `S` between name and value.
pub fn rows<S: Parse, V: Parse>(input: ParseStream) -> syn::Result<Vec<TableRow<V>>> {
    let mut rows = Vec::new();
    while !input.is_empty() {
        let name = input.parse()?;
        input.parse::<S>()?;
        let value = input.parse()?;
        input.parse::<Token![,]>()?;
        let mut lines = Vec::new();
        while !input.peek(Token![;]) {
            lines.push(format!(" {}", input.parse::<LitStr>()?.value()));
        }
        input.parse::<Token![;]>()?;
        rows.push(TableRow { lines, name, value });
    }
    Ok(rows)
}

/// Integers and strings in their C form, and the placeholders for them.
#[derive(Default)]
pub struct Literals {
    texts: Vec<String>,
    wide: bool,
}

impl Literals {
    /// Replaces the placeholders.
    pub fn restore(&self, mut output: String) -> String {
        for (index, text) in self.texts.iter().enumerate() {
            output = output.replace(&placeholder(index).to_string(), text);
        }
        output
    }

    fn replace(&mut self, text: String) -> Expr {
        let name = placeholder(self.texts.len());
        self.texts.push(text);
        syn::parse_quote!(#name)
    }
}

impl VisitMut for Literals {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Lit(lit) => {
                let text = match &lit.lit {
                    Lit::Int(int) if self.wide => format!("UINT64_C({int})"),
                    Lit::Int(int) => int.to_string(),
                    Lit::CStr(string) => format!("{:?}", string.value()),
                    _ => return,
                };
                *expr = self.replace(text);
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
                let text = format!("(-{})", unary.expr.to_token_stream());
                *expr = self.replace(text);
            }
            _ => visit_expr_mut(self, expr),
        }
    }
}

fn placeholder(index: usize) -> Ident {
    format_ident!("LITERAL_{index}_")
}

/// Returns the lines of documentation, without the leading space.
fn doc_lines(attrs: &[Attribute]) -> Vec<String> {
    let texts = attrs.iter().filter(|attr| attr.path().is_ident("doc")).filter_map(|attr| match &attr.meta {
        Meta::NameValue(MetaNameValue { value: Expr::Lit(ExprLit { lit: Lit::Str(text), .. }), .. }) => {
            Some(text.value())
        }
        _ => None,
    });
    texts.map(|text| text.strip_prefix(' ').unwrap_or(&text).to_owned()).collect()
}

fn last_segment(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|s| s.ident.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
