//! The parts of the headers that come from the calls: prototypes, types of slots, the table, macros.

use super::declare;
use super::spec::Level;
use super::text::{WIDTH, wrap};
use crate::Result;
use crate::calls::{Argument, Call, Calls, How, Slot};
use crate::interface::Interface;

/// A title and the declarations below it.
type Part = (String, String);

/// The prototypes, one part for each list.
pub fn prototypes(interface: &Interface, calls: &Calls, level: Level) -> Result<Vec<Part>> {
    let part = |group: &crate::calls::CallGroup| {
        let functions = group.calls.iter().filter(|call| !matches!(call.how, How::Slot));
        let functions = functions.filter(|call| Level::of(&call.name.to_string()) == level);
        let text = functions.map(|call| prototype(interface, call)).collect::<Result<_>>()?;
        Ok((format!("Calls: {}", group.about), text))
    };
    calls.groups.iter().map(part).collect()
}

fn prototype(interface: &Interface, call: &Call) -> Result<String> {
    let mut arguments = declared_all(call.all_arguments())?;
    if let (How::Variadic, Some(last)) = (&call.how, arguments.last_mut()) {
        *last = "...".to_owned();
    }
    let comment = declare::comment(&comment(interface, call), "");
    let head = format!("extern DAT_RETURN {}", call.name);
    Ok(format!("\n{comment}{};\n", declare::call(&head, &arguments, 0)))
}

fn declared_all<'a>(arguments: impl Iterator<Item = &'a Argument>) -> Result<Vec<String>> {
    arguments.map(|Argument { name, ty }| declare::declared(ty, &name.to_string(), &[], "")).collect()
}

/// The lines of a prototype's comment.
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
    let wrapped = paragraphs.iter().map(|text| wrap(text.split(' '), WIDTH - " * ".len()));
    wrapped.collect::<Vec<_>>().join(&String::new())
}

/// The types of slots, in the order of the lists.
pub fn slot_types(calls: &Calls, level: Level) -> Result<Part> {
    let mut text = String::new();
    for call in calls.all().filter(|call| Level::of(&call.name.to_string()) == level) {
        let Some(slot) = calls.slot(call) else { continue };
        if let How::Wrap(Some(whole)) = &call.how {
            let doc = format!("Slot of {}, without the arguments that the library deals with.", call.name);
            text += &slot_type(&slot.ty, doc, &mut call.arguments.iter())?;
            let doc = format!("Type of {}; no slot has it.", call.name);
            text += &slot_type(whole, doc, &mut call.all_arguments())?;
        } else {
            text += &slot_type(&slot.ty, format!("Slot of {}.", call.name), &mut call.arguments.iter())?;
        }
    }
    let title = match level {
        Level::User => "Types of the slots of the user-level interface alone",
        _ => "Types of the slots that both interfaces share",
    };
    Ok((title.to_owned(), text))
}

fn slot_type(ty: &syn::Ident, doc: String, arguments: &mut dyn Iterator<Item = &Argument>) -> Result<String> {
    let declaration = declare::call(&format!("typedef DAT_RETURN (*{ty})"), &declared_all(arguments)?, 0);
    Ok(format!("\n{}{declaration};\n", declare::comment(&[doc], "")))
}

pub fn table(calls: &Calls) -> Part {
    let fields = calls.slots.iter().map(|Slot { call, field, ty }| format!("    /** {call}. */\n    {ty} {field};\n"));
    let text = format!(
        "\n/**\n * Table of the functions of a provider, in the order that is the binary interface. A provider\n \
         * fills every slot; one that it does not implement answers DAT_NOT_IMPLEMENTED.\n */\n\
         typedef struct dat_provider {{\n    \
         /** Name of the adapter that it serves. */\n    const char *device_name;\n    \
         /** For the provider's own use. */\n    DAT_PVOID extension;\n{}}} DAT_PROVIDER;\n",
        fields.collect::<String>()
    );
    ("The table of a provider".to_owned(), text)
}

/// The upper-case macros.
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
    // The backslash and the space before it are part of every line but the last.
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
