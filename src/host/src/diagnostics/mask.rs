//! The masks in `DAT_DBG_TYPE` and `DAPL_DBG_TYPE`: the bits of the C libraries, and the messages behind each.
//!
//! A message belongs to a bit by its level, or else by its subject, which is the last word of its target: that of its module,
//! unless the call names another.
//!
//! Slow calls tell of themselves by the name of the function that their closure stands in.

use log::{Level, LevelFilter, Metadata};

/// The target of a message that a slow call begins.
pub const CALL: &str = "call";

/// The target of a message that tells what a slow call returns.
pub const RETURN: &str = "return";

/// The target of both, for a call that a provider makes to the registry.
pub const PROVIDER_CALL: &str = "provider_call";

/// The target of messages on work that failed.
pub const COMPLETION: &str = "completion";

/// The target of messages on what a device tells beside the work.
pub const EXCEPTION: &str = "exception";

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

/// A bit, and the subjects of the messages below warnings that it asks for.
type Class = (u64, &'static [&'static str]);

/// The bits of `DAT_DBG_TYPE`. What has none of these subjects is of the first class.
const REGISTRY: [Class; 4] = [
    // The static registry: configuration files, and the libraries of providers.
    (0x4, &[]),
    // The dynamic registry: what providers have registered.
    (0x8, &["registry_api"]),
    // Calls of providers.
    (0x10, &[PROVIDER_CALL]),
    // Calls of programs.
    (0x20, &[CALL, RETURN]),
];

/// The bits of `DAPL_DBG_TYPE`. What has none of these subjects is of the first class.
const PROVIDER: [Class; 12] = [
    // UTIL
    (0x20, &[]),
    // EVD
    (0x4, &["agent", "channels", "cno", "cq", "evd", "fifo", "queue"]),
    // CM
    (0x8, &["cm", "connect", "cr", "link", "node", "nodes", "pair", "point", "rejection"]),
    // EP
    (0x10, &["end", "ending", "ep", "qp", "requests", "side"]),
    // CALLBACK
    (0x40, &["report"]),
    // DTO_COMP_ERR
    (0x80, &[COMPLETION]),
    // API
    (0x100, &[CALL]),
    // RTN
    (0x200, &[RETURN]),
    // EXCEPTION
    (0x400, &[EXCEPTION]),
    // SRQ
    (0x800, &["srq"]),
    // CNTR
    (0x1000, &["counters"]),
    // THREAD
    (0x4000, &["thread"]),
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
        let subject = target.rsplit("::").next().unwrap_or(target);
        let class = self.classes.iter().find(|(_, subjects)| subjects.contains(&subject));
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
