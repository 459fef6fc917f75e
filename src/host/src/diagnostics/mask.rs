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
mod tests {
    use super::*;

    /// Whether both masks ask a library for a message.
    fn admits(role: Role, dat: u64, dapl: u64, level: Level, target: &str) -> bool {
        let mask = Mask::of(role, Some(dat), Some(dapl)).unwrap();
        let admitted = mask.admits(&Metadata::builder().level(level).target(target).build());
        assert!(!admitted || level <= mask.level(), "{mask:x?} {level}");
        admitted
    }

    #[test]
    fn errors_and_warnings_are_for_all_libraries() {
        for role in [Role::Registry, Role::Provider] {
            for (dat, dapl) in [(1, 0), (0, 1)] {
                assert!(admits(role, dat, dapl, Level::Error, "dat_shm::nodes"));
                assert!(!admits(role, dat, dapl, Level::Warn, "dat_shm::nodes"));
            }
            assert!(admits(role, 2, 0, Level::Warn, "dat_library::provider"));
            assert!(admits(role, 0, 3, Level::Warn, "dat_library::provider"));
            assert!(!admits(role, 3, 3, Level::Debug, "dat_library::provider"));
        }
    }

    #[test]
    fn who_asks_for_anything_gets_errors() {
        assert!(admits(Role::Provider, 0, 8, Level::Error, "dat_core::ia"));
        assert!(admits(Role::Provider, 4, 0, Level::Error, "dat_core::ia"));
        assert!(!admits(Role::Provider, 0, 8, Level::Warn, "dat_core::ia"));
        assert!(!admits(Role::Provider, 0, 0, Level::Error, "dat_core::ia"));
    }

    #[test]
    fn a_bit_asks_for_its_subjects_alone() {
        for (bit, target) in [
            (0x4, "dat_verbs::cq"),
            (0x8, "dat_verbs::cm"),
            (0x10, "dat_core::ep::requests"),
            (0x20, "dat_verbs::sys::device"),
            (0x40, "dat_core::ep::report"),
            (0x80, COMPLETION),
            (0x100, CALL),
            (0x200, RETURN),
            (0x400, EXCEPTION),
            (0x800, "dat_core::srq"),
            (0x1000, "counters"),
            (0x4000, "dat_shm::thread"),
        ] {
            assert!(admits(Role::Provider, 0, bit, Level::Debug, target), "{target}");
            assert!(!admits(Role::Provider, 0, 0xffff_ffff & !0xff & !bit, Level::Debug, target), "{target}");
            assert!(!admits(Role::Provider, 0, 0x7f & !bit, Level::Debug, target), "{target}");
            // A bit above warnings is of the library's own variable alone.
            assert!(!admits(Role::Provider, bit, 0, Level::Debug, target), "{target}");
        }
        for (bit, target) in
            [(0x4, "dat_library::provider"), (0x8, "dat_library::registry_api"), (0x10, PROVIDER_CALL), (0x20, CALL)]
        {
            assert!(admits(Role::Registry, bit, 0, Level::Debug, target), "{target}");
            assert!(!admits(Role::Registry, 0x3f & !bit, 0x7f, Level::Debug, target), "{target}");
        }
    }

    #[test]
    fn all_bits_ask_all_libraries_for_everything() {
        for role in [Role::Registry, Role::Provider] {
            for all in [0xff, 0xffff, u64::MAX] {
                assert!(admits(role, all, 0, Level::Trace, "elsewhere"));
                assert!(admits(role, 0, all, Level::Trace, CALL));
            }
        }
    }

    #[test]
    fn the_bits_are_distinct() {
        for classes in [&REGISTRY[..], &PROVIDER] {
            let all = classes.iter().fold(ERRORS | WARNINGS, |all, (bit, _)| {
                assert_eq!(all & bit, 0);
                all | bit
            });
            assert!(all.count_ones() as usize == classes.len() + 2);
        }
    }

    #[test]
    fn numbers_are_those_of_strtol() {
        let of = |text: &str| number(text.as_bytes());
        assert_eq!(of("1"), Some(1));
        assert_eq!(of("0x1f rest"), Some(0x1f));
        assert_eq!(of(" 010 "), Some(8));
        assert_eq!(of("+3"), Some(3));
        assert_eq!(of("-1"), Some(u64::MAX));
        assert_eq!(of("99999999999999999999999"), Some(u64::MAX));
        assert_eq!(of(""), None);
        assert_eq!(of("x"), None);
    }
}
