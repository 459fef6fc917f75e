//! The masks in `DAT_DBG_TYPE` and `DAPL_DBG_TYPE`: the bits of the C libraries, and the messages behind each.
//!
//! A message belongs to a bit by its level or else by its target, which is one of those below. Messages without one of
//! them belong to the first class of their library.

use log::{Level, LevelFilter, Metadata};

/// Event dispatchers, completion queues, notification objects.
pub const EVD: &str = "evd";
/// Connecting, and links between processes.
pub const CM: &str = "cm";
/// Endpoints from one state to the next, and queue pairs.
pub const EP: &str = "ep";
/// What a transport reports of connections.
pub const CALLBACK: &str = "callback";
/// Work that failed.
pub const COMPLETION: &str = "completion";
/// The beginning of a slow call, which is named after the function that its closure stands in.
pub const CALL: &str = "call";
/// What a slow call returns.
pub const RETURN: &str = "return";
/// Both, for a call that a provider makes to the registry.
pub const PROVIDER_CALL: &str = "provider_call";
/// Events of a device beside its completions.
pub const EXCEPTION: &str = "exception";
/// Shared receive queues.
pub const SRQ: &str = "srq";
/// The counters of endpoints.
pub const COUNTERS: &str = "counters";
/// Threads of the libraries.
pub const THREAD: &str = "thread";
/// What providers register.
pub const REGISTERED: &str = "registered";

/// What a library is to programs. The C libraries have a variable for each, and bits of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The library that programs link, which has the registry: `DAT_DBG_TYPE`.
    Registry,
    /// The library of a provider: `DAPL_DBG_TYPE`.
    Provider,
}

/// Errors.
const ERRORS: u64 = 0x1;
/// Warnings.
const WARNINGS: u64 = 0x2;
/// All that the C registry has. A mask with these bits asks every library for everything.
const ALL: u64 = 0xff;

/// A bit, and the targets of the messages below warnings that it asks for.
type Class = (u64, &'static [&'static str]);

/// The bits of `DAT_DBG_TYPE`.
const REGISTRY: [Class; 4] = [
    // The static registry: configuration files, and the libraries of providers.
    (0x4, &[]),
    // The dynamic registry.
    (0x8, &[REGISTERED]),
    (0x10, &[PROVIDER_CALL]),
    // Calls of programs.
    (0x20, &[CALL, RETURN]),
];

/// The bits of `DAPL_DBG_TYPE`.
const PROVIDER: [Class; 12] = [
    // UTIL
    (0x20, &[]),
    (0x4, &[EVD]),
    (0x8, &[CM]),
    (0x10, &[EP]),
    (0x40, &[CALLBACK]),
    (0x80, &[COMPLETION]),
    (0x100, &[CALL]),
    (0x200, &[RETURN]),
    (0x400, &[EXCEPTION]),
    (0x800, &[SRQ]),
    (0x1000, &[COUNTERS]),
    (0x4000, &[THREAD]),
];

/// The messages that both masks together ask a library for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    /// The bits for errors and warnings of either variable, and the others of the library's own.
    bits: u64,
    classes: &'static [Class],
}

impl Mask {
    /// The mask of a library of `role`; `None` if neither variable has a number.
    pub fn of(role: Role, dat: Option<u64>, dapl: Option<u64>) -> Option<Mask> {
        let (classes, own, other): (&[Class], _, _) = match role {
            Role::Registry => (&REGISTRY, dat, dapl),
            Role::Provider => (&PROVIDER, dapl, dat),
        };
        if own.is_none() && other.is_none() {
            return None;
        }
        let (own, other) = (own.unwrap_or(0), other.unwrap_or(0));
        let mut bits = own | other & (ERRORS | WARNINGS);
        if own & ALL == ALL || other & ALL == ALL {
            bits = u64::MAX;
        } else if own | other != 0 {
            bits |= ERRORS;
        }
        Some(Mask { bits, classes })
    }

    /// Whether it asks for nothing.
    pub fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// The lowest of the levels that it asks for messages of.
    pub fn level(self) -> LevelFilter {
        match self.bits {
            0 => LevelFilter::Off,
            ERRORS => LevelFilter::Error,
            bits if bits & !(ERRORS | WARNINGS) == 0 => LevelFilter::Warn,
            _ => LevelFilter::Trace,
        }
    }

    /// Whether it asks for messages of this level and target.
    pub fn admits(self, metadata: &Metadata<'_>) -> bool {
        self.bits
            & match metadata.level() {
                Level::Error => ERRORS,
                Level::Warn => WARNINGS,
                Level::Info | Level::Debug | Level::Trace => self.class(metadata.target()),
            }
            != 0
    }

    /// The bit of messages with this target.
    fn class(self, target: &str) -> u64 {
        let class = self.classes.iter().find(|(_, targets)| targets.contains(&target));
        class.map_or(self.classes[0].0, |&(bit, _)| bit)
    }
}

/// A number as strtol reads it with base 0; `None` when the value does not begin with one.
pub fn number(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?.trim_start();
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hexadecimal) => (16, hexadecimal),
        None if text.len() > 1 && text.starts_with('0') => (8, text),
        None => (10, text),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    match &digits[..end] {
        "" => None,
        // Digits that do not fit the type still ask for everything.
        digits => {
            let number = u64::from_str_radix(digits, radix).unwrap_or(u64::MAX);
            Some(if negative { number.wrapping_neg() } else { number })
        }
    }
}

#[cfg(test)]
mod tests;
