// SPDX-License-Identifier: MIT OR Apache-2.0

//! The check that libraries are as new as their sources, so that no test uses an outdated library.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};

/// Arguments of `xtask fresh`.
#[derive(clap::Args)]
pub struct Args {
    /// Libraries where cargo built them. One without the list of its sources that cargo puts next to it is not checked.
    libraries: Vec<PathBuf>,
}

/// Compares the libraries with their sources. Returns whether none is older than a source.
pub fn run(args: &Args) -> Result<bool> {
    let mut is_fresh = true;
    for library in &args.libraries {
        let Ok(list) = fs::read_to_string(library.with_extension("d")) else { continue };
        if let Some(source) = newer_source(library, &sources(&list))? {
            eprintln!("{} is older than {}: build it with make", library.display(), source.display());
            is_fresh = false;
        }
    }
    Ok(is_fresh)
}

fn modified(path: &Path) -> Result<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).with_context(|| path.display().to_string())
}

/// Returns a source that is newer than the library or no longer exists, or `None` if there is none.
fn newer_source<'a>(library: &Path, sources: &'a [PathBuf]) -> Result<Option<&'a Path>> {
    let built = modified(library)?;
    Ok(sources.iter().map(PathBuf::as_path).find(|source| modified(source).map_or(true, |time| time > built)))
}

/// Parses a list of sources in the syntax of make, `TARGET: SOURCE...`. A backslash precedes a space in a name.
fn sources(list: &str) -> Vec<PathBuf> {
    let line = list.lines().next().and_then(|line| line.split_once(": ")).map_or("", |(_, sources)| sources);
    line.replace("\\ ", "\0")
        .split(' ')
        .filter(|name| !name.is_empty())
        .map(|name| name.replace('\0', " ").into())
        .collect()
}

#[cfg(test)]
mod tests;
