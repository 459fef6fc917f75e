//! The further arguments of a C function with `...`, as va_list hands them on.
//!
//! Rust cannot define such a function, but it can read the list that a C compiler, or code that does the same, has made:
//! its form is part of the calling convention.

use core::ffi::c_void;

/// The list of further arguments as C passes it on: a pointer to its state.
pub type va_list = *mut VaList;

/// The state of a list of further arguments (System V ABI for x86_64, va_list): where the next one is.
#[cfg(target_arch = "x86_64")]
#[derive(Debug)]
#[repr(C)]
pub struct VaList {
    /// Offset of the next argument among the saved general registers; 48 and more when all of them are taken.
    pub gp_offset: u32,
    /// Offset of the next argument among the saved vector registers; 176 and more when all of them are taken.
    pub fp_offset: u32,
    /// The next argument on the stack.
    pub overflow_arg_area: *mut c_void,
    /// The saved registers.
    pub reg_save_area: *mut c_void,
}

#[cfg(target_arch = "x86_64")]
impl VaList {
    /// Bytes of the saved general registers.
    const REGISTERS: u32 = 48;
    /// Bytes of these and of the saved vector registers.
    const ALL_REGISTERS: u32 = Self::REGISTERS + 128;

    /// A list of words that are all on the stack, one after the other.
    pub const fn on_stack(words: *mut u64) -> VaList {
        VaList {
            gp_offset: Self::REGISTERS,
            fp_offset: Self::ALL_REGISTERS,
            overflow_arg_area: words.cast(),
            reg_save_area: core::ptr::null_mut(),
        }
    }

    /// Takes the next argument, one of up to 8 bytes that is no floating-point number: an integer, an enumeration, a
    /// pointer, or a union of these. Of a shorter one the upper bytes are not defined.
    ///
    /// # Safety
    /// The caller of the C function must have passed such an argument.
    pub unsafe fn next_word(&mut self) -> u64 {
        if self.gp_offset < Self::REGISTERS {
            // SAFETY: the registers were saved one after the other, 8 bytes each, and this one is among them.
            let word = unsafe { self.reg_save_area.byte_add(self.gp_offset as usize).cast::<u64>().read() };
            self.gp_offset += 8;
            return word;
        }
        let next = self.overflow_arg_area.cast::<u64>();
        // SAFETY: the caller passed this argument, and so it is on the stack, in 8 bytes, as are those before it.
        unsafe {
            self.overflow_arg_area = next.add(1).cast();
            next.read()
        }
    }
}

/// The state of a list of further arguments (Procedure Call Standard for AArch64, va_list): where the next one is.
#[cfg(target_arch = "aarch64")]
#[derive(Debug)]
#[repr(C)]
pub struct VaList {
    /// The next argument on the stack.
    pub stack: *mut c_void,
    /// The end of the saved general registers.
    pub gr_top: *mut c_void,
    /// The end of the saved vector registers.
    pub vr_top: *mut c_void,
    /// Offset of the next argument from `gr_top`, negative; 0 and more when all are taken.
    pub gr_offs: i32,
    /// Offset of the next argument from `vr_top`, negative; 0 and more when all are taken.
    pub vr_offs: i32,
}

#[cfg(target_arch = "aarch64")]
impl VaList {
    /// A list of words that are all on the stack, one after the other.
    pub const fn on_stack(words: *mut u64) -> VaList {
        let none = core::ptr::null_mut();
        VaList { stack: words.cast(), gr_top: none, vr_top: none, gr_offs: 0, vr_offs: 0 }
    }

    /// Takes the next argument, one of up to 8 bytes that is no floating-point number: an integer, an enumeration, a
    /// pointer, or a union of these. Of a shorter one the upper bytes are not defined.
    ///
    /// # Safety
    /// The caller of the C function must have passed such an argument.
    pub unsafe fn next_word(&mut self) -> u64 {
        if self.gr_offs < 0 {
            // SAFETY: the registers were saved one after the other, 8 bytes each, and this one is among them.
            let word = unsafe { self.gr_top.byte_offset(self.gr_offs as isize).cast::<u64>().read() };
            self.gr_offs += 8;
            return word;
        }
        let next = self.stack.cast::<u64>();
        // SAFETY: the caller passed this argument, and so it is on the stack, in 8 bytes, as are those before it.
        unsafe {
            self.stack = next.add(1).cast();
            next.read()
        }
    }
}

impl VaList {
    /// Takes the next argument, a pointer.
    ///
    /// # Safety
    /// The caller of the C function must have passed a pointer.
    pub unsafe fn next_pointer<T>(&mut self) -> *mut T {
        // SAFETY: the caller's promise.
        core::ptr::with_exposed_provenance_mut(unsafe { self.next_word() } as usize)
    }
}

#[cfg(test)]
mod tests;
