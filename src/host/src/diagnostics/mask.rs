//! The masks in `DAT_DBG_TYPE` and `DAPL_DBG_TYPE`, with the bits of the C libraries.
//!
//! The bit that enables a message depends on the message's level, or below warnings on its target. A target in no other
//! class of the library belongs to the first class of [`REGISTRY`] or [`PROVIDER`].

use log::{Level, LevelFilter, Metadata};

/// EVDs, completion queues, CNOs.
pub const EVD: &str = "evd";
/// Connects, and links between processes.
pub const CM: &str = "cm";
/// State changes of endpoints, and queue pairs.
pub const EP: &str = "ep";
/// A transport's reports on connections.
pub const CALLBACK: &str = "callback";
/// Posted operations that failed.
pub const COMPLETION: &str = "completion";
/// The start of a slow call, named after the function that contains its closure.
pub const CALL: &str = "call";
/// The result of a slow call.
pub const RETURN: &str = "return";
/// Start and result of a call that a provider makes to the registry.
pub const PROVIDER_CALL: &str = "provider_call";
/// Device events other than completions.
pub const EXCEPTION: &str = "exception";
/// Shared receive queues.
pub const SRQ: &str = "srq";
/// The counters of endpoints.
pub const COUNTERS: &str = "counters";
/// Threads of the libraries.
pub const THREAD: &str = "thread";
/// Registrations of providers.
pub const REGISTERED: &str = "registered";

/// The role of a library, which selects its variable and bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The library with the registry, which programs link: `DAT_DBG_TYPE`.
    Registry,
    /// A provider's library: `DAPL_DBG_TYPE`.
    Provider,
}

const ERRORS: u64 = 0x1;
const WARNINGS: u64 = 0x2;
/// All bits of the C registry. They enable all messages of every library.
const ALL: u64 = 0xff;

/// A bit, and the targets below warnings that it enables.
type Class = (u64, &'static [&'static str]);

const REGISTRY: [Class; 4] = [
    // Static registry: configuration files and providers' libraries.
    (0x4, &[]),
    // Dynamic registry.
    (0x8, &[REGISTERED]),
    (0x10, &[PROVIDER_CALL]),
    // Calls by programs.
    (0x20, &[CALL, RETURN]),
];

const PROVIDER: [Class; 12] = [
    // Class UTIL: all targets that are not listed.
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

/// The enabled messages of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    /// Bits of the library's own variable, and error and warning bits of both.
    bits: u64,
    classes: &'static [Class],
}

impl Mask {
    /// Returns the mask of a library with this role; `None` if neither variable has a number.
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

    /// Returns the least severe level of enabled messages, or `Off` if all messages are disabled.
    pub fn level(self) -> LevelFilter {
        match self.bits {
            0 => LevelFilter::Off,
            ERRORS => LevelFilter::Error,
            bits if bits & !(ERRORS | WARNINGS) == 0 => LevelFilter::Warn,
            _ => LevelFilter::Trace,
        }
    }

    /// Returns whether messages of this level and target are enabled.
    pub fn admits(self, metadata: &Metadata<'_>) -> bool {
        self.bits
            & match metadata.level() {
                Level::Error => ERRORS,
                Level::Warn => WARNINGS,
                Level::Info | Level::Debug | Level::Trace => self.class(metadata.target()),
            }
            != 0
    }

    fn class(self, target: &str) -> u64 {
        let class = self.classes.iter().find(|(_, targets)| targets.contains(&target));
        class.map_or(self.classes[0].0, |&(bit, _)| bit)
    }
}

/// Parses a number like strtol with base 0. Returns `None` if the value does not start with a number.
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
        // A number that does not fit enables all messages.
        digits => {
            let number = u64::from_str_radix(digits, radix).unwrap_or(u64::MAX);
            Some(if negative { number.wrapping_neg() } else { number })
        }
    }
}

#[cfg(test)]
mod tests;
