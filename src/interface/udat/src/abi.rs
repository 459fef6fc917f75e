//! The macros that define a version of the interface.
//!
//! Each version has a crate with its types, its constants and the list of its calls. The list is a macro,
//! `for_each_call!`, that passes its entries to another macro, the *callback*, which generates code from them: the provider
//! table ([`provider_table!`](crate::provider_table)), the exports of the library, and the functions of a provider.

use core::ffi::CStr;
use core::fmt;

use crate::dat_error::{self, DAT_GET_SUBTYPE, DAT_RETURN, DAT_SUBTYPE_MASK, DAT_TYPE_MASK};

/// Defines an enumeration: `TAG as NAME;` and its members, each as `NAME = VALUE, "COMMENT";`, with one string per line
/// of the comment. In Rust, the type is an integer, so a program may pass any value, and the members are constants.
#[macro_export]
macro_rules! c_enum {
    ($(#[$attr:meta])* $tag:ident as $name:ident; $($members:tt)*) => {
        $(#[$attr])*
        pub type $tag = u32;
        $(#[$attr])*
        pub type $name = $tag;
        $crate::c_members! { $name; $($members)* }
    };
}

/// Adds members to an enumeration that versions share. The first argument is the name of the enumeration.
#[macro_export]
macro_rules! c_members {
    ($name:ty; $($member:ident = $value:expr, $($line:literal)+;)*) => {
        $($(#[doc = $line])+ pub const $member: $name = $value;)*
    };
}

/// Defines constants of the type that is the first argument, with the syntax of members.
#[macro_export]
macro_rules! c_consts {
    ($($consts:tt)*) => { $crate::c_members! { $($consts)* } };
}

/// Defines type aliases, each as `NAME = TYPE, "COMMENT";`.
#[macro_export]
macro_rules! c_types {
    ($($name:ident = $type:ty, $($line:literal)+;)*) => { $($(#[doc = $line])+ pub type $name = $type;)* };
}

/// Does the same as [`c_enum!`](crate::c_enum), and defines a constant with the name of the type: all members.
#[macro_export]
macro_rules! c_enum_with_names {
    ($(#[$attr:meta])* $tag:ident as $name:ident; $($members:tt)*) => {
        $crate::c_enum! { $(#[$attr])* $tag as $name; }
        $crate::c_members_with_names! { $name; $($members)* }
    };
}

/// Does the same as [`c_members!`](crate::c_members), and defines a constant of the members with their names.
#[macro_export]
macro_rules! c_members_with_names {
    ($name:ident; $($member:ident = $value:expr, $($line:literal)+;)*) => {
        $crate::c_members! { $name; $($member = $value, $($line)+;)* }

        /// The members, each with its name.
        pub const $name: &[(u32, &core::ffi::CStr)] = &[$((
            $member,
            match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($member), "\0").as_bytes()) {
                Ok(text) => text,
                Err(_) => panic!("a name has no NUL in it"),
            },
        )),*];
    };
}

/// Defines a structure or a union: `struct TAG as NAME;`, or `struct TAG;` if NAME is defined elsewhere, and its
/// fields, each as `NAME: TYPE, "COMMENT";`.
#[macro_export]
macro_rules! c_struct {
    ($(#[$attr:meta])* struct $tag:ident $(as $name:ident)?; $($field:ident: $type:ty, $($line:literal)+;)*) => {
        $(#[$attr])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct $tag { $($(#[doc = $line])+ pub $field: $type,)* }
        $(
            #[doc = concat!("The second name of `", stringify!($tag), "`.")]
            pub type $name = $tag;
        )?
    };
    ($(#[$attr:meta])* union $tag:ident $(as $name:ident)?; $($field:ident: $type:ty, $($line:literal)+;)*) => {
        $(#[$attr])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub union $tag { $($(#[doc = $line])+ pub $field: $type,)* }
        $(
            #[doc = concat!("The second name of `", stringify!($tag), "`.")]
            pub type $name = $tag;
        )?

        impl core::fmt::Debug for $tag {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(stringify!($tag))
            }
        }
    };
}

/// Marks a position in a shared module at which a version has items of its own. These follow the mark with the same
/// name in the version's module, up to the next mark. The marks only affect the order in the C headers.
#[macro_export]
macro_rules! place {
    ($name:ident) => {};
}

/// Callback of `for_each_call!`: defines the types of the slots and the provider table.
#[macro_export]
macro_rules! provider_table {
    ($(
        $(#[$mark:ident])? extern $abi:literal fn $name:ident $arguments:tt
            => $how:ident $(($($with:tt)*))? $(, $field:ident: $slot:ident)?;
    )*) => {
        $($(
            #[doc = concat!("Slot of ", stringify!($name), ".")]
            pub type $slot = Option<unsafe extern $abi fn $arguments -> DAT_RETURN>;
        )?)*

        /// The types of the slots, with the names of the calls.
        pub mod slot_types {
            $($(
                #[doc = concat!("Slot of ", stringify!($name), ".")]
                pub type $name = super::$slot;
            )?)*
        }

        /// Table of the functions of a provider. The order is part of the binary interface. For a slot that is NULL, the library
        /// returns DAT_NOT_IMPLEMENTED.
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct dat_provider {
            /// Name of the adapter that it serves.
            pub device_name: *const core::ffi::c_char,
            /// For the provider's own use.
            pub extension: DAT_PVOID,
            $($(
                #[doc = concat!("Slot of ", stringify!($name), ".")]
                pub $field: $slot,
            )?)*
        }

        /// Table of the functions of a provider.
        pub type DAT_PROVIDER = dat_provider;
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
    /// Returns the names of a version whose types and subtypes, in addition to the shared ones, are these.
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
