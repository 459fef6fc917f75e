//! What all tools share: the main function, arguments, exit status, and the search for the libraries. `--help` and the
//! manual page have the same text: both are generated from a [`Tool`], the page by src/dev/derived.

use std::env;
use std::ffi::{CString, OsStr};
use std::fmt;
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Command, Parser};
use dat::{Adapter, Api, Ia, Library, Request};
use dat_registry::Version;
use dat_registry::search::{self, Places};
use dat_registry::step::{LineUse, Step};
use rustix::param::linux_execfn;

use crate::print;
use crate::shell::operand;

/// A tool. A type that implements it contains the tool's arguments.
pub trait Tool: Parser {
    /// The sections that follow the options in the manual page and in `--help`; see [`sections`].
    const MANUAL: &'static str;

    /// Runs the tool. For an error, [`main`] prints it and exits with the status of [`Outcome::Failure`].
    fn run(self) -> anyhow::Result<Outcome>;
}

/// A section of a manual page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Heading, in capitals.
    pub heading: String,
    /// Paragraphs of one line each, separated by empty lines. Lines that begin with blanks are shown unchanged.
    pub text: String,
}

/// Reads the sections of a manual, each after a line `# HEADING`, and joins the lines of each paragraph.
pub fn sections(manual: &str) -> Vec<Section> {
    let join = |paragraph: &str| {
        if paragraph.starts_with(' ') { paragraph.to_owned() } else { paragraph.lines().collect::<Vec<_>>().join(" ") }
    };
    let read = |section: &str| {
        let (heading, text) = section.split_once('\n')?;
        let paragraphs: Vec<String> = text.trim_matches('\n').split("\n\n").map(join).collect();
        Some(Section { heading: heading.to_owned(), text: paragraphs.join("\n\n") })
    };
    format!("\n{manual}").split("\n# ").filter_map(read).collect()
}

/// The result of a tool, which scripts see as its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The tool found no fault.
    Fine = 0,
    /// The tool found a fault or failed.
    Failure = 1,
    /// Wrong arguments.
    Usage = 2,
}

/// Arguments that all tools have.
#[derive(clap::Args, Clone, Debug, Default)]
#[group(skip)]
pub struct Common {
    /// Write JSON instead of text
    #[arg(long)]
    pub json: bool,

    /// Act as a program of this version of uDAPL
    ///
    /// Without it, dat-info shows both versions; dat-ping and dat-perf use 1.2 unless only 2.0 has the adapter.
    #[arg(long, value_name = "VERSION", value_parser = api())]
    pub api: Option<Api>,

    /// Use this libdat.so.1 or libdat2.so.2 instead of the one that programs find
    ///
    /// Without this option, the tool searches as the loader does for any program: in LD_LIBRARY_PATH, then in the
    /// system's directories. Last, it searches in ../lib, relative to the tool.
    #[arg(long, value_name = "PATH")]
    pub library: Option<PathBuf>,
}

fn api() -> impl TypedValueParser<Value = Api> {
    let value =
        |api: Api| PossibleValue::new(api.name()).help(format!("A program that is linked with {}", api.library()));
    let named = |text: String| Api::ALL.into_iter().find(|api| api.name() == text);
    PossibleValuesParser::new(Api::ALL.map(value)).map(move |text| named(text).expect("clap has checked the value"))
}

/// A loaded library, and whether the loader finds the same library for programs.
#[derive(Clone)]
pub struct Found {
    /// The library.
    pub library: Library,
    /// The loader's reason, if it finds no library for programs. `None` if it finds the library, or if the user named a
    /// library.
    pub missed: Option<String>,
    /// `true` if the library is libdat, not the library of another vendor.
    pub is_libdat: bool,
    /// `true` if the loader finds the library for programs, and the library is not libdat.
    pub foreign: bool,
}

/// A library and its adapters.
pub struct Loaded {
    /// The library.
    pub own: Found,
    /// The adapters that the library lists, then adapters that programs can open although libdat does not list them.
    pub adapters: Vec<Adapter>,
    /// Number of adapters that the library lists, at the start of `adapters`.
    pub listed: usize,
    /// The result of this tool's own search for entries, in dat.conf and built in.
    pub found: search::Found,
}

impl Found {
    /// Lists the adapters of the library.
    pub fn load(self) -> anyhow::Result<Loaded> {
        let mut adapters = self.library.adapters().context("cannot list the interface adapters")?;
        let listed = adapters.len();
        let places = Places::of_library(self.library.path());
        let found = search::find(&places, version(self.library.api()), &mut |step| {
            if let Step::Line(_, LineUse::Unlisted(entry)) = step {
                let request = Request { version: (entry.api.major, entry.api.minor), thread_safe: entry.thread_safe };
                adapters.extend(self.is_libdat.then(|| Adapter { name: entry.name.clone(), request }));
            }
        });
        Ok(Loaded { own: self, adapters, listed, found })
    }

    /// Returns whether programs can open `name`, even if it is not listed. For `None`, returns whether there is any
    /// adapter.
    fn has(&self, name: Option<&[u8]>) -> bool {
        self.clone().load().is_ok_and(|Loaded { adapters, found, .. }| match name {
            None => !adapters.is_empty(),
            Some(name) => {
                let unlisted = found.unlisted.iter().filter(|_| self.is_libdat).map(|entry| &entry.name);
                adapters.iter().map(|one| &one.name).chain(unlisted).any(|one| one.to_bytes() == name)
            }
        })
    }
}

/// Returns the version of the registry for programs of `api`.
pub fn version(api: Api) -> Version {
    let (major, minor) = api.version();
    Version { major, minor }
}

impl Common {
    /// Returns the libraries that the arguments select, the oldest version first, or an error for each that cannot be
    /// used.
    pub fn libraries(&self) -> Vec<anyhow::Result<Found>> {
        match (&self.library, self.api) {
            (Some(file), api) => vec![named(file, api)],
            (None, Some(api)) => vec![find(api)],
            (None, None) => Api::ALL.map(find).into(),
        }
    }

    /// Tries the libraries in order, and returns the first whose programs can open `name` (any adapter if `None`), or
    /// else the first usable library. Fails if a library that it tries exists but cannot be loaded.
    pub fn library_with(&self, name: Option<&[u8]>) -> anyhow::Result<Found> {
        let mut first = None;
        for found in self.libraries() {
            match found {
                Ok(found) if found.has(name) => return Ok(found),
                Ok(_) if matches!(first, Some(Ok(_))) => {}
                Ok(found) => first = Some(Ok(found)),
                // A library exists, but cannot be loaded. Do not hide this by using the library of another version.
                Err(error) if !error.is::<Absent>() => return Err(error),
                Err(error) => first = first.or(Some(Err(error))),
            }
        }
        first.unwrap_or_else(|| Err(anyhow!("no version of uDAPL is usable")))
    }
}

/// The error that the loader finds no library of a version. Other errors mean that it cannot load the library.
#[derive(Debug)]
pub struct Absent(dat::Error);

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}\nThe search covers LD_LIBRARY_PATH, the directories of the system, and ../lib next to this tool. Name the \
             file with --library PATH, or its directory in LD_LIBRARY_PATH.",
            self.0
        )
    }
}

impl std::error::Error for Absent {}

fn named(file: &Path, api: Option<Api>) -> anyhow::Result<Found> {
    let library = Library::open(file)?;
    let own = library.api();
    if let Some(api) = api.filter(|api| *api != own) {
        return Err(anyhow!("{}: it is a library of uDAPL {own}, not {api}", file.display()));
    }
    Ok(Found { library, missed: None, is_libdat: library.is_libdat(), foreign: false })
}

/// Loads the library that the loader finds for programs of a version, or else the library next to this tool.
fn find(api: Api) -> anyhow::Result<Found> {
    let error = match Library::find(api) {
        Ok(library) => {
            let is_libdat = library.is_libdat();
            return Ok(Found { library, missed: None, is_libdat, foreign: !is_libdat });
        }
        Err(error) => error,
    };
    let Some(missed) = error.absent().map(str::to_owned) else { return Err(error.into()) };
    match beside_this_tool(api).and_then(|file| Library::open(&file).ok()) {
        Some(library) => Ok(Found { library, missed: Some(missed), is_libdat: library.is_libdat(), foreign: false }),
        None => Err(Absent(error).into()),
    }
}

/// Returns the library in `../lib`, relative to the directory of this tool, or in its subdirectory for this
/// architecture. `None` if neither exists.
pub fn beside_this_tool(api: Api) -> Option<PathBuf> {
    let lib = prefix()?.join("lib");
    let machine = lib.join(format!("{}-linux-gnu", env::consts::ARCH));
    [lib, machine].into_iter().map(|directory| directory.join(api.library())).find(|file| file.exists())
}

/// Returns the installation prefix: the directory that contains `bin` with this tool. `None` if it is unknown.
pub fn prefix() -> Option<PathBuf> {
    Some(own_file().ok()?.parent()?.parent()?.to_owned())
}

/// Returns the file of this program. Also works if /proc is not mounted.
pub fn own_file() -> io::Result<PathBuf> {
    env::current_exe().or_else(|_| executed_file())
}

/// Returns the file that the kernel executed, from the auxiliary vector.
fn executed_file() -> io::Result<PathBuf> {
    Path::new(OsStr::from_bytes(linux_execfn().to_bytes())).canonicalize()
}

/// Environment variables with which a user selects the log messages of the libraries.
const MESSAGES: [&str; 4] = ["DAT_LOG", "RUST_LOG", "DAT_DBG_TYPE", "DAPL_DBG_TYPE"];

/// Sets the environment so that the libraries log errors, such as why an adapter does not open. Does nothing if the
/// user has already selected log messages. No other thread may run yet.
pub fn log_errors() {
    if MESSAGES.iter().all(|variable| env::var_os(variable).is_none()) {
        // SAFETY: no other thread runs yet.
        unsafe { env::set_var(MESSAGES[0], "error") };
    }
}

/// Opens an adapter with [`Request::of`]. The error names the adapter, and suggests how to find the cause.
pub fn open_adapter(library: Library, name: &str) -> anyhow::Result<Ia> {
    // A name with a NUL byte becomes the empty name, which no adapter has.
    let opened = Ia::open(library, &CString::new(name).unwrap_or_default(), Request::of(library.api()));
    opened.with_context(|| match is_host(name) {
        true => format!("{name}: no adapter has this name; for a host, write NAME HOST: `dat-info` lists the names"),
        false => format!("{name}: cannot open the adapter; `dat-info --explain {}` shows more", operand(name)),
    })
}

/// Returns whether a word looks like a host: an address, localhost, or a name with a domain.
fn is_host(word: &str) -> bool {
    let address = word.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.is_ok() || word == "localhost" || word.contains('.')
}

/// The main function of a tool. Returns the exit status.
pub fn main<T: Tool>() -> ExitCode {
    // Rust ignores SIGPIPE, so `dat-info | head` would end with a panic.
    // SAFETY: no other thread runs yet, and the default action has no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let matches = command::<T>().try_get_matches();
    let outcome = match matches.and_then(|matches| T::from_arg_matches(&matches)) {
        Ok(tool) => tool.run(),
        Err(instead) => explain(&instead),
    };
    let outcome = outcome.unwrap_or_else(|error| {
        print::complain(format_args!("{}: {error:#}", T::command().get_name()));
        Outcome::Failure
    });
    ExitCode::from(outcome as u8)
}

/// Prints what clap returned instead of arguments: a usage error, or the text of `--help` or `--version`.
fn explain(instead: &clap::Error) -> anyhow::Result<Outcome> {
    let shown = instead.print().and_then(|()| io::stdout().flush());
    if instead.use_stderr() {
        return Ok(Outcome::Usage);
    }
    shown.context(print::UNWRITTEN).map(|()| Outcome::Fine)
}

/// Returns the clap command of a tool, with the sections of its manual after the long help.
pub fn command<T: Tool>() -> Command {
    let text = |section: &Section| {
        let indented =
            section.text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") });
        format!("{}:\n{}", capitalised(&section.heading), indented.collect::<String>())
    };
    T::command().after_long_help(sections(T::MANUAL).iter().map(text).collect::<Vec<_>>().join("\n"))
}

fn capitalised(heading: &str) -> String {
    let (first, rest) = heading.split_at(1);
    first.to_owned() + &rest.to_lowercase()
}

#[cfg(test)]
mod tests;
