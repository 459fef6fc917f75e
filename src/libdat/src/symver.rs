//! Symbol versions.

/// Gives an exported function its version node. The linker turns its name into `name@@DAT_1.2`, the name that programs
/// were linked with.
macro_rules! symver {
    ($name:ident) => {
        // A test program has no version nodes.
        #[cfg(not(test))]
        core::arch::global_asm!(concat!(".symver ", stringify!($name), ", ", stringify!($name), "@@DAT_1.2"));
    };
}

pub(crate) use symver;
