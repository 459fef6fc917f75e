//! The exported functions, generated from the list of calls.
//!
//! A dispatched call needs only its entry in the list. The library's module `by_hand` implements all other calls.

/// Defines the exported function of a call with the version node `$node`, for the version `$api`. The types and
/// `by_hand` must be in scope. Calls that only providers have are not exported, and the library defines variadic ones.
#[macro_export]
macro_rules! export {
    ($node:literal, $api:ident, extern $abi:literal fn $name:ident $arguments:tt => slot, $($slot:tt)*) => {};
    ($node:literal, $api:ident, extern $abi:literal fn $name:ident $arguments:tt => variadic, $($slot:tt)*) => {};
    (
        $node:literal, $api:ident,
        extern $abi:literal fn $name:ident $arguments:tt => dispatch($subtype:ident), $field:ident: $slot:ident
    ) => {
        $crate::dispatch! { $node, extern $abi fn $name $arguments => $field, $subtype }
    };
    (
        $node:literal, $api:ident,
        extern $abi:literal fn $name:ident($($argument:ident: $type:ty),*)
            => $how:ident $(($($more:ident: $more_type:ty),*))? $(, $field:ident: $slot:ident)?
    ) => {
        $crate::symver!($node, $name);

        #[doc = concat!("See ", stringify!($name), "(3).")]
        ///
        /// # Safety
        /// Each pointer among the arguments must be NULL or valid as the manual page describes. Any handle is allowed.
        #[unsafe(no_mangle)]
        pub unsafe extern $abi fn $name($($argument: $type,)* $($($more: $more_type),*)?) -> DAT_RETURN {
            // SAFETY: the function requires what the caller promises.
            unsafe { by_hand::$name::<$api>($($argument,)* $($($more),*)?) }
        }
    };
}
