//! Lines for the user: when one may be written, and where to.
//!
//! The libraries are silent unless the environment asks:
//!
//! | variable | value | what is written |
//! |---|---|---|
//! | `DAT_DBG_TYPE`, `DAPL_DBG_TYPE` | 0 | nothing |
//! | | a mask | what its bits name, see [`mask`] |
//! | `RUST_LOG` | `error`, `warn`, `info`, `debug`, `trace`, `off` | that level |
//! | | `dat=debug` | that level; terms for other programs' modules are passed over |
//! | `DAT_LOG` | as for `RUST_LOG` | that level |
//! | | `time`, alone or with a level, as in `debug,time` | each line begins with the time |
//!
//! If several are set, each gets what it asks for. All are ignored in a process that runs with more rights than
//! its starter. One more rule serves a user at a terminal: the first [`report`] of a process is written when standard
//! error is a terminal, unless one of the variables says 0 or `off`.
//!
//! Lines go to standard error, unless `DAT_DBG_DEST` or `DAPL_DBG_DEST` says otherwise, which are masks as well: 1 for
//! standard output, 2 for the system's log, 3 for both. The line of a user at a terminal is on the terminal in any case.
//!
//! Each shared library has its own copy of the `log` facade, so each calls [`init`] for itself, with
//! its own name; a line begins with that name and the number of the process, such as `libdat[4711]: `.

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

/// These ask for messages by a mask, 0 for none.
const MASKS: [&str; 2] = ["DAT_DBG_TYPE", "DAPL_DBG_TYPE"];

/// These say where messages go, by a mask.
const DESTINATIONS: [&str; 2] = ["DAT_DBG_DEST", "DAPL_DBG_DEST"];

/// The socket of the system's log.
const SYSTEM_LOG: &str = "/dev/log";

/// These ask for messages in the words of the `log` facade: `error` to `trace`, `off`.
const WORDS: [&str; 2] = ["DAT_LOG", "RUST_LOG"];

/// In the first of [`WORDS`] this asks for the time in each line.
const TIME: &str = "time";

/// The first words in the names of this project's modules and libraries.
const OURS: [&str; 4] = ["dat", "dapl", "libdat", "libdapl"];

/// Longest line in bytes; the rest is cut off.
const LINE_MAX: usize = 1024;

/// Threads race to set this, and none waits for another: the child of a fork has only one of them.
static OUTPUT: OnceBox<Output> = OnceBox::new();
static REPORTED: AtomicBool = AtomicBool::new(false);

/// The messages that the environment asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    /// What the masks ask for.
    mask: Option<Mask>,
    /// What the words ask for.
    words: LevelFilter,
    /// Whether a variable said 0 or `off`, and none asked for anything.
    hushed: bool,
    /// Whether lines begin with the time.
    time: bool,
}

impl Wish {
    fn of(role: Role, masks: [Option<&OsStr>; 2], words: [Option<&OsStr>; 2]) -> Wish {
        let [dat, dapl] = masks.map(|value| value.and_then(|value| number(value.as_bytes())));
        let mask = Mask::of(role, dat, dapl);
        let [own, rust] = words.map(|words| words.map(OsStr::to_string_lossy));
        let time = own.as_ref().is_some_and(|words| words.split(',').any(|word| word.trim() == TIME));
        let words = [own, rust].into_iter().flatten().filter_map(|words| level_of_words(&words)).max();
        let nothing = mask.is_none_or(Mask::is_empty) && words.is_none_or(|level| level == LevelFilter::Off);
        let hushed = nothing && (mask.is_some() || words.is_some());
        Wish { mask, words: words.unwrap_or(LevelFilter::Off), hushed, time }
    }

    /// The lowest of the levels that are asked for.
    fn level(self) -> LevelFilter {
        self.words.max(self.mask.map_or(LevelFilter::Off, Mask::level))
    }

    fn admits(self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= self.words || self.mask.is_some_and(|mask| mask.admits(metadata))
    }
}

/// Sends this library's messages to standard error, as far as the environment asks for them, and turns a panic in this
/// library into one such message in place of the usual text.
///
/// May be called any number of times from any thread; the first call decides.
///
/// # Parameters
/// * `library` - the first word of each line, for example `libdat`.
/// * `role` - which of the masks it is that names the library's messages.
pub fn init(library: &'static str, role: Role) {
    if OUTPUT.get().is_some() {
        return;
    }
    let masks = MASKS.map(environment::secure);
    let words = WORDS.map(environment::secure);
    let wish = Wish::of(role, masks.each_ref().map(Option::as_deref), words.each_ref().map(Option::as_deref));
    let to = Destinations::of(DESTINATIONS.map(environment::secure).each_ref().map(Option::as_deref));
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
/// The line is written when the environment asks for errors. Otherwise the first one of a process is written to
/// standard error if that is a terminal and no variable asked for silence.
///
/// # Parameters
/// * `topic` - the section that describes what to do. Only a log names it.
pub fn report(topic: Topic, message: fmt::Arguments<'_>) {
    if log::log_enabled!(Level::Error) {
        log::error!(target: topic.name(), "{message}");
    } else {
        hint(message);
    }
}

/// Writes the first such line of a process to standard error if that is a terminal and no variable asked for silence.
pub fn hint(message: fmt::Arguments<'_>) {
    let Some(output) = OUTPUT.get() else { return };
    if reports() && !REPORTED.swap(true, Ordering::Relaxed) {
        output.write(Destinations::TERMINAL, Level::Error, None, message);
    }
}

/// Whether [`report`] would write a line, for messages that take some work.
pub fn reports() -> bool {
    let wanted = |output: &Output| !output.wish.hushed && io::stderr().is_terminal();
    log::log_enabled!(Level::Error) || (!REPORTED.load(Ordering::Relaxed) && OUTPUT.get().is_some_and(wanted))
}

/// The function that a closure stands in, for the messages [`CALL`] and [`RETURN`].
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Such as `dat_core::evd::create<Transport>::{{closure}}`.
    closure: &'static str,
}

impl Function {
    /// That of this closure.
    pub fn of<F>(_closure: &F) -> Self {
        Function { closure: any::type_name::<F>() }
    }
}

/// Its name.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let generic = self.closure.split('<').next().unwrap_or(self.closure);
        let plain = generic.split("::{{closure}}").next().unwrap_or(generic);
        f.write_str(plain.rsplit("::").next().unwrap_or(plain))
    }
}

/// The back end of the `log` facade, which writes each line in one call.
struct Output {
    library: &'static str,
    wish: Wish,
    to: Destinations,
}

/// Where lines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Destinations {
    error: bool,
    output: bool,
    system: bool,
}

impl Destinations {
    /// Standard error alone.
    const TERMINAL: Self = Destinations { error: true, output: false, system: false };

    /// What the masks ask for together; standard error if they name no place that there is.
    fn of(masks: [Option<&OsStr>; 2]) -> Self {
        let mask =
            masks.into_iter().flatten().filter_map(|value| number(value.as_bytes())).fold(0, |all, mask| all | mask);
        let (output, system) = (mask & 1 != 0, mask & 2 != 0);
        Destinations { error: !output && !system, output, system }
    }
}

impl Output {
    /// Writes a line, which ends with the topic.
    fn write(&self, to: Destinations, level: Level, topic: Option<Topic>, message: fmt::Arguments<'_>) {
        let mut line = Line(String::with_capacity(160));
        if self.wish.time {
            // The clock is set to a year before 1970 where this fails.
            line.0 = clock(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
        }
        let untimed = line.0.len();
        // A Line takes any text, so this cannot fail.
        let _ = write!(line, "{}[{}]: {message}", self.library, process::getpid().as_raw_nonzero());
        let mut line = line.0;
        // After the text was cut, so that the topic is complete.
        if let Some(topic) = topic {
            line.extend([" [", topic.name(), "]"]);
        }
        if to.system {
            write_to_system(level, &line[untimed..]);
        }
        line.push('\n');
        // In one call, so that lines of several processes do not mix. Text that cannot be written is lost, because no other
        // place is left to report that.
        if to.error {
            let _ = rustix::io::write(rustix::stdio::stderr(), line.as_bytes());
        }
        if to.output {
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

/// Text that stays on one line: control characters are escaped, and the end of an overlong text is cut off.
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

/// The time of the day in UTC, and a blank.
fn clock(since_1970: Duration) -> String {
    let (seconds, micros) = (since_1970.as_secs(), since_1970.subsec_micros());
    let (hours, minutes, seconds) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}.{micros:06}Z ")
}

/// Sends a line to the system's log, which adds the time, as syslog(3) does, which has a lock and is a place where threads may be cancelled.
fn write_to_system(level: Level, line: &str) {
    let Ok(address) = SocketAddrUnix::new(SYSTEM_LOG) else { return };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let Ok(socket) = net::socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None) else { return };
    let _ = net::sendto(&socket, packet(level, line).as_bytes(), SendFlags::NOSIGNAL, &address);
}

/// A line in the form that the system's log takes, which is that of all lines behind a priority.
fn packet(level: Level, line: &str) -> String {
    /// Messages of users.
    const FACILITY: u32 = 1 << 3;
    let severity = match level {
        Level::Error => 3,
        Level::Warn => 4,
        Level::Info => 6,
        Level::Debug | Level::Trace => 7,
    };
    format!("<{}>{line}", FACILITY | severity)
}

/// The level in a list such as `warn,dat=debug`. Both a word alone and a word for a module of this project count; the
/// latter takes precedence. The crate env_filter compares such words with targets, which here are the classes of the masks,
/// so with it `dat=debug` would select almost no message.
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
