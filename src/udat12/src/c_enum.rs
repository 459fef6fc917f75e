//! Enumerations of C as Rust should see them.

/// Makes an integer type and one constant a member from what the C headers get as an enumeration.
///
/// A C caller may pass any 32 bits where the interface says enumeration. As a Rust `enum` that
/// would be undefined behaviour; as an integer it is a value to check.
macro_rules! c_enum {
    (
        $(#[$outer:meta])*
        pub enum $tag:ident as $name:ident {
            $($(#[$inner:meta])* $member:ident = $value:expr,)+
        }
    ) => {
        $(#[$outer])*
        pub type $name = u32;
        $($(#[$inner])* pub const $member: $name = $value;)+
    };
}

pub(crate) use c_enum;
