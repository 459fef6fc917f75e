//! The C headers of a version.

mod assemble;
mod functions;
mod merge;
mod source;
mod spec;
mod text;

pub use self::source::{TableRow, rows};
pub use self::spec::Level;
pub use self::text::wrap;

use std::path::Path;

use crate::calls::Calls;
use crate::interface::Interface;
use crate::{Derived, Result};

/// All headers of `interface`; `calls` are its calls.
pub fn all(root: &Path, interface: &Interface, calls: &Calls) -> Result<Vec<Derived>> {
    let one = |header: &spec::Header| {
        let text = assemble::header(root, interface, header, calls)?;
        Ok(Derived { path: format!("include/{}/{}", interface.include, header.name), text })
    };
    spec::headers(interface).map(one).collect()
}

/// The comments on the members of the enumeration `tag` in a module's text, each in one line.
pub fn comments(text: &str, tag: &str) -> Result<Vec<String>> {
    let found = source::enumerations(text)?.into_iter().find(|enumeration| enumeration.tag == tag);
    let members = found.ok_or_else(|| format!("no enumeration {tag}"))?.members;
    Ok(members.iter().map(|member| crate::doc::lines(&member.attrs).join(" ")).collect())
}
