//! What every tool is: arguments, what it does with them, an exit status, and the parts of its manual page that do not
//! follow from its arguments.
//!
//! `--help` and the manual page say the same, because both come from a [`Tool`]; src/dev/derived writes the pages and the
//! completions.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Command, Parser};

use crate::dat::{Absent, Adapter, Api, Library};
use crate::print;

/// A tool; its arguments are the type that implements this.
pub trait Tool: Parser {
    /// Sections of the manual page behind the options, and of `--help`, in order.
    const SECTIONS: &'static [Section];

    /// Carries out what the arguments ask for.
    ///
    /// # Errors
    /// What stopped the tool; it is shown on standard error, and the exit status is that of [`Outcome::Failure`].
    fn run(self) -> anyhow::Result<Outcome>;
}

/// A section of a manual page.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its heading, in capitals.
    pub heading: &'static str,
    /// Paragraphs with empty lines between them. Lines that begin with blanks are shown as they are.
    pub text: &'static str,
}

/// The result of a tool, as scripts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit status 0: what was asked for was done, and nothing was found wrong.
    Fine,
    /// Exit status 1: something was found wrong, or could not be done.
    Failure,
    /// Exit status 2: the arguments make no sense together. What clap refuses has the same status.
    Usage,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        ExitCode::from(match outcome {
            Outcome::Fine => 0,
            Outcome::Failure => 1,
            Outcome::Usage => 2,
        })
    }
}

/// The exit status, in the words of a manual page.
pub const EXIT_STATUS: Section = Section {
    heading: "EXIT STATUS",
    text: "0 on success, 1 if an operation or a check failed, 2 if the arguments are wrong.",
};

/// Arguments that every tool has.
#[derive(clap::Args, Clone, Debug, Default)]
#[group(skip)]
pub struct Common {
    /// Write JSON instead of text
    #[arg(long)]
    pub json: bool,

    /// Act as a program of this version of uDAPL
    ///
    /// Without this option, dat-info shows both versions; dat-ping and dat-perf use 1.2 unless only 2.0 has the adapter.
    #[arg(long, value_name = "VERSION")]
    pub api: Option<Api>,

    /// Use this libdat.so.1 or libdat2.so.2 instead of the one that programs find
    ///
    /// Without this option, the tool searches as the loader does for any program: in LD_LIBRARY_PATH, then in the system's
    /// directories. Last, it searches in ../lib, relative to the tool.
    #[arg(long, value_name = "PATH")]
    pub library: Option<PathBuf>,
}

impl Common {
    /// The libraries that may be used, the oldest version first.
    ///
    /// # Errors
    /// Of one: it is not there, or cannot be used.
    pub fn libraries(&self) -> Vec<anyhow::Result<Library>> {
        match (&self.library, self.api) {
            (Some(file), api) => vec![Library::of_file(file, api)],
            (None, Some(api)) => vec![Library::of_version(api)],
            (None, None) => Api::ALL.map(Library::of_version).into(),
        }
    }

    /// The library with which an adapter opens: the first that lists it, or the first that there is.
    ///
    /// # Parameters
    /// * `name` - the adapter; without it any is meant.
    ///
    /// # Errors
    /// There is no library, for the reason of the first version; or one that programs find cannot be used.
    pub fn library_with(&self, name: Option<&[u8]>) -> anyhow::Result<Library> {
        let is_it = |one: &Adapter| name.is_none_or(|name| one.name.to_bytes() == name);
        let lists = |library: &Library| library.adapters().is_ok_and(|all| all.iter().any(is_it));
        let mut first = None;
        for library in self.libraries() {
            match library {
                Ok(library) if lists(&library) => return Ok(library),
                // A library is better than the reason why there is none of a version before.
                Ok(_) if matches!(first, Some(Ok(_))) => {}
                Ok(library) => first = Some(Ok(library)),
                // What programs of a version find, but cannot load, is to be mended first.
                Err(error) if !error.is::<Absent>() => return Err(error),
                Err(error) => first = first.or(Some(Err(error))),
            }
        }
        first.unwrap_or_else(|| Err(anyhow::anyhow!("there is no version of uDAPL to use")))
    }
}

/// The main function of a tool.
pub fn main<T: Tool>() -> ExitCode {
    obey_closed_pipes();
    let matches = command::<T>().try_get_matches();
    let outcome = match matches.and_then(|matches| T::from_arg_matches(&matches)) {
        Ok(tool) => tool.run(),
        Err(instead) => explain(&instead),
    };
    outcome
        .unwrap_or_else(|error| {
            print::complain(format_args!("{}: {error:#}", T::command().get_name()));
            Outcome::Failure
        })
        .into()
}

/// Writes what is wrong with the arguments, or what `--help` and `--version` ask for.
fn explain(instead: &clap::Error) -> anyhow::Result<Outcome> {
    let shown = instead.print().and_then(|()| std::io::stdout().flush());
    if instead.use_stderr() {
        return Ok(Outcome::Usage);
    }
    shown.context(print::UNWRITTEN).map(|()| Outcome::Fine)
}

/// The arguments of a tool, with its sections behind the long help.
pub fn command<T: Tool>() -> Command {
    let text = |section: &Section| {
        let indented =
            section.text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") });
        format!("{}:\n{}", capitalised(section.heading), indented.collect::<String>())
    };
    T::command().after_long_help(T::SECTIONS.iter().map(text).collect::<Vec<_>>().join("\n"))
}

/// A heading of the help, such as `Exit status`.
fn capitalised(heading: &str) -> String {
    let (first, rest) = heading.split_at(1);
    first.to_owned() + &rest.to_lowercase()
}

/// Has the process end when the reader of its output has gone, as programs in C do. Rust's runtime ignores the signal, and
/// `dat-info | head` would end with a panic.
fn obey_closed_pipes() {
    // SAFETY: no other thread runs yet, and the default action needs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

#[cfg(test)]
mod tests;
