//! The C headers of a version.

mod assemble;
mod functions;
mod source;
mod spec;

use std::path::Path;

use crate::calls::Call;
use crate::interface::Interface;
use crate::{Derived, Result};

/// Returns all headers of `interface`.
pub fn all(root: &Path, interface: &Interface, calls: &[Call]) -> Result<Vec<Derived>> {
    let sources = source::Sources::read(root, interface)?;
    let one = |header: &spec::Header| {
        let text = assemble::header(root, interface, header, &sources, calls)?;
        Ok(Derived { path: format!("include/{}/{}", interface.include, header.name), text })
    };
    spec::headers(interface).map(one).collect()
}
