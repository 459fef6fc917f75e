//! Keeps the library's thread-local data in the memory that every thread has from its beginning.
//!
//! The dynamic linker gives a thread the thread-local data of a library that was loaded while the program ran when the
//! thread first touches them, and ends the process if there is no memory for that. A library with one access of the
//! *initial exec* kind gets a place in memory that every thread has already, for all its data; if there is no such
//! place left, the library is not loaded, which the caller of dlopen is told. Our libraries have some 250 bytes of such
//! data. The compiler makes no such access in a library, so this one is written by hand.

/// The place, and a function that returns its distance from the thread's own address in the processor's `access`.
macro_rules! place {
    ($($access:literal)*) => {
        std::arch::global_asm!(
            ".pushsection .tbss.dat_static_tls, \"awT\", @nobits",
            ".p2align 3",
            ".hidden dat_static_tls",
            ".globl dat_static_tls",
            ".type dat_static_tls, @object",
            ".size dat_static_tls, 8",
            "dat_static_tls:",
            ".zero 8",
            ".popsection",
            ".pushsection .text.dat_static_tls_offset, \"ax\", @progbits",
            ".hidden dat_static_tls_offset",
            ".globl dat_static_tls_offset",
            ".type dat_static_tls_offset, @function",
            "dat_static_tls_offset:",
            $($access,)*
            "ret",
            ".size dat_static_tls_offset, . - dat_static_tls_offset",
            ".popsection",
        );
    };
}

#[cfg(target_arch = "x86_64")]
place!("mov rax, qword ptr [rip + dat_static_tls@GOTTPOFF]");

#[cfg(target_arch = "aarch64")]
place!("adrp x0, :gottprel:dat_static_tls" "ldr x0, [x0, :gottprel_lo12:dat_static_tls]");

/// The distance of the place from the thread's own address. Called so that the linker keeps the access.
pub(crate) fn offset() -> usize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        unsafe extern "C" {
            safe fn dat_static_tls_offset() -> usize;
        }
        dat_static_tls_offset()
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    0
}
