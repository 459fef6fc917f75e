//! The variable arguments of a C function, as a `va_list`.
//!
//! Stable Rust cannot define a variadic function, but it can read a `va_list`, whose layout is part of the calling
//! convention.

use std::ffi::c_void;

/// The state of a `va_list` (System V ABI for x86_64): the positions of the next arguments.
#[cfg(target_arch = "x86_64")]
#[derive(Debug)]
#[repr(C)]
pub struct VaList {
    /// Offset of the next argument in the saved general registers. 48 or more if all are consumed.
    pub gp_offset: u32,
    /// Offset of the next argument in the saved vector registers. 176 or more if all are consumed.
    pub fp_offset: u32,
    /// Address of the next argument on the stack.
    pub overflow_arg_area: *mut c_void,
    /// Address of the saved registers.
    pub reg_save_area: *mut c_void,
}

#[cfg(target_arch = "x86_64")]
impl VaList {
    /// Size of the saved general registers in bytes.
    const REGISTERS: u32 = 48;
    /// Size of all saved registers in bytes.
    const ALL_REGISTERS: u32 = Self::REGISTERS + 128;

    /// Returns a list whose arguments are consecutive words on the stack.
    pub const fn on_stack(words: *mut u64) -> VaList {
        VaList {
            gp_offset: Self::REGISTERS,
            fp_offset: Self::ALL_REGISTERS,
            overflow_arg_area: words.cast(),
            reg_save_area: std::ptr::null_mut(),
        }
    }

    /// Returns the address of the next argument, and advances the list.
    fn next_place(&mut self) -> *mut c_void {
        if self.gp_offset < Self::REGISTERS {
            let place = self.reg_save_area.wrapping_byte_add(self.gp_offset as usize);
            self.gp_offset += 8;
            return place;
        }
        let next = self.overflow_arg_area.wrapping_byte_add(8);
        std::mem::replace(&mut self.overflow_arg_area, next)
    }
}

/// The state of a `va_list` (Procedure Call Standard for AArch64): the positions of the next arguments.
#[cfg(target_arch = "aarch64")]
#[derive(Debug)]
#[repr(C)]
pub struct VaList {
    /// Address of the next argument on the stack.
    pub stack: *mut c_void,
    /// End of the saved general registers.
    pub gr_top: *mut c_void,
    /// End of the saved vector registers.
    pub vr_top: *mut c_void,
    /// Offset of the next argument from `gr_top`, negative. 0 or more if all are consumed.
    pub gr_offs: i32,
    /// Offset of the next argument from `vr_top`, negative. 0 or more if all are consumed.
    pub vr_offs: i32,
}

#[cfg(target_arch = "aarch64")]
impl VaList {
    /// Returns a list whose arguments are consecutive words on the stack.
    pub const fn on_stack(words: *mut u64) -> VaList {
        let none = std::ptr::null_mut();
        VaList { stack: words.cast(), gr_top: none, vr_top: none, gr_offs: 0, vr_offs: 0 }
    }

    /// Returns the address of the next argument, and advances the list.
    fn next_place(&mut self) -> *mut c_void {
        if self.gr_offs < 0 {
            let place = self.gr_top.wrapping_byte_offset(self.gr_offs as isize);
            self.gr_offs += 8;
            return place;
        }
        let next = self.stack.wrapping_byte_add(8);
        std::mem::replace(&mut self.stack, next)
    }
}

impl VaList {
    /// Returns the next argument, and advances the list. The argument must have at most 8 bytes and must not be a
    /// floating-point number. The upper bytes of a shorter argument are undefined.
    ///
    /// # Safety
    /// The caller of the C function must have passed such an argument.
    pub unsafe fn next_word(&mut self) -> u64 {
        // SAFETY: the caller has passed this argument, so its word is among the saved registers or on the stack.
        unsafe { self.next_place().cast::<u64>().read() }
    }

    /// Returns the next `N` arguments, like [`VaList::next_word`].
    ///
    /// # Safety
    /// The caller of the C function must have passed such arguments.
    pub unsafe fn next_words<const N: usize>(&mut self) -> [u64; N] {
        // SAFETY: the next arguments are as the caller promises.
        std::array::from_fn(|_| unsafe { self.next_word() })
    }

    /// Converts an argument into the pointer that the caller of the C function has passed.
    pub fn pointer<T>(argument: u64) -> *mut T {
        std::ptr::with_exposed_provenance_mut(argument as usize)
    }
}

#[cfg(test)]
mod tests;
