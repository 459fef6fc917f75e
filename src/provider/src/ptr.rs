//! Pointers to inputs and outputs of the program.
//!
//! The functions of the provider table wrap pointer arguments in these types, and assert there that the pointers are
//! valid. So most slots contain no unsafe code. Accesses need no alignment.

use std::ptr::null_mut;

use dat_udat::{DAT_COUNT, DAT_PVOID};

use crate::{Answer, Fault, count};

/// A slot's parameter, constructed from a C argument.
pub trait Parameter<C> {
    /// Wraps the argument.
    ///
    /// # Safety
    /// During the call, a pointer must be NULL or valid as `Self` describes.
    unsafe fn of(argument: C) -> Self;
}

impl<C> Parameter<C> for C {
    #[inline(always)]
    unsafe fn of(argument: C) -> C {
        argument
    }
}

impl<V> Parameter<*const V> for InPtr<V> {
    #[inline(always)]
    unsafe fn of(pointer: *const V) -> Self {
        InPtr(pointer)
    }
}

impl<V> Parameter<*mut V> for InPtr<V> {
    #[inline(always)]
    unsafe fn of(pointer: *mut V) -> Self {
        InPtr(pointer)
    }
}

impl<V> Parameter<*mut V> for OutPtr<V> {
    #[inline(always)]
    unsafe fn of(pointer: *mut V) -> Self {
        OutPtr(pointer)
    }
}

/// A pointer that is NULL or readable.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct InPtr<V>(*const V);

impl<V> InPtr<V> {
    /// Returns the pointer.
    #[inline]
    pub fn as_ptr(self) -> *const V {
        self.0
    }

    #[inline]
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

impl<V: Copy> InPtr<V> {
    /// Reads the value. Returns `None` for NULL.
    #[inline]
    pub fn get(self) -> Option<V> {
        if self.is_null() {
            return None;
        }
        // SAFETY: not NULL, so readable as `of` requires.
        Some(unsafe { self.0.read_unaligned() })
    }

    /// Reads the required argument at `position`. Fails for NULL.
    #[inline]
    pub fn required(self, position: u32) -> Answer<V> {
        self.get().ok_or(Fault::Argument(position))
    }
}

/// Reads only one field through an [`InPtr`]. Returns `None` for NULL.
#[macro_export]
macro_rules! read_field {
    ($pointer:expr, $($field:ident).+) => {{
        let pointer = $crate::ptr::InPtr::as_ptr($pointer);
        if pointer.is_null() {
            None
        } else {
            // SAFETY: not NULL, so readable as `Parameter::of` requires.
            Some(unsafe { (&raw const (*pointer).$($field).+).read_unaligned() })
        }
    }};
}
pub use read_field;

/// A pointer that is NULL or writable.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct OutPtr<V>(*mut V);

impl<V> OutPtr<V> {
    /// Returns whether the pointer is NULL.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Returns the destination of a required result, the argument at `position`. Fails for NULL.
    #[inline]
    pub fn required(self, position: u32) -> Answer<Out<V>> {
        if self.0.is_null() { Err(Fault::Argument(position)) } else { Ok(Out(self.0)) }
    }

    /// Writes an optional result. Has no effect for NULL.
    #[inline]
    pub fn offer(self, value: V) {
        if !self.0.is_null() {
            Out(self.0).write(value);
        }
    }
}

/// A writable destination of the program.
#[derive(Clone, Copy)]
pub struct Out<V>(*mut V);

impl<V> Out<V> {
    /// Returns the address.
    #[inline]
    pub fn as_ptr(&self) -> *mut V {
        self.0
    }

    /// Writes a result.
    #[inline]
    pub fn write(self, value: V) {
        // SAFETY: from an OutPtr that is not NULL, so writable as `Parameter::of` requires.
        unsafe { self.0.write_unaligned(value) };
    }
}

/// Writes only one field through an [`Out`].
#[macro_export]
macro_rules! write_field {
    ($out:expr, $($field:ident).+, $value:expr) => {{
        let value = $value;
        let place = $crate::ptr::Out::as_ptr(&$out);
        // SAFETY: an Out is writable.
        unsafe { (&raw mut (*place).$($field).+).write_unaligned(value) }
    }};
}
pub use write_field;

impl<V: Copy> Out<V> {
    /// Reads the value that the program stored before the call.
    ///
    /// # Safety
    /// The argument must also be an input.
    pub unsafe fn read(&self) -> V {
        // SAFETY: not NULL, and initialised because the argument is an input.
        unsafe { self.0.read_unaligned() }
    }
}

/// Returns size and address of private data; NULL without data.
pub fn c_bytes<B>(data: &[B]) -> (DAT_COUNT, DAT_PVOID) {
    (count(data.len()), if data.is_empty() { null_mut() } else { data.as_ptr().cast_mut().cast() })
}
