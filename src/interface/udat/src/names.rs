//! Enumerations, and the names of their members.

use core::ffi::CStr;
use core::fmt;

use crate::dat_error::{self, DAT_GET_SUBTYPE, DAT_RETURN, DAT_SUBTYPE_MASK, DAT_TYPE_MASK};

/// The type of a C enumeration. In Rust it is an integer, because a program may pass any value. The members are the
/// constants of the enumeration's type whose values are literal numbers, in the common crate and in the version's
/// crate.
pub type c_enum = u32;

/// Defines constants of one type, and a list of all of them, each with its name. The list has the name of the type.
#[macro_export]
macro_rules! named {
    ($all:ident; $($(#[$doc:meta])* pub const $member:ident: $type:ty = $value:expr;)*) => {
        $($(#[$doc])* pub const $member: $type = $value;)*

        /// The members, each with its name.
        pub const $all: &[(u32, &core::ffi::CStr)] = &[$((
            $member,
            match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($member), "\0").as_bytes()) {
                Ok(text) => text,
                Err(_) => panic!("a name has no NUL in it"),
            },
        )),*];
    };
}

/// Values, each with its name.
pub type Names = &'static [(DAT_RETURN, &'static CStr)];

/// The names of a version's return codes.
#[derive(Clone, Copy, Debug)]
pub struct CodeNames {
    types: [Names; 2],
    subtypes: [Names; 2],
}

impl CodeNames {
    /// Returns the names of a version: the shared types and subtypes, and the given ones.
    pub const fn new(types: Names, subtypes: Names) -> Self {
        CodeNames { types: [dat_error::DAT_RETURN_TYPE, types], subtypes: [dat_error::DAT_RETURN_SUBTYPE, subtypes] }
    }

    /// Returns the name of the type of a return code, or `None` if the type is unknown.
    pub fn of_type(&self, code: DAT_RETURN) -> Option<&'static CStr> {
        // The mask removes the class bits that DAT_NOT_IMPLEMENTED may contain.
        find(self.types, code, DAT_TYPE_MASK)
    }

    /// Returns the name of the subtype of a return code: an empty string for subtype 0, `None` if it is unknown.
    pub fn of_subtype(&self, code: DAT_RETURN) -> Option<&'static CStr> {
        match DAT_GET_SUBTYPE(code) {
            0 => Some(c""),
            _ => find(self.subtypes, code, DAT_SUBTYPE_MASK),
        }
    }

    /// Returns the code in hexadecimal digits and its names, for messages.
    pub fn shown(&self, code: DAT_RETURN) -> impl fmt::Display {
        ShownCode { code, names: [self.of_type(code), self.of_subtype(code)] }
    }
}

fn find(names: [Names; 2], code: DAT_RETURN, mask: DAT_RETURN) -> Option<&'static CStr> {
    names.into_iter().flatten().find(|(value, _)| value & mask == code & mask).map(|(_, name)| *name)
}

struct ShownCode {
    code: DAT_RETURN,
    names: [Option<&'static CStr>; 2],
}

impl fmt::Display for ShownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.code)?;
        let names = self.names.iter().flatten().filter_map(|name| name.to_str().ok()).filter(|name| !name.is_empty());
        names.into_iter().try_for_each(|name| write!(f, " {name}"))
    }
}
