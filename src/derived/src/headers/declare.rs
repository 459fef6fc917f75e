//! Declares in C what the modules and lists declare in Rust.
//!
//! Some of it must look different in C. `c_enum!` becomes an enumeration; integers keep the base in which they are written, and
//! masks of 64 bits get that width. Items that the texts in macros/ define are left out, and so are items that have no meaning
//! in C.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{BareFnArg, Expr, Field, GenericArgument, Ident, Item, Lit, PathArguments, ReturnType, Type, UnOp};

use super::source::Enumeration;
use super::text::WIDTH;
use crate::{Result, doc};

/// Types of constants that have 64 bits.
const WIDE: &[&str] = &["DAT_EP_PARAM_MASK", "DAT_IA_ATTR_MASK", "DAT_PROVIDER_ATTR_MASK"];

/// The declarations of items, with an empty line before each.
///
/// # Parameters
/// * `defined` - the names of macros that the header defines itself.
/// * `incomplete` - structures that it names but another header defines.
pub fn declarations(items: Vec<Item>, defined: impl Fn(&str) -> bool, incomplete: &[&str]) -> Result<String> {
    let mut text = String::new();
    let mut items = items.into_iter().peekable();
    while let Some(item) = items.next() {
        // The name that the next item gives to a structure or union.
        let mut second = |tag: &Ident| {
            let names =
                |next: &Item| matches!(next, Item::Type(item) if last_segment(&item.ty).is_some_and(|ty| tag == &ty));
            items.next_if(names).and_then(|item| if let Item::Type(item) = item { Some(item.ident) } else { None })
        };
        let (attrs, declaration) = match item {
            Item::Macro(item) if item.mac.path.is_ident("c_enum") => {
                let Enumeration { attrs, tag, name, members } = item.mac.parse_body().map_err(|e| e.to_string())?;
                let mut body = String::new();
                for member in &members {
                    let (_, number) = member.discriminant.as_ref().ok_or("a member without a number")?;
                    body += &format!(
                        "{}    {} = {},\n",
                        comment(&doc::lines(&member.attrs), "    "),
                        member.ident,
                        value(number, false)?
                    );
                }
                (attrs, compound("enum", &tag, Some(&name), &body))
            }
            Item::Const(item) if defined(&item.ident.to_string()) => continue,
            Item::Const(item) => {
                let wide = last_segment(&item.ty).is_some_and(|name| WIDE.contains(&name.as_str()));
                let value = value(&item.expr, wide).map_err(|e| format!("{}: {e}", item.ident))?;
                (item.attrs, format!("#define {} {value}", item.ident))
            }
            Item::Struct(item) => {
                let body = fields(item.fields.iter(), incomplete)?;
                (item.attrs, compound("struct", &item.ident, second(&item.ident).as_ref(), &body))
            }
            Item::Union(item) => {
                let body = fields(item.fields.named.iter(), incomplete)?;
                (item.attrs, compound("union", &item.ident, second(&item.ident).as_ref(), &body))
            }
            Item::Type(item) => (
                item.attrs,
                format!("typedef {};", declared(&item.ty, &item.ident.to_string(), incomplete, "typedef ")?),
            ),
            Item::Fn(_) | Item::Mod(_) | Item::Use(_) => continue,
            other => return Err(format!("not expected here: {}", other.to_token_stream())),
        };
        text += &format!("\n{}{declaration}\n", comment(&doc::lines(&attrs), ""));
    }
    Ok(text)
}

/// A structure, union or enumeration, with its second name if it has one.
fn compound(keyword: &str, tag: &Ident, name: Option<&Ident>, body: &str) -> String {
    match name {
        Some(name) => format!("typedef {keyword} {tag} {{\n{body}}} {name};"),
        None => format!("{keyword} {tag} {{\n{body}}};"),
    }
}

fn fields<'a>(fields: impl Iterator<Item = &'a Field>, incomplete: &[&str]) -> Result<String> {
    let field = |field: &Field| {
        let name = field.ident.as_ref().map(|name| name.unraw().to_string()).unwrap_or_default();
        let declared = declared(&field.ty, &name, incomplete, "    ")?;
        Ok(format!("{}    {declared};\n", comment(&doc::lines(&field.attrs), "    ")))
    };
    fields.map(field).collect()
}

/// A type with the name that it is the type of, as C declares it. It stands behind `before` on its line.
pub fn declared(ty: &Type, name: &str, incomplete: &[&str], before: &str) -> Result<String> {
    match ty {
        Type::Ptr(pointer) => {
            let constant = if pointer.const_token.is_some() { "const " } else { "" };
            let name = if matches!(*pointer.elem, Type::Array(_)) { format!("(*{name})") } else { format!("*{name}") };
            Ok(format!("{constant}{}", declared(&pointer.elem, &name, incomplete, before)?))
        }
        Type::Array(array) => {
            let length = value(&array.len, false)?;
            // The first index of an array of arrays is that of the outer one.
            declared(&array.elem, &format!("{name}[{length}]"), incomplete, before)
        }
        Type::Path(path) => {
            let last = path.path.segments.last().ok_or("a type without a name")?;
            if let PathArguments::AngleBracketed(of) = &last.arguments
                && let Some(GenericArgument::Type(Type::BareFn(function))) = of.args.first()
            {
                let argument = |BareFnArg { name, ty, .. }: &BareFnArg| {
                    let name = name.as_ref().map(|(name, _)| name.to_string()).unwrap_or_default();
                    declared(ty, &name, incomplete, "")
                };
                let arguments = function.inputs.iter().map(argument).collect::<Result<Vec<_>>>()?;
                let head = format!("{} (*{name})", returned(&function.output, incomplete)?);
                return Ok(call(&head, &arguments, before.len()));
            }
            let base = match last.ident.to_string().as_str() {
                "c_char" => "char".to_owned(),
                "c_int" => "int".to_owned(),
                "c_uint" => "unsigned int".to_owned(),
                "c_ulong" => "unsigned long".to_owned(),
                "c_ulonglong" => "unsigned long long".to_owned(),
                "c_void" => "void".to_owned(),
                fixed @ ("u8" | "u16" | "u32" | "u64") => format!("uint{}_t", &fixed[1..]),
                tag if incomplete.contains(&tag) => format!("struct {tag}"),
                name => name.to_owned(),
            };
            Ok(format!("{base} {name}"))
        }
        other => Err(format!("no type of C: {}", other.to_token_stream())),
    }
}

fn returned(output: &ReturnType, incomplete: &[&str]) -> Result<String> {
    match output {
        ReturnType::Default => Ok("void".to_owned()),
        ReturnType::Type(_, ty) => Ok(declared(ty, "", incomplete, "")?.trim_end().to_owned()),
    }
}

/// A function with its arguments, which stand below each other if a line behind `before` characters would be too long.
pub fn call(head: &str, arguments: &[String], before: usize) -> String {
    let whole = format!("{head}({})", arguments.join(", "));
    // The parenthesis and the semicolon at the end may be beyond.
    if before + whole.len() <= WIDTH + ")".len() {
        return whole;
    }
    let indent = " ".repeat(before + head.len() + 1);
    format!("{head}({})", arguments.join(&format!(",\n{indent}")))
}

/// A constant expression; one that C does not have is to be a macro.
fn value(expr: &Expr, wide: bool) -> Result<String> {
    match expr {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(int) if wide => Ok(format!("UINT64_C({int})")),
            Lit::Int(int) => Ok(int.to_string()),
            Lit::CStr(string) => Ok(format!("{:?}", string.value())),
            other => Err(format!("no constant of C: {}", other.to_token_stream())),
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => Ok(format!("(-{})", value(&unary.expr, wide)?)),
        Expr::Binary(both) => {
            let operator = both.op.to_token_stream();
            Ok(format!("({} {operator} {})", value(&both.left, wide)?, value(&both.right, wide)?))
        }
        Expr::Path(path) => Ok(path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default()),
        _ => Err("no text in macros/ defines it".to_owned()),
    }
}

/// Lines of documentation as a comment; in one line if that is not too long.
pub fn comment(lines: &[String], indent: &str) -> String {
    match lines {
        [] => String::new(),
        [line] if indent.len() + line.len() + "/**  */".len() <= WIDTH => format!("{indent}/** {line} */\n"),
        lines => {
            let lines = lines.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n");
            format!("{indent}/**\n{}{indent} */\n", lines.collect::<String>())
        }
    }
}

fn last_segment(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
