//! The provider table, generated from a version's lists of calls and slots.

/// Callback of `for_each_call!`: defines a call's function, which calls the slot of the same name in `slots`. The
/// version's types, and the version as `Udat`, must be in scope.
#[macro_export]
macro_rules! function {
    ($(#[$doc:meta])* extern $abi:literal fn $name:ident($($arguments:tt)*) => own;) => {};
    (
        $(#[$doc:meta])*
        extern $abi:literal fn $name:ident($($argument:ident: $type:ty, $($line:literal)+;)*)
            $(and ($($more:tt)*))? => $($how:tt)+
    ) => {
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

/// Callback of `for_each_slot!`: defines the function `table`. The module `functions` contains the results of
/// [`function!`].
#[macro_export]
macro_rules! table {
    ($($slot:ident: $field:ident, $type:ident;)*) => {
        /// Returns the table of an adapter. The name must outlive the table.
        pub const fn table<F: $crate::Provider<Version = Udat>>(device_name: *const std::ffi::c_char) -> DAT_PROVIDER {
            DAT_PROVIDER {
                device_name,
                extension: std::ptr::null_mut(),
                $($field: Some(functions::$slot::<F>),)*
            }
        }
    };
}
