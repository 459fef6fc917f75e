//! The exported functions, generated from the list of calls.
//!
//! A dispatched call needs only its entry in the list. The library's module `by_hand` implements all other calls.

/// Defines the exported function of a call with the version node `$node`, for the version `$api`. The types and
/// `by_hand` must be in scope. Calls that only providers have are not exported, and the library defines variadic ones.
#[macro_export]
macro_rules! export {
    ($node:literal, $api:ident, $(#[$doc:meta])* extern $abi:literal fn $name:ident($($arguments:tt)*) => slot;) => {};
    ($node:literal, $api:ident, $(#[$doc:meta])* extern $abi:literal fn $name:ident($($arguments:tt)*) => variadic;) => {};
    (
        $node:literal, $api:ident,
        $(#[$doc:meta])*
        extern $abi:literal fn $name:ident($($arguments:tt)*) => dispatch($subtype:ident);
    ) => {
        $crate::dispatch! {
            $node,
            $(#[$doc])*
            extern $abi fn $name($($arguments)*), $subtype
        }
    };
    (
        $node:literal, $api:ident,
        $(#[$doc:meta])*
        extern $abi:literal fn $name:ident($($argument:ident: $type:ty, $($line:literal)+;)*)
            $(and ($($more:ident: $more_type:ty, $($more_line:literal)+;)*))? => $($how:tt)+
    ) => {
        $crate::symver!($node, $name);

        $(#[$doc])*
        #[doc = $crate::parameters!($($argument, $($line)+;)* $($($more, $($more_line)+;)*)?)]
        ///
        /// # Safety
        /// Each pointer among the arguments must be NULL or valid as its parameter says. Handles may be anything.
        #[unsafe(no_mangle)]
        pub unsafe extern $abi fn $name(
            $($argument: $type,)* $($($more: $more_type),*)?
        ) -> DAT_RETURN {
            // SAFETY: the function requires what the caller promises.
            unsafe { by_hand::$name::<$api>($($argument,)* $($($more),*)?) }
        }
    };
}

/// Returns the documentation of a function's parameters.
#[macro_export]
macro_rules! parameters {
    ($($argument:ident, $($line:literal)+;)*) => {
        concat!("\n# Parameters\n", $("* `", stringify!($argument), "` - ", $($line, " ",)+ "\n",)*)
    };
}
