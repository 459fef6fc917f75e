//! Writes the numbers in the layout modules of a version in the form of C.

use std::fs;
use std::path::Path;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Item, Lit, LitInt, Token, UnOp};

use crate::interface::{COMMON, Interface};
use crate::{Derived, Result, macros};

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
        let explain = |e: String| format!("the modules {module} of {COMMON} and {source}: {e}");
        // A module is in either crate or in both.
        let items = |folder: &str| match fs::read_to_string(root.join(format!("{folder}/src/layout/{module}.rs"))) {
            Ok(text) => syn::parse_file(&text).map(|file| Some(file.items)).map_err(|e| explain(e.to_string())),
            Err(_) => Ok(None),
        };
        let (common, own) = (items(COMMON)?, items(source)?);
        if common.is_none() && own.is_none() && module != "extensions" {
            return Err(explain("there are none".to_owned()));
        }
        let mut common = common.unwrap_or_default();
        let own = macros::expand(&mut common, own.unwrap_or_default()).map_err(explain)?;
        for item in common.into_iter().chain(own) {
            match item {
                Item::Macro(item) => text.push_str(&lines(&item.mac).map_err(|e| explain(e.to_string()))?),
                Item::Use(_) => {}
                other => return Err(explain(format!("not expected here: {}", other.to_token_stream()))),
            }
        }
    }
    Ok(Derived { path: format!("tests-c/abi/layout{suffix}.def"), text })
}

fn lines(invocation: &syn::Macro) -> syn::Result<String> {
    let name = invocation.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
    match name.as_str() {
        "scalar" => invocation.parse_body::<Scalar>().map(|scalar| scalar.line()),
        "record" => invocation.parse_body::<Record>().map(|record| record.lines()),
        "fields" => invocation.parse_body::<Fields>().map(|fields| fields.lines()),
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
    fields: Fields,
}

impl Record {
    fn lines(&self) -> String {
        format!("\n{}{}", self.whole.line(), self.fields.lines())
    }
}

impl Parse for Record {
    fn parse(input: ParseStream) -> syn::Result<Record> {
        let whole: Scalar = input.parse()?;
        input.parse::<Token![,]>()?;
        let fields = Fields::list(whole.ty.clone(), input)?;
        Ok(Record { whole, fields })
    }
}

/// `TYPE, { FIELD: OFFSET, SIZE; ... }`
struct Fields {
    ty: Ident,
    fields: Vec<(Ident, LitInt, LitInt)>,
}

impl Fields {
    fn lines(&self) -> String {
        let field = |(name, offset, size): &(Ident, LitInt, LitInt)| {
            format!("FIELD({}, {}, {offset}, {size})\n", self.ty, name.unraw())
        };
        self.fields.iter().map(field).collect()
    }

    /// The list of fields of the type `ty`.
    fn list(ty: Ident, input: ParseStream) -> syn::Result<Fields> {
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
        Ok(Fields { ty, fields })
    }
}

impl Parse for Fields {
    fn parse(input: ParseStream) -> syn::Result<Fields> {
        let ty = input.parse()?;
        input.parse::<Token![,]>()?;
        Fields::list(ty, input)
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
mod tests;
