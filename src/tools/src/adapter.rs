//! Opening an adapter by its name.

use anyhow::Context;

use crate::dat::{Ia, Library};
use crate::shell::operand;

/// Opens an adapter. An error names it, and the command that tells more.
pub fn open(library: Library, name: &str) -> anyhow::Result<Ia> {
    Ia::open(library, name).with_context(|| {
        format!("the adapter \"{name}\" does not open; `dat-info --explain {}` tells why", operand(name))
    })
}
