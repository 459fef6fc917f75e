//! The program's pointers for input and output.
//!
//! The functions of the provider table wrap the pointers among their arguments, and state there that they are valid as the
//! program promises; after that the code of most slots is safe. Nothing here panics or allocates except [`bytes`], which is
//! for private data. Reads and writes need no alignment.

use std::ptr::null_mut;

use dat_udat::{DAT_COUNT, DAT_PVOID};
use host::memory::{self, NoMemory};

use crate::{Answer, Fault, count};

/// A parameter of a slot, which gets an argument of the type `C` from a program.
pub trait Parameter<C> {
    /// Takes the argument.
    ///
    /// # Safety
    /// During the call a pointer must be NULL or valid as its parameter says.
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

/// A pointer to an input of the program; NULL or readable.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct InPtr<V>(*const V);

impl<V> InPtr<V> {
    /// The argument itself.
    #[inline]
    pub fn as_ptr(self) -> *const V {
        self.0
    }

    /// Whether the pointer is NULL.
    #[inline]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl<V: Copy> InPtr<V> {
    /// Reads the value; `None` if the pointer is NULL.
    #[inline]
    pub fn get(self) -> Option<V> {
        if self.is_null() {
            return None;
        }
        // SAFETY: not NULL, so readable as promised to `of`.
        Some(unsafe { self.0.read_unaligned() })
    }

    /// Reads the value of an argument that must not be NULL.
    ///
    /// # Errors
    /// The argument at `position` is invalid if it is NULL.
    #[inline]
    pub fn required(self, position: u32) -> Answer<V> {
        self.get().ok_or(Fault::Argument(position))
    }
}

/// Reads one field of a structure behind an [`InPtr`], and no other byte of it. `None` if the
/// pointer is NULL.
#[macro_export]
macro_rules! read_field {
    ($pointer:expr, $($field:ident).+) => {{
        let pointer = $crate::ptr::InPtr::as_ptr($pointer);
        if pointer.is_null() {
            None
        } else {
            // SAFETY: not NULL, so readable as promised to `Parameter::of`.
            Some(unsafe { (&raw const (*pointer).$($field).+).read_unaligned() })
        }
    }};
}
pub use read_field;

/// A pointer to the place for a result; NULL or writable.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct OutPtr<V>(*mut V);

impl<V> OutPtr<V> {
    /// Whether the pointer is NULL.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// The writable place, for an argument that must not be NULL.
    ///
    /// # Errors
    /// The argument at `position` is invalid if it is NULL.
    #[inline]
    pub fn required(self, position: u32) -> Answer<Out<V>> {
        if self.0.is_null() { Err(Fault::Argument(position)) } else { Ok(Out(self.0)) }
    }

    /// Writes a result that is not required: unless the pointer is NULL.
    #[inline]
    pub fn offer(self, value: V) {
        if !self.0.is_null() {
            Out(self.0).write(value);
        }
    }
}

/// A writable place in the program's memory.
#[derive(Clone, Copy)]
pub struct Out<V>(*mut V);

impl<V> Out<V> {
    /// The place itself.
    #[inline]
    pub fn as_ptr(&self) -> *mut V {
        self.0
    }

    /// Writes the result.
    #[inline]
    pub fn write(self, value: V) {
        // SAFETY: OutPtr made this from a pointer that is not NULL, so it is writable as promised there.
        unsafe { self.0.write_unaligned(value) };
    }
}

/// Writes one field of a structure behind an [`Out`], and no other byte of it.
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
    /// Reads the value that the program put there before the call.
    ///
    /// # Safety
    /// The argument must be for input as well as output, so that the program has filled it.
    pub unsafe fn read(&self) -> V {
        // SAFETY: not NULL, and filled as the caller promises.
        unsafe { self.0.read_unaligned() }
    }
}

/// Private data in the form of the interface: its size, and the pointer to it, which is NULL if there is none.
pub fn c_bytes<B>(data: &[B]) -> (DAT_COUNT, DAT_PVOID) {
    (count(data.len()), if data.is_empty() { null_mut() } else { data.as_ptr().cast_mut().cast() })
}

/// Copies `len` bytes of the program.
///
/// # Errors
/// [`NoMemory`].
///
/// # Safety
/// `data` must not be NULL, and `len` bytes there must be readable.
pub unsafe fn bytes(data: *const u8, len: usize) -> Result<Vec<u8>, NoMemory> {
    let mut copy: Vec<u8> = memory::vec(len)?;
    // SAFETY: readable as the caller promises; the vector has room for it.
    unsafe { copy.as_mut_ptr().copy_from_nonoverlapping(data, len) };
    // SAFETY: the line above has filled the first `len` bytes.
    unsafe { copy.set_len(len) };
    Ok(copy)
}
