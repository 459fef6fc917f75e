//! Parts of the headers that are derived from calls.

use quote::quote;
use syn::{Item, parse_quote};

use super::spec::Level;
use super::text::{WIDTH, wrap};
use crate::calls::{Argument, Call, Calls, How, Slot};
use crate::interface::Interface;

/// A title and its items.
type Part = (String, Vec<Item>);

/// Returns the prototypes, one part per list.
pub fn prototypes(interface: &Interface, calls: &Calls, level: Level) -> Vec<Part> {
    let part = |group: &crate::calls::CallGroup| {
        let functions = group.calls.iter().filter(|call| !matches!(call.how, How::Slot));
        let functions = functions.filter(|call| Level::of(&call.name.to_string()) == level);
        (format!("Calls: {}", group.about), functions.map(|call| prototype(interface, call)).collect())
    };
    calls.groups.iter().map(part).collect()
}

fn prototype(interface: &Interface, call: &Call) -> Item {
    let Call { abi, name, .. } = call;
    let comment = comment(interface, call);
    let (mut names, mut types): (Vec<_>, Vec<_>) =
        call.all_arguments().map(|Argument { name, ty, .. }| (name, ty)).unzip();
    let mut more = None;
    if matches!(call.how, How::Variadic) {
        names.pop();
        types.pop();
        more = Some(quote!(, ...));
    }
    parse_quote! {
        unsafe extern #abi {
            #(#[doc = #comment])*
            pub fn #name(#(#names: #types),* #more) -> DAT_RETURN;
        }
    }
}

/// Returns the lines of a prototype's comment, with a leading space.
fn comment(interface: &Interface, call: &Call) -> Vec<String> {
    let mut paragraphs: Vec<String> = call.doc.summary.iter().map(|text| text.replace('`', "")).collect();
    let specification = match call.doc.specification.strip_prefix("None;") {
        Some(rest) => format!("Not in uDAPL {}:{rest}", interface.version),
        None => format!("See {}", call.doc.specification),
    };
    paragraphs.push(format!("Returns DAT_SUCCESS; {}. {specification}", call.doc.types().join(", ")));
    if call.further {
        paragraphs.push(format!("Other libraries of uDAPL {} do not export it.", interface.version));
    }
    let wrapped: Vec<String> =
        paragraphs.iter().map(|text| wrap(text.split(' '), WIDTH - " * ".len()).join("\n ")).collect();
    wrapped.join("\n\n ").split('\n').map(|line| format!(" {}", line.trim())).collect()
}

/// Returns the types of slots, in the order of the lists.
pub fn slot_types(calls: &Calls, level: Level) -> Part {
    let mut items = Vec::new();
    for call in calls.all().filter(|call| Level::of(&call.name.to_string()) == level) {
        let Some(slot) = calls.slot(call) else { continue };
        let ty = &slot.ty;
        match &call.how {
            How::Wrap(Some(whole)) => {
                let doc = format!(" Slot of {}, without the arguments that the library deals with.", call.name);
                items.push(slot_type(ty, &doc, call, &mut call.arguments.iter()));
                let doc = format!(" Type of {}; no slot has it.", call.name);
                items.push(slot_type(whole, &doc, call, &mut call.all_arguments()));
            }
            _ => items.push(slot_type(ty, &format!(" Slot of {}.", call.name), call, &mut call.arguments.iter())),
        }
    }
    let title = match level {
        Level::User => "Types of the slots of the user-level interface alone",
        _ => "Types of the slots that both interfaces share",
    };
    (title.to_owned(), items)
}

fn slot_type(ty: &syn::Ident, doc: &str, call: &Call, arguments: &mut dyn Iterator<Item = &Argument>) -> Item {
    let abi = &call.abi;
    let (names, types): (Vec<_>, Vec<_>) = arguments.map(|Argument { name, ty, .. }| (name, ty)).unzip();
    parse_quote! {
        #[doc = #doc]
        pub type #ty = Option<unsafe extern #abi fn(#(#names: #types),*) -> DAT_RETURN>;
    }
}

/// Returns the provider table.
pub fn table(calls: &Calls) -> Part {
    let fields = calls.slots.iter().map(|slot| {
        let (field, ty) = (&slot.field, &slot.ty);
        let doc = format!(" {}.", slot.call);
        quote!(#[doc = #doc] pub #field: #ty)
    });
    let doc = [
        " Table of the functions of a provider. The order is part of the binary interface. For a slot that",
        " is NULL, the library returns DAT_NOT_IMPLEMENTED.",
    ];
    let table = parse_quote! {
        #(#[doc = #doc])*
        #[repr(C)]
        pub struct dat_provider {
            /// Name of the adapter that it serves.
            pub device_name: *const c_char,
            /// For the provider's own use.
            pub extension: DAT_PVOID,
            #(#fields,)*
        }
    };
    let name = parse_quote! { pub type DAT_PROVIDER = dat_provider; };
    ("The table of a provider".to_owned(), vec![table, name])
}

/// Returns the upper-case macros, which call through the table.
pub fn redirections(calls: &Calls, level: Level) -> String {
    let mut text = "/* ---- Calls by way of the table ---- */\n\n\
        /*\n * Upper-case macros: the functions by way of the table of the object's provider, without the library in\n \
        * between. No handle is checked, and the one that names the table is evaluated twice.\n */\n"
        .to_owned();
    for call in calls.all().filter(|call| Level::of(&call.name.to_string()) == level) {
        if let (How::Dispatch | How::Slot | How::Variadic, Some(slot)) = (&call.how, calls.slot(call)) {
            text.push_str(&redirection(call, slot));
        }
    }
    text
}

fn redirection(call: &Call, slot: &Slot) -> String {
    let (ty, field) = (slot.ty.to_string(), &slot.field);
    let macro_name = ty.trim_end_matches("_FUNC");
    let names: Vec<String> = call.all_arguments().map(|argument| argument.name.to_string()).collect();
    let (handle, last) = (&names[0], names.len() - 1);
    let list = |open: &str, close: &str| -> Vec<String> {
        let item = |(at, name): (usize, &String)| format!("{open}{name}{close}{}", if at == last { ")" } else { "," });
        names.iter().enumerate().map(item).collect()
    };
    // All lines except the last end with a space and a backslash.
    let lines = |head: String, items: Vec<String>, room: usize| -> Vec<String> {
        let whole = format!("{head}{}", items.join(" "));
        if whole.len() <= WIDTH - room {
            return vec![whole];
        }
        let indent = " ".repeat(head.len() - head.trim_start().len() + 4);
        let rest = wrap(items.iter().map(String::as_str), WIDTH - 2 - indent.len());
        std::iter::once(head).chain(rest.iter().map(|line| format!("{indent}{line}"))).collect()
    };
    let mut all = lines(format!("#define {macro_name}("), list("", ""), 2);
    all.extend(lines(format!("    (*DAT_HANDLE_TO_PROVIDER({handle})->{field})("), list("(", ")"), 0));
    format!("\n/** {}. */\n{}\n", call.name, all.join(" \\\n"))
}
