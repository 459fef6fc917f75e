//! Writes the C headers in include/dat from the modules of src/udat12.
//!
//! `cargo run -p dat-headers` writes them; with `--check` nothing is written, and the exit status
//! is 1 if a header in the tree is not what would be written.

mod assemble;
mod source;
mod spec;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a step answers: text to show when it fails.
type Result<T> = std::result::Result<T, String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => write(),
        ["--check"] => check(),
        _ => Err("usage: dat-headers [--check]".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("dat-headers: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The top of the tree that this program was built from.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes every header that differs from what is there.
fn write() -> Result<()> {
    for header in spec::HEADERS {
        let path = root().join("include/dat").join(header.name);
        let text = assemble::header(&root(), header)?;
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        fs::create_dir_all(path.parent().expect("the path was just joined"))
            .and_then(|()| fs::write(&path, text))
            .map_err(|e| format!("{}: {e}", path.display()))?;
        println!("wrote include/dat/{}", header.name);
    }
    Ok(())
}

/// Compares every header with what is there.
fn check() -> Result<()> {
    let mut drifted = Vec::new();
    for header in spec::HEADERS {
        let path = root().join("include/dat").join(header.name);
        let text = assemble::header(&root(), header)?;
        match fs::read_to_string(&path) {
            Ok(old) if old == text => {}
            Ok(old) => drifted.push(format!(
                "include/dat/{}:{}: differs from src/udat12",
                header.name,
                first_difference(&old, &text)
            )),
            Err(e) => drifted.push(format!("include/dat/{}: {e}", header.name)),
        }
    }
    if drifted.is_empty() {
        return Ok(());
    }
    Err(format!("headers do not match src/udat12; `make headers` writes them\n{}", drifted.join("\n")))
}

/// The number of the first line in which two texts differ.
fn first_difference(old: &str, new: &str) -> usize {
    1 + old.lines().zip(new.lines()).take_while(|(a, b)| a == b).count()
}
