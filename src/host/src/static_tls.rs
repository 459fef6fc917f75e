//! Puts the library's thread-local data into memory that every thread has from its start (static TLS).
//!
//! For a library that a program loads later, glibc allocates thread-local data when a thread first uses it. If there is
//! no memory, it ends the process. But one *initial exec* access in the library makes dlopen put all of its data, about
//! 250 bytes, into static TLS, or fail. Compilers emit no such access, so this module contains one in assembly.
//!
//! musl rejects such a library; it allocates the data during dlopen.

/// Defines a thread-local word, and a function that returns its offset from the thread pointer.
#[cfg(target_env = "gnu")]
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

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
place!("mov rax, qword ptr [rip + dat_static_tls@GOTTPOFF]");

#[cfg(all(target_arch = "aarch64", target_env = "gnu"))]
place!("adrp x0, :gottprel:dat_static_tls" "ldr x0, [x0, :gottprel_lo12:dat_static_tls]");

/// Returns the word's offset from the thread pointer, or 0 if there is none. A call makes the linker keep the access.
pub(crate) fn offset() -> usize {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_env = "gnu"))]
    {
        unsafe extern "C" {
            safe fn dat_static_tls_offset() -> usize;
        }
        dat_static_tls_offset()
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_env = "gnu")))]
    0
}

/// Returns the word of the calling thread, initially 0, with one load; `thread_local!` calls the dynamic linker.
#[inline(always)]
pub fn word() -> usize {
    word::get()
}

/// Sets the word of the calling thread, which has no destructor.
///
/// # Safety
/// Only the module that defines the meaning of the word calls this.
#[inline(always)]
pub unsafe fn set_word(value: usize) {
    word::set(value);
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_env = "gnu", not(miri)))]
mod word {
    use std::arch::asm;
    use std::ptr;

    #[inline(always)]
    pub fn get() -> usize {
        let value;
        // SAFETY: reads 8 bytes that each thread has.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                "mov {value}, qword ptr [rip + dat_static_tls@GOTTPOFF]",
                "mov {value}, qword ptr fs:[{value}]",
                value = out(reg) value,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        // SAFETY: reads 8 bytes that each thread has.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!(
                "adrp {value}, :gottprel:dat_static_tls",
                "ldr {value}, [{value}, :gottprel_lo12:dat_static_tls]",
                "mrs {thread}, tpidr_el0",
                "ldr {value}, [{thread}, {value}]",
                value = out(reg) value,
                thread = out(reg) _,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        value
    }

    pub fn set(value: usize) {
        let place = crate::thread::pointer().wrapping_add(super::offset());
        // SAFETY: writes 8 bytes of this thread, without references.
        unsafe { ptr::with_exposed_provenance_mut::<usize>(place).write(value) };
    }
}

#[cfg(any(miri, not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_env = "gnu"))))]
mod word {
    use std::cell::Cell;

    thread_local! {
        static WORD: Cell<usize> = const { Cell::new(0) };
    }

    pub fn get() -> usize {
        WORD.get()
    }

    pub fn set(value: usize) {
        WORD.set(value);
    }
}

#[cfg(test)]
mod tests;
