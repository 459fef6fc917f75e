//! Keeps the library's thread-local data in the memory that every thread has from its beginning.
//!
//! The dynamic linker gives a thread the thread-local data of a library that was loaded while the program ran when the
//! thread first touches them, and ends the process if there is no memory for that. A library with one access of the
//! *initial exec* kind gets a place in memory that every thread has already, for all its data; if there is no such
//! place left, the library is not loaded, which the caller of dlopen is told. Our libraries have some 250 bytes of such
//! data. The compiler makes no such access in a library, so this one is written by hand.
//!
//! This is for glibc. Musl's loader refuses such a library; it gives every thread the data of a new library at once, and
//! does not load the library if it cannot.

/// The place, and a function that returns its distance from the thread's own address in the processor's `access`.
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

/// The distance of the place from the thread's own address. Called so that the linker keeps the access.
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

/// The word of the calling thread, 0 until [`set_word`] changes it: what the place holds. There is one word, for
/// whatever a library needs to know of the thread on its fastest path; it has no destructor. Reading it is one load,
/// where `thread_local!` calls the dynamic linker.
#[inline(always)]
pub fn word() -> usize {
    word::get()
}

/// Changes the word of the calling thread.
///
/// # Safety
/// The library reads the word as what one of its modules defines, an address for instance: that module alone calls this.
#[inline(always)]
pub unsafe fn set_word(value: usize) {
    word::set(value);
}

#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(miri)))]
mod word {
    use std::arch::asm;

    #[inline(always)]
    pub fn get() -> usize {
        let value;
        // SAFETY: this reads the 8 bytes of the place, which each thread has for as long as it lives.
        unsafe {
            asm!(
                "mov {value}, qword ptr [rip + dat_static_tls@GOTTPOFF]",
                "mov {value}, qword ptr fs:[{value}]",
                value = out(reg) value,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        value
    }

    #[inline(always)]
    pub fn set(value: usize) {
        // SAFETY: this writes the 8 bytes of the place, which no other thread and no reference has.
        unsafe {
            asm!(
                "mov {place}, qword ptr [rip + dat_static_tls@GOTTPOFF]",
                "mov qword ptr fs:[{place}], {value}",
                place = out(reg) _,
                value = in(reg) value,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(all(target_arch = "aarch64", target_env = "gnu", not(miri)))]
mod word {
    use std::arch::asm;

    #[inline(always)]
    pub fn get() -> usize {
        let value;
        // SAFETY: this reads the 8 bytes of the place, which each thread has for as long as it lives.
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

    #[inline(always)]
    pub fn set(value: usize) {
        // SAFETY: this writes the 8 bytes of the place, which no other thread and no reference has.
        unsafe {
            asm!(
                "adrp {place}, :gottprel:dat_static_tls",
                "ldr {place}, [{place}, :gottprel_lo12:dat_static_tls]",
                "mrs {thread}, tpidr_el0",
                "str {value}, [{thread}, {place}]",
                place = out(reg) _,
                thread = out(reg) _,
                value = in(reg) value,
                options(nostack, preserves_flags),
            );
        }
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
