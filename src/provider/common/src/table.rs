//! The provider table, made of the lists of calls and slots of a version.

/// A callback for `for_each_call!`: makes the function that stands in the table for the call. It hands its arguments over
/// to the slot of the same name in the module `slots`. The types of the version must be in scope, and the version as `Udat`.
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
            // SAFETY: the program's promise about its arguments.
            unsafe { slots::$name::<F>($($crate::ptr::Parameter::of($argument)),*) }
        }
    };
}

/// A callback for `for_each_slot!`: defines the function `table`. The module `functions` has those that [`function!`] makes.
#[macro_export]
macro_rules! table {
    ($($slot:ident: $field:ident, $type:ident;)*) => {
        /// The table of the adapter called `device_name`, a text that must stay in place as long as the table is used.
        pub const fn table<F: $crate::Provider<Version = Udat>>(device_name: *const std::ffi::c_char) -> DAT_PROVIDER {
            DAT_PROVIDER {
                device_name,
                extension: std::ptr::null_mut(),
                $($field: Some(functions::$slot::<F>),)*
            }
        }
    };
}
