//! The C headers in include/dat.

mod assemble;
mod functions;
mod source;
mod spec;
mod text;

use std::path::Path;

use crate::calls::Calls;
use crate::{Derived, Result};

/// All headers.
pub fn all(root: &Path, calls: &Calls) -> Result<Vec<Derived>> {
    let one = |header: &spec::Header| {
        let text = assemble::header(root, header, calls)?;
        Ok(Derived { path: format!("include/dat/{}", header.name), text })
    };
    spec::HEADERS.iter().map(one).collect()
}
