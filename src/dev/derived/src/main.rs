//! Generator of the files derived from the C interface (src/interface) and the arguments of the tools.
//!
//! | derived | from | module |
//! |---|---|---|
//! | C headers, such as include/dat | modules, list of calls, texts in macros/, NAME of manual pages | `headers` |
//! | tests-c/abi/symbols.txt, the exported names of the registry library | list of calls | `calls` |
//! | docs/man/*.1, docs/completions | arguments of the tools | `tools` |
//!
//! The files for uDAPL 2.0 have a suffix: include/dat2, tests-c/abi/symbols20.txt.
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

type Result<T> = std::result::Result<T, String>;

/// A derived file with its expected contents.
struct Derived {
    /// Path, relative to the root of the source tree.
    path: String,
    text: String,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => run(write),
        ["--check"] => run(check),
        _ => Err("usage: dat-derived [--check]".to_owned()),
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
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Derives all files, and applies `each` to each of them. Fails with all its errors.
fn run(each: fn(&Derived) -> Result<()>) -> Result<()> {
    let root = root();
    let mut derived = Vec::new();
    for interface in INTERFACES {
        let calls = calls::all(&root, interface)?;
        derived.extend(headers::all(&root, interface, &calls)?);
        derived.extend(calls::symbols(interface, &calls));
    }
    derived.extend(tools::all()?);
    let faults: Vec<String> = derived.iter().filter_map(|file| each(file).err()).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

fn write(file: &Derived) -> Result<()> {
    let path = root().join(&file.path);
    if fs::read_to_string(&path).is_ok_and(|old| old == file.text) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().expect("the path was just joined"))
        .and_then(|()| fs::write(&path, &file.text))
        .map_err(|e| format!("{}: {e}", file.path))?;
    println!("wrote {}", file.path);
    Ok(())
}

fn check(file: &Derived) -> Result<()> {
    match fs::read_to_string(root().join(&file.path)) {
        Ok(old) if old == file.text => Ok(()),
        Ok(old) => {
            let line = 1 + old.lines().zip(file.text.lines()).take_while(|(old, new)| old == new).count();
            Err(format!("{}:{line}: differs from what is derived; `make derived` writes it", file.path))
        }
        Err(e) => Err(format!("{}: {e}", file.path)),
    }
}
