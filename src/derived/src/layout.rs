//! Writes the numbers in the layout modules of a version in the form of C.

use std::fs;
use std::path::Path;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Item, Lit, LitInt, Token, UnOp};

use crate::interface::{COMMON, Interface};
use crate::{Derived, Result};

/// tests-c/abi/layout.def, or the one of another version.
pub fn c(root: &Path, interface: &Interface) -> Result<Derived> {
    let Interface { version, source, suffix, .. } = interface;
    let mut text = format!(
        "/*
 * layout{suffix}.def - the numbers that the binary interface of uDAPL {version} fixes on 64-bit Linux, as data.
 *
 *   TYPE(type, size, alignment)
 *   FIELD(type, field, offset, size)
 *   VALUE(group, name, value)
 *
 * Sizes and offsets are in bytes. A type comes before its fields; values of an enumeration have
 * it as their group. Written from {COMMON}/src/layout and {source}/src/layout by
 * `make derived`.
 */

"
    );
    for module in ["types", "records", "values", "extensions"] {
        let mut found = false;
        for folder in [COMMON, source] {
            let path = format!("{folder}/src/layout/{module}.rs");
            let explain = |e: String| format!("{path}: {e}");
            // A module is in either crate or in both.
            let Ok(source) = fs::read_to_string(root.join(&path)) else { continue };
            found = true;
            for item in syn::parse_file(&source).map_err(|e| explain(e.to_string()))?.items {
                match item {
                    Item::Macro(item) => text.push_str(&lines(&item.mac).map_err(|e| explain(e.to_string()))?),
                    Item::Use(_) => {}
                    other => return Err(explain(format!("not expected here: {}", other.to_token_stream()))),
                }
            }
        }
        if !found && module != "extensions" {
            return Err(format!("no module {module} in {COMMON} and {source}"));
        }
    }
    Ok(Derived { path: format!("tests-c/abi/layout{suffix}.def"), text })
}

fn lines(invocation: &syn::Macro) -> syn::Result<String> {
    let name = invocation.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
    match name.as_str() {
        "scalar" => invocation.parse_body::<Scalar>().map(|scalar| scalar.line()),
        "record" => invocation.parse_body::<Record>().map(|record| record.lines()),
        "values" => invocation.parse_body::<Values>().map(|values| values.lines()),
        _ => Err(syn::Error::new_spanned(&invocation.path, "not expected here")),
    }
}

/// `TYPE, SIZE, ALIGNMENT`
struct Scalar {
    ty: Ident,
    size: LitInt,
    align: LitInt,
}

impl Scalar {
    fn line(&self) -> String {
        format!("TYPE({}, {}, {})\n", self.ty, self.size, self.align)
    }
}

impl Parse for Scalar {
    fn parse(input: ParseStream) -> syn::Result<Scalar> {
        let ty = input.parse()?;
        input.parse::<Token![,]>()?;
        let size = input.parse()?;
        input.parse::<Token![,]>()?;
        Ok(Scalar { ty, size, align: input.parse()? })
    }
}

/// `TYPE, SIZE, ALIGNMENT, { FIELD: OFFSET, SIZE; ... }`
struct Record {
    whole: Scalar,
    fields: Vec<(Ident, LitInt, LitInt)>,
}

impl Record {
    fn lines(&self) -> String {
        let field = |(name, offset, size): &(Ident, LitInt, LitInt)| {
            format!("FIELD({}, {}, {offset}, {size})\n", self.whole.ty, name.unraw())
        };
        format!("\n{}{}", self.whole.line(), self.fields.iter().map(field).collect::<String>())
    }
}

impl Parse for Record {
    fn parse(input: ParseStream) -> syn::Result<Record> {
        let whole = input.parse()?;
        input.parse::<Token![,]>()?;
        let list;
        syn::braced!(list in input);
        let mut fields = Vec::new();
        while !list.is_empty() {
            let name = list.call(Ident::parse_any)?;
            list.parse::<Token![:]>()?;
            let offset = list.parse()?;
            list.parse::<Token![,]>()?;
            let size = list.parse()?;
            list.parse::<Token![;]>()?;
            fields.push((name, offset, size));
        }
        Ok(Record { whole, fields })
    }
}

/// `GROUP { NAME = VALUE, ... }`
struct Values {
    group: Ident,
    values: Vec<(Ident, String)>,
}

impl Values {
    fn lines(&self) -> String {
        let value = |(name, value): &(Ident, String)| format!("VALUE({}, {name}, {value})\n", self.group);
        format!("\n{}", self.values.iter().map(value).collect::<String>())
    }
}

impl Parse for Values {
    fn parse(input: ParseStream) -> syn::Result<Values> {
        let group = input.parse()?;
        let list;
        syn::braced!(list in input);
        let values = Punctuated::<Value, Token![,]>::parse_terminated(&list)?;
        Ok(Values { group, values: values.into_iter().map(|Value(name, value)| (name, value)).collect() })
    }
}

struct Value(Ident, String);

impl Parse for Value {
    fn parse(input: ParseStream) -> syn::Result<Value> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let value: Expr = input.parse()?;
        let (sign, number) = match &value {
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => ("-", &*unary.expr),
            other => ("", other),
        };
        match number {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Int(int) => {
                    let wide = int.base10_parse::<u64>()? > u64::from(u32::MAX);
                    Ok(Value(name, format!("{sign}{int}{}", if wide { "ULL" } else { "" })))
                }
                _ => Err(syn::Error::new_spanned(&value, "not an integer")),
            },
            _ => Err(syn::Error::new_spanned(&value, "not an integer")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn text(tokens: proc_macro2::TokenStream) -> String {
        lines(&syn::parse2(tokens).unwrap()).unwrap()
    }

    #[test]
    fn each_form_has_its_lines() {
        assert_eq!(text(quote!(scalar!(T, 4, 2))), "TYPE(T, 4, 2)\n");
        assert_eq!(
            text(quote!(record!(R, 8, 4, { a: 0, 4; b: 4, 2; }))),
            "\nTYPE(R, 8, 4)\nFIELD(R, a, 0, 4)\nFIELD(R, b, 4, 2)\n"
        );
        assert_eq!(text(quote!(values!(G { A = 0x1F, B = -2, C = 0x1_0000_0000, }))).lines().count(), 4);
        assert!(text(quote!(values!(G { C = 0x100000000, }))).contains("0x100000000ULL"));
    }
}
