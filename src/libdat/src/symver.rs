//! Symbol versions.

/// Gives an exported function its version node. The linker makes `name@@DAT_1.2` of it, the name
/// that programs were linked with.
macro_rules! symver {
    ($name:ident) => {
        // A test program has no version nodes.
        #[cfg(not(test))]
        core::arch::global_asm!(concat!(".symver ", stringify!($name), ", ", stringify!($name), "@@DAT_1.2"));
    };
}

pub(crate) use symver;
