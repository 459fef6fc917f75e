//! Log lines: their conditions and destinations.
//!
//! The libraries are silent unless the environment enables messages:
//!
//! | variable | value | what is written |
//! |---|---|---|
//! | `DAT_DBG_TYPE`, `DAPL_DBG_TYPE` | 0 | nothing |
//! | | a mask | what its bits name, see [`mask`] |
//! | `RUST_LOG` | `error`, `warn`, `info`, `debug`, `trace`, `off` | that level |
//! | | `dat=debug` | that level; terms for other programs' modules are ignored |
//! | `DAT_LOG` | as for `RUST_LOG` | that level |
//! | | `time`, alone or with a level, as in `debug,time` | each line begins with the time |
//!
//! Several variables add up. A [privileged](environment::privileged) process ignores all variables. If no variable
//! enables errors, each library writes at most one line to standard error. This is its first [announcement](announce),
//! or its first [`report`] or [`hint`] if standard error is a terminal. A variable that is 0 or `off` prevents this
//! line.
//!
//! Lines go to standard error, unless the masks `DAT_DBG_DEST` or `DAPL_DBG_DEST` select standard output (1), the
//! system log (2) or both (3). They do not affect the line that no variable enables.
//!
//! Each shared library has its own copy of the `log` facade, so each calls [`init`]. A line starts with the library's
//! name and the process number, for example `libdat[4711]: `.

#![forbid(unsafe_code)]

mod mask;

use std::any;
use std::ffi::OsStr;
use std::fmt;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use log::{Level, LevelFilter, Log, Metadata, Record};
use once_cell::race::OnceBox;
use rustix::net::{self, AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process;

use crate::environment;
use crate::topic::Topic;

pub use self::mask::{
    CALL, CALLBACK, CM, COMPLETION, COUNTERS, EP, EVD, EXCEPTION, PROVIDER_CALL, REGISTERED, RETURN, Role, SRQ, THREAD,
};
use self::mask::{Mask, number};

/// Variables with a mask of messages, 0 for none.
const MASKS: [&str; 2] = ["DAT_DBG_TYPE", "DAPL_DBG_TYPE"];

/// Variables with a mask of destinations.
const DESTINATIONS: [&str; 2] = ["DAT_DBG_DEST", "DAPL_DBG_DEST"];

const SYSTEM_LOG: &str = "/dev/log";

/// Variables with levels of the `log` facade: `error` to `trace`, `off`.
const WORDS: [&str; 2] = ["DAT_LOG", "RUST_LOG"];

/// Keyword in `DAT_LOG`, the first of [`WORDS`]: lines begin with the time.
const TIME: &str = "time";

/// Prefixes of the names of this project's modules.
const OURS: [&str; 4] = ["dat", "dapl", "libdat", "libdapl"];

/// Maximum length of a line in bytes, without its topic.
const LINE_MAX: usize = 1024;

/// Set once, without a lock: the child of a fork could find a lock held by a thread that it lacks.
static OUTPUT: OnceBox<Output> = OnceBox::new();
static REPORTED: AtomicBool = AtomicBool::new(false);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    mask: Option<Mask>,
    words: LevelFilter,
    /// Set if a variable is 0 or `off`, and no variable enables messages.
    hushed: bool,
    time: bool,
}

impl Wish {
    fn of(role: Role, masks: [Option<&OsStr>; 2], words: [Option<&OsStr>; 2]) -> Wish {
        let [dat, dapl] = masks.map(|value| value.and_then(|value| number(value.as_bytes())));
        let mask = Mask::of(role, dat, dapl);
        let [own, rust] = words.map(|words| words.map(OsStr::to_string_lossy));
        let time = own.as_ref().is_some_and(|words| words.split(',').any(|word| word.trim() == TIME));
        let words = [own, rust].into_iter().flatten().filter_map(|words| level_of_words(&words)).max();
        let wish = Wish { mask, words: words.unwrap_or(LevelFilter::Off), hushed: false, time };
        let hushed = wish.level() == LevelFilter::Off && (mask.is_some() || words.is_some());
        Wish { hushed, ..wish }
    }

    fn level(self) -> LevelFilter {
        self.words.max(self.mask.map_or(LevelFilter::Off, Mask::level))
    }

    fn admits(self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= self.words || self.mask.is_some_and(|mask| mask.admits(metadata))
    }
}

/// Sets the back end of the `log` facade by the environment, and a panic hook that logs one line. Only the first call
/// has an effect.
///
/// # Parameters
/// * `library` - the first word of each line, for example `libdat`.
/// * `role` - selects the library's mask.
pub fn init(library: &'static str, role: Role) {
    if OUTPUT.get().is_some() {
        return;
    }
    let masks = MASKS.map(environment::secure);
    let words = WORDS.map(environment::secure);
    let wish = Wish::of(role, masks.each_ref().map(Option::as_deref), words.each_ref().map(Option::as_deref));
    let to = destinations(DESTINATIONS.map(environment::secure).each_ref().map(Option::as_deref));
    #[expect(clippy::disallowed_methods, reason = "the library has one")]
    if OUTPUT.set(Box::new(Output { library, wish, to })).is_err() {
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "the library has one")]
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string);
        let reason = info.payload();
        let reason = reason.downcast_ref::<&str>().copied().or_else(|| reason.downcast_ref().map(String::as_str));
        log::error!(
            "internal error: {} ({})",
            reason.unwrap_or("no reason given"),
            place.as_deref().unwrap_or("place unknown"),
        );
    }));
    if let Some(output) = OUTPUT.get() {
        if log::set_logger(output).is_ok() {
            log::set_max_level(output.wish.level());
        }
    }
}

/// Reports to the user why a request failed.
///
/// If the environment enables no errors, passes the message to [`hint`].
///
/// # Parameters
/// * `topic` - the section that describes the remedy, for log lines.
pub fn report(topic: Topic, message: fmt::Arguments<'_>) {
    if log::log_enabled!(Level::Error) {
        log::error!(target: topic.name(), "{message}");
    } else {
        hint(message);
    }
}

/// Reports a failure after which no request can succeed, also if standard error is not a terminal.
pub fn announce(topic: Topic, message: fmt::Arguments<'_>) {
    if log::log_enabled!(Level::Error) {
        log::error!(target: topic.name(), "{message}");
    } else if OUTPUT.get().is_some_and(|output| !output.wish.hushed) {
        write_first(message);
    }
}

/// Writes a message to standard error if [`reports`] returns `true`, but at most one such message of each library.
pub fn hint(message: fmt::Arguments<'_>) {
    if reports() {
        write_first(message);
    }
}

/// Writes a message that no variable enables to standard error, unless the library has already written one.
fn write_first(message: fmt::Arguments<'_>) {
    let Some(output) = OUTPUT.get() else { return };
    if !REPORTED.swap(true, Ordering::Relaxed) {
        output.write(0, Level::Error, None, message);
    }
}

/// Returns whether [`report`] would write a line. For messages that are expensive to create.
pub fn reports() -> bool {
    let wanted = |output: &Output| !output.wish.hushed && io::stderr().is_terminal();
    log::log_enabled!(Level::Error) || (!REPORTED.load(Ordering::Relaxed) && OUTPUT.get().is_some_and(wanted))
}

/// The function that contains a closure, for the messages [`CALL`] and [`RETURN`].
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// For example `dat_core::evd::create<Transport>::{{closure}}`.
    closure: &'static str,
}

impl Function {
    /// Returns the function that contains this closure.
    pub fn of<F>(_closure: &F) -> Self {
        Function { closure: any::type_name::<F>() }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let generic = self.closure.split('<').next().unwrap_or(self.closure);
        let plain = generic.split("::{{closure}}").next().unwrap_or(generic);
        f.write_str(plain.rsplit("::").next().unwrap_or(plain))
    }
}

/// The back end of the `log` facade. Writes each line in one call.
struct Output {
    library: &'static str,
    wish: Wish,
    to: u64,
}

// Bits of a mask of destinations. Without these, lines go to standard error.
const STANDARD_OUTPUT: u64 = 1;
const SYSTEM: u64 = 2;

/// Returns the bits that are set in at least one of the masks.
fn destinations(masks: [Option<&OsStr>; 2]) -> u64 {
    masks.into_iter().flatten().filter_map(|value| number(value.as_bytes())).fold(0, |all, mask| all | mask)
}

impl Output {
    fn write(&self, to: u64, level: Level, topic: Option<Topic>, message: fmt::Arguments<'_>) {
        let mut line = Line(String::with_capacity(160));
        if self.wish.time {
            // The subtraction fails before 1970.
            line.0 = clock(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
        }
        let untimed = line.0.len();
        // Cannot fail: a [`Line`] accepts any text.
        let _ = write!(line, "{}[{}]: {message}", self.library, process::getpid().as_raw_nonzero());
        let mut line = line.0;
        // The topic comes after the text has been cut to [`LINE_MAX`], so the topic is always complete.
        if let Some(topic) = topic {
            line.extend([" [", topic.name(), "]"]);
        }
        if to & SYSTEM != 0 {
            write_to_system(level, &line[untimed..]);
        }
        line.push('\n');
        // One system call, so that lines of several processes do not mix.
        if to & (STANDARD_OUTPUT | SYSTEM) == 0 {
            let _ = rustix::io::write(rustix::stdio::stderr(), line.as_bytes());
        }
        if to & STANDARD_OUTPUT != 0 {
            let _ = rustix::io::write(rustix::stdio::stdout(), line.as_bytes());
        }
    }
}

impl Log for Output {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.wish.admits(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let level = match record.level() {
                Level::Error => "error",
                Level::Warn => "warning",
                Level::Info => "info",
                Level::Debug => "debug",
                Level::Trace => "trace",
            };
            let topic = Topic::named(record.target());
            self.write(self.to, record.level(), topic, format_args!("{level}: {}", record.args()));
        }
    }

    fn flush(&self) {}
}

/// One line of text, without control characters and without text beyond [`LINE_MAX`].
struct Line(String);

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if self.0.len() >= LINE_MAX {
                break;
            }
            if character.is_control() {
                self.0.extend(character.escape_default());
            } else {
                self.0.push(character);
            }
        }
        Ok(())
    }
}

/// Returns the time of day in UTC, and a space.
fn clock(since_1970: Duration) -> String {
    let (seconds, micros) = (since_1970.as_secs(), since_1970.subsec_micros());
    let (hours, minutes, seconds) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}.{micros:06}Z ")
}

/// Sends a line to the system log, which adds the time. Does not call syslog(3), which takes a lock and is a
/// cancellation point.
fn write_to_system(level: Level, line: &str) {
    let Ok(address) = SocketAddrUnix::new(SYSTEM_LOG) else { return };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let Ok(socket) = net::socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None) else { return };
    let _ = net::sendto(&socket, packet(level, line).as_bytes(), SendFlags::NOSIGNAL, &address);
}

/// Returns a line in the format of the system log, with its priority.
fn packet(level: Level, line: &str) -> String {
    const FACILITY: u32 = 1 << 3;
    let severity = match level {
        Level::Error => 3,
        Level::Warn => 4,
        Level::Info => 6,
        Level::Debug | Level::Trace => 7,
    };
    format!("<{}>{line}", FACILITY | severity)
}

/// Returns the level in a list such as `warn,dat=debug`, if any. A level for this project's modules overrides a general
/// level. The crate env_filter would compare `dat` with targets, which here are the classes of the masks.
fn level_of_words(words: &str) -> Option<LevelFilter> {
    let mut general = None;
    let mut ours = None;
    for term in words.split(',').map(str::trim) {
        match term.split_once('=') {
            None => general = term.parse().ok().or(general),
            Some((module, level)) if OURS.iter().any(|name| module.starts_with(name)) => {
                ours = level.parse().ok().or(ours);
            }
            Some(_) => {}
        }
    }
    ours.or(general)
}

#[cfg(test)]
mod tests;
