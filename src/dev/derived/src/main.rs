//! Generator of the files derived from the C interface (src/interface) and the arguments of the tools.
//!
//! | derived | from | module |
//! |---|---|---|
//! | C headers, such as include/dat | modules, list of calls, templates in headers/, NAME of manual pages | `headers` |
//! | docs/man/*.1, docs/completions | arguments of the tools | `tools` |
//!
//! `cargo run -p dat-derived` writes the files; with `--check`, it only compares them. The exit status is 1 if a check
//! fails.

mod calls;
mod headers;
mod interface;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::interface::INTERFACES;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A derived file with its expected contents.
struct Derived {
    /// Path, relative to the root of the source tree.
    path: String,
    text: String,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => run(false),
        ["--check"] => run(true),
        _ => Err("usage: dat-derived [--check]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("dat-derived: {message}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Reads a file. The error contains the path.
fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()).into())
}

/// Derives all files, and writes those that differ, or only reports them. Fails with all errors.
fn run(check: bool) -> Result<()> {
    let root = root();
    let mut derived = Vec::new();
    for interface in INTERFACES {
        let calls = calls::all(&root, interface)?;
        derived.extend(headers::all(&root, interface, &calls)?);
    }
    derived.extend(tools::all()?);
    let faults: Vec<String> = derived.iter().filter_map(|file| Some(settle(file, check).err()?.to_string())).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

fn settle(Derived { path, text }: &Derived, check: bool) -> Result<()> {
    let file = root().join(path);
    let old = fs::read_to_string(&file).unwrap_or_default();
    if old == *text {
        return Ok(());
    }
    if check {
        let line = 1 + old.lines().zip(text.lines()).take_while(|(old, new)| old == new).count();
        return Err(format!("{path}:{line}: differs from what is derived; `make derived` writes it").into());
    }
    let parent = file.parent().expect("the path was just joined");
    fs::create_dir_all(parent).and_then(|()| fs::write(&file, text)).map_err(|e| format!("{path}: {e}"))?;
    println!("wrote {path}");
    Ok(())
}
