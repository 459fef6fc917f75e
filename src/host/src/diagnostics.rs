//! Lines on standard error: when one may be written, and how.
//!
//! The libraries are silent unless the environment asks:
//!
//! | variable | value | what is written |
//! |---|---|---|
//! | `DAT_DBG_TYPE`, `DAPL_DBG_TYPE` | 0 | nothing |
//! | | 1 | errors |
//! | | 2 or 3 | errors and warnings |
//! | | any other number | everything down to debugging |
//! | `RUST_LOG` | `error`, `warn`, `info`, `debug`, `trace`, `off` | that level |
//! | | `dat=debug` | that level; terms for other programs' modules are passed over |
//!
//! If several are set, the one that asks for most decides. All are ignored in a process that runs with more rights than
//! its starter. One more rule serves a user at a terminal: the first [`report`] of a process is written when standard
//! error is a terminal, unless one of the variables says 0 or `off`.
//!
//! Each shared library has its own copy of the `log` facade, so each calls [`init`] for itself, with
//! its own name; a line begins with that name.

#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fmt;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::panic;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use log::{Level, LevelFilter, Log, Metadata, Record};

use crate::environment;

/// These ask for messages by a number, 0 for none.
const MASKS: [&str; 2] = ["DAT_DBG_TYPE", "DAPL_DBG_TYPE"];

/// This asks for messages in the words of the `log` facade: `error` to `trace`, `off`.
const WORDS: &str = "RUST_LOG";

/// The first words in the names of this project's modules and libraries.
const OURS: [&str; 4] = ["dat", "dapl", "libdat", "libdapl"];

/// Longest line in bytes; the rest is cut off.
const LINE_MAX: usize = 1024;

static STDERR: OnceLock<Stderr> = OnceLock::new();
static REPORTED: AtomicBool = AtomicBool::new(false);

/// The messages that the environment asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    level: LevelFilter,
    /// Whether a variable said 0 or `off`, and none asked for anything.
    hushed: bool,
}

/// Sends this library's messages to standard error, as far as the environment asks for them, and turns a panic in this
/// library into one such message in place of the usual text.
///
/// May be called any number of times from any thread; the first call decides.
///
/// # Parameters
/// * `library` - the first word of each line, for example `libdat`.
pub fn init(library: &'static str) {
    STDERR.get_or_init(|| {
        let masks = MASKS.map(environment::secure);
        let words = environment::secure(WORDS);
        let wish = wish(masks.each_ref().map(Option::as_deref), words.as_deref());
        panic::set_hook(Box::new(|info| {
            let place = info.location().map(ToString::to_string);
            log::error!(
                "internal error: {} ({})",
                info.payload_as_str().unwrap_or("no reason given"),
                place.as_deref().unwrap_or("place unknown"),
            );
        }));
        Stderr { library, wish }
    });
    if let Some(stderr) = STDERR.get()
        && log::set_logger(stderr).is_ok()
    {
        log::set_max_level(stderr.wish.level);
    }
}

/// Tells the user why something that they asked for did not work.
///
/// The line is written when the environment asks for errors. Otherwise the first one of a process is written to
/// standard error if that is a terminal and no variable asked for silence.
pub fn report(message: fmt::Arguments<'_>) {
    if log::log_enabled!(Level::Error) {
        log::error!("{message}");
        return;
    }
    let Some(stderr) = STDERR.get() else { return };
    if !stderr.wish.hushed && io::stderr().is_terminal() && !REPORTED.swap(true, Ordering::Relaxed) {
        stderr.write(format_args!("{message}"));
    }
}

/// The back end of the `log` facade, which writes each line in one call.
struct Stderr {
    library: &'static str,
    wish: Wish,
}

impl Stderr {
    fn write(&self, message: fmt::Arguments<'_>) {
        let mut line = Line(String::with_capacity(160));
        // A Line takes any text, so this cannot fail.
        let _ = write!(line, "{}: {message}", self.library);
        let mut line = line.0;
        line.push('\n');
        write_all(line.as_bytes());
    }
}

impl Log for Stderr {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= self.wish.level
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
            self.write(format_args!("{level}: {}", record.args()));
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

/// Writes in one call, so that lines of several processes do not mix. Text that cannot be written is lost, because
/// there is nobody to tell.
fn write_all(bytes: &[u8]) {
    let _ = rustix::io::write(rustix::stdio::stderr(), bytes);
}

fn wish(masks: [Option<&OsStr>; 2], words: Option<&OsStr>) -> Wish {
    let asked = masks
        .into_iter()
        .flatten()
        .filter_map(|value| number(value.as_bytes()))
        .map(level_of_mask)
        .chain(words.and_then(|words| level_of_words(&words.to_string_lossy())));
    let level = asked.max();
    Wish { level: level.unwrap_or(LevelFilter::Off), hushed: level == Some(LevelFilter::Off) }
}

/// The numbers of the C libraries are masks: bit 0 for errors, bit 1 for warnings.
fn level_of_mask(mask: u64) -> LevelFilter {
    match mask {
        0 => LevelFilter::Off,
        1 => LevelFilter::Error,
        2 | 3 => LevelFilter::Warn,
        _ => LevelFilter::Debug,
    }
}

/// A number as strtol reads it with base 0; `None` when the value does not begin with one.
fn number(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?.trim_start();
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (radix, digits) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hexadecimal) => (16, hexadecimal),
        None if text.len() > 1 && text.starts_with('0') => (8, text),
        None => (10, text),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    match &digits[..end] {
        "" => None,
        // Digits that do not fit the type still ask for everything.
        digits => Some(u64::from_str_radix(digits, radix).unwrap_or(u64::MAX)),
    }
}

/// The level in a list such as `warn,dat=debug`. Both a word alone and a word for a module of this project count; the
/// latter takes precedence.
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
mod tests {
    use super::*;

    fn level(masks: [Option<&str>; 2], words: Option<&str>) -> (LevelFilter, bool) {
        let wish = wish(masks.map(|v| v.map(OsStr::new)), words.map(OsStr::new));
        (wish.level, wish.hushed)
    }

    #[test]
    fn nothing_set_is_silence_but_no_hush() {
        assert_eq!(level([None, None], None), (LevelFilter::Off, false));
        assert_eq!(level([Some(""), Some("x")], None), (LevelFilter::Off, false));
    }

    #[test]
    fn zero_and_off_hush() {
        assert_eq!(level([Some("0"), None], None), (LevelFilter::Off, true));
        assert_eq!(level([None, Some("0x0")], None), (LevelFilter::Off, true));
        assert_eq!(level([None, None], Some("off")), (LevelFilter::Off, true));
    }

    #[test]
    fn numbers_are_masks() {
        assert_eq!(level([Some("1"), None], None).0, LevelFilter::Error);
        assert_eq!(level([None, Some("3")], None).0, LevelFilter::Warn);
        assert_eq!(level([Some("0xffff"), None], None).0, LevelFilter::Debug);
        assert_eq!(level([Some(" 010 "), None], None).0, LevelFilter::Debug);
        assert_eq!(level([Some("99999999999999999999999"), None], None).0, LevelFilter::Debug);
    }

    #[test]
    fn whoever_asks_for_most_decides() {
        assert_eq!(level([Some("0"), Some("1")], None), (LevelFilter::Error, false));
        assert_eq!(level([Some("1"), None], Some("info")), (LevelFilter::Info, false));
    }

    #[test]
    fn words_for_others_are_passed_over() {
        assert_eq!(level([None, None], Some("hyper=trace")).0, LevelFilter::Off);
        assert_eq!(level([None, None], Some("warn,hyper=trace")).0, LevelFilter::Warn);
        assert_eq!(level([None, None], Some("warn,dat_core=trace")).0, LevelFilter::Trace);
        assert_eq!(level([None, None], Some("DEBUG")).0, LevelFilter::Debug);
    }

    #[test]
    fn a_message_is_one_line() {
        let mut line = Line(String::new());
        write!(line, "a\nb\x1b[1m{}", "x".repeat(5000)).unwrap();
        assert!(line.0.starts_with("a\\nb\\u{1b}[1mxx"));
        assert_eq!(line.0.len(), LINE_MAX);
    }
}
