//! Symbol versions.

/// Gives an exported function its version node. The linker turns its name into `name@@NODE`, the name that programs were
/// linked with.
#[macro_export]
macro_rules! symver {
    ($node:literal, $name:ident) => {
        // A test program has no version nodes.
        #[cfg(not(test))]
        core::arch::global_asm!(concat!(".symver ", stringify!($name), ", ", stringify!($name), "@@", $node));
    };
}
