//! The forms in which a version of the interface is written down. No version is named here.
//!
//! A version has its own crate with its types, its constants and two lists. Each list is a macro that passes its
//! contents to another macro, the *callback*. The callback decides what to make of a list, so that an entry is written
//! once:
//!
//! | list | an entry is | callbacks |
//! |---|---|---|
//! | `for_each_call!` | a call: documentation, arguments, how it is carried out | [`slot_type!`](crate::slot_type); the exports of the library; the headers and the other files that the project derives |
//! | `for_each_slot!` | a place in the provider table | [`provider_table!`](crate::provider_table); the table of a provider |
//!
//! # A call
//! ```text
//! /// Documentation.
//! extern "C" fn NAME(ARGUMENT: TYPE, "DOCUMENTATION"; ...) => HOW;
//! ```
//! Every call returns a `DAT_RETURN`. `extern "C-unwind"` is for the calls in which a thread can be cancelled. HOW is
//! one of
//!
//! * `dispatch(SUBTYPE)`: the library calls the slot of the provider that the first argument, a handle, belongs to. SUBTYPE
//!   goes with `DAT_INVALID_HANDLE` when there is none.
//! * `wrap`: the library has code of its own around the slot.
//! * `own`: there is no slot.
//! * `slot`: there is only a slot, no function that programs could call.
//! * `variadic`: the function takes `...`, and its last argument here is the list of these arguments, which the slot takes.
//!   Rust cannot define such a function; the library has it in another form.
//!
//! If the slot has fewer arguments than the call, the rest follow: `fn NAME(SLOT'S) and (THE REST) => wrap as WHOLE`,
//! and WHOLE names the type of the function with all of them.
//!
//! # A slot
//! `NAME: FIELD, TYPE;` in the order of the table: the call, the field of the table, the name of the field's type.

/// Defines an enumeration of the interface: `TAG as NAME;` and its members, each as `NAME = VALUE, "COMMENT";`, with a
/// string for each line of the comment. In Rust the type is the number that C passes, so that any value may come in, and
/// each member is a constant.
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

/// Adds members to an enumeration that versions share, whose name is first: those that a version has in addition, or
/// with a number of its own.
#[macro_export]
macro_rules! c_members {
    ($name:ty; $($member:ident = $value:expr, $($line:literal)+;)*) => {
        $($(#[doc = $line])+ pub const $member: $name = $value;)*
    };
}

/// Defines constants of a type, which is first. They are written as members are.
#[macro_export]
macro_rules! c_consts {
    ($($consts:tt)*) => { $crate::c_members! { $($consts)* } };
}

/// Defines other names of types, each as `NAME = TYPE, "COMMENT";`.
#[macro_export]
macro_rules! c_types {
    ($($name:ident = $type:ty, $($line:literal)+;)*) => { $($(#[doc = $line])+ pub type $name = $type;)* };
}

/// Does what [`c_enum!`](crate::c_enum) does, and makes a constant with the name of the type: the members with their names.
#[macro_export]
macro_rules! c_enum_with_names {
    ($(#[$attr:meta])* $tag:ident as $name:ident; $($members:tt)*) => {
        $crate::c_enum! { $(#[$attr])* $tag as $name; }
        $crate::c_members_with_names! { $name; $($members)* }
    };
}

/// Does what [`c_members!`](crate::c_members) does, and makes such a constant of these members. They are named as the headers
/// spell them: a value and its text cannot differ.
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

/// Defines a structure or a union of the interface: `struct TAG as NAME;`, or `struct TAG;` where the second name is not
/// defined here, and its fields, each as `NAME: TYPE, "COMMENT";`.
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

/// Marks a place in a module that versions share, where each has items of its own: those between the mark of the same
/// name in the version's module and the next one. Only the order in the C headers depends on it.
#[macro_export]
macro_rules! place {
    ($name:ident) => {};
}

/// A callback for `for_each_call!`: makes the type of the slot, under the name of the call.
#[macro_export]
macro_rules! slot_type {
    ($(#[$doc:meta])* extern $abi:literal fn $name:ident($($arguments:tt)*) => own;) => {};
    (
        $(#[$doc:meta])*
        extern $abi:literal fn $name:ident($($argument:ident: $type:ty, $($line:literal)+;)*)
            and ($($more:ident: $more_type:ty, $($more_line:literal)+;)*) => wrap as $whole:ident;
    ) => {
        $crate::slot_type! { extern $abi fn $name($($argument: $type, $($line)+;)*) => wrap; }

        #[doc = concat!("Type of ", stringify!($name), "; no slot has it.")]
        pub type $whole =
            Option<unsafe extern $abi fn($($argument: $type,)* $($more: $more_type),*) -> DAT_RETURN>;
    };
    (
        $(#[$doc:meta])*
        extern $abi:literal fn $name:ident($($argument:ident: $type:ty, $($line:literal)+;)*) => $($how:tt)+
    ) => {
        #[doc = concat!("Slot of ", stringify!($name), ".")]
        pub type $name = Option<unsafe extern $abi fn($($argument: $type),*) -> DAT_RETURN>;
    };
}

/// A callback for `for_each_slot!`: makes the provider table and the names of its fields' types. `slot_types` must be
/// in scope and have the types under the names of the calls.
#[macro_export]
macro_rules! provider_table {
    ($($name:ident: $field:ident, $type:ident;)*) => {
        $(
            #[doc = concat!("Slot of ", stringify!($name), ".")]
            pub type $type = slot_types::$name;
        )*

        /// Table of the functions of a provider, in the order that is the binary interface. A provider should fill every slot;
        /// for one that is NULL the library answers DAT_NOT_IMPLEMENTED.
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct dat_provider {
            /// Name of the adapter that it serves.
            pub device_name: *const core::ffi::c_char,
            /// For the provider's own use.
            pub extension: DAT_PVOID,
            $(
                #[doc = concat!("Slot of ", stringify!($name), ".")]
                pub $field: $type,
            )*
        }

        /// Table of the functions of a provider.
        pub type DAT_PROVIDER = dat_provider;

        /// The slots of a table under the names of the calls.
        pub mod slot {
            $(
                #[doc = concat!("Slot of ", stringify!($name), ".")]
                ///
                /// # Safety
                /// The table must be readable.
                #[inline(always)]
                pub unsafe fn $name(table: *const super::dat_provider) -> super::$type {
                    // SAFETY: the table is readable, as the caller promises.
                    unsafe { (*table).$field }
                }
            )*
        }
    };
}
