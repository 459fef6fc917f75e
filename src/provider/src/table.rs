//! The provider table, generated from a version's list of calls.

/// Callback of `for_each_call!`: defines the module `functions`, with a function for each slot, and the function
/// `table`. In scope must be the version's types, the version as `Udat`, and the module `slots`.
#[macro_export]
macro_rules! table {
    ($(
        $(#[$mark:ident])? extern $abi:literal fn $name:ident $arguments:tt
            => $how:ident $(($($with:tt)*))? $(, $field:ident: $slot:ident)?;
    )*) => {
        /// Functions of the table by the name of their call.
        mod functions {
            use super::*;

            $($($crate::function! { $field: extern $abi fn $name $arguments })?)*
        }

        /// Returns the table of an adapter. The name must outlive the table.
        pub const fn table<F: $crate::Provider<Version = Udat>>(device_name: *const std::ffi::c_char) -> DAT_PROVIDER {
            DAT_PROVIDER {
                device_name,
                extension: std::ptr::null_mut(),
                $($($field: Some(functions::$name::<F>),)?)*
            }
        }
    };
}

/// Defines a call's function, which calls the slot of the same name in `slots`.
#[macro_export]
macro_rules! function {
    ($field:ident: extern $abi:literal fn $name:ident($($argument:ident: $type:ty),*)) => {
        pub(super) unsafe extern $abi fn $name<F: $crate::Provider<Version = Udat>>(
            $($argument: $type),*
        ) -> DAT_RETURN {
            const LOGGED: bool = $crate::trace::is_logged(stringify!($name));
            let call = LOGGED.then(|| $crate::trace::Call::begin(stringify!($name), &[$((stringify!($argument), stringify!($type), &$argument)),*]));
            // SAFETY: the program guarantees that its arguments are valid.
            let code = unsafe { slots::$name::<F>($($crate::ptr::Parameter::of($argument)),*) };
            if let Some(call) = call {
                // SAFETY: the program guarantees that pointers to handles are NULL or writable.
                unsafe { call.end(<Udat as $crate::Version>::CODE_NAMES, code) };
            }
            code
        }
    };
}
