// SPDX-License-Identifier: MIT OR Apache-2.0

//! packaging/libraries.txt: the libraries of the project.

use std::fs;

use anyhow::{Context, Result};

/// Returns the columns of each library's line.
fn rows() -> Result<Vec<Vec<String>>> {
    let path = crate::root().join("packaging/libraries.txt");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let libraries = text.lines().filter(|line| line.starts_with(['1', '2', 'b']));
    Ok(libraries.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect())
}

/// Returns the crates of the libraries whose build needs no development packages.
pub fn default_crates() -> Result<Vec<String>> {
    Ok(rows()?.into_iter().filter(|row| row[6] == "always").map(|row| row[1].clone()).collect())
}

/// Returns the names of the transports.
pub fn transports() -> Result<Vec<String>> {
    Ok(rows()?.into_iter().filter(|row| row[0] == "both").map(|row| row[4].clone()).collect())
}
