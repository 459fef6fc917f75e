//! Exported functions, made from the list of calls.
//!
//! A call that goes to the provider needs nothing but its entry in the list. The code of the other calls is in the
//! library's module `by_hand`, under the name of the call.

/// Makes the exported function of a call under the version node `$node` in a library of the version `$api`. The types, and
/// `by_hand` with the functions that the library carries out itself, must be in scope.
///
/// A call that only providers have is not exported. A variadic one the library defines itself.
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
            // SAFETY: the caller makes the promise that the function asks for.
            unsafe { by_hand::$name::<$api>($($argument,)* $($($more),*)?) }
        }
    };
}

/// What the documentation of a function says of its parameters.
#[macro_export]
macro_rules! parameters {
    ($($argument:ident, $($line:literal)+;)*) => {
        concat!("\n# Parameters\n", $("* `", stringify!($argument), "` - ", $($line, " ",)+ "\n",)*)
    };
}
