//! Symbol versions.

/// Assigns a version node to an exported function: its name becomes `name@@NODE`, to which programs are linked.
#[macro_export]
macro_rules! symver {
    ($node:literal, $name:ident) => {
        // Test programs have no version nodes.
        #[cfg(not(test))]
        core::arch::global_asm!(concat!(".symver ", stringify!($name), ", ", stringify!($name), "@@", $node));
    };
}
