//! The program's pointers for input and output.
//!
//! A call wraps its pointer arguments in its first lines and states there that they are valid as the caller promises;
//! after that its code is safe. Nothing here panics or allocates except [`bytes`], which is for private data. Reads and
//! writes need no alignment.

use host::memory::{self, NoMemory};

use crate::{Answer, Fault};

/// A pointer to an input of the program; NULL or readable.
pub struct InPtr<V>(*const V);

impl<V> Clone for InPtr<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for InPtr<V> {}

impl<V> InPtr<V> {
    /// Wraps an argument.
    ///
    /// # Safety
    /// During the call `pointer` must be NULL or readable.
    #[inline]
    pub unsafe fn new(pointer: *const V) -> Self {
        InPtr(pointer)
    }

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
        // SAFETY: not NULL, so readable as promised to `new`.
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
            // SAFETY: not NULL, so readable as promised to InPtr::new.
            Some(unsafe { (&raw const (*pointer).$($field).+).read_unaligned() })
        }
    }};
}
pub use read_field;

/// A pointer to the place for a result; NULL or writable.
#[repr(transparent)]
pub struct OutPtr<V>(*mut V);

impl<V> Clone for OutPtr<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for OutPtr<V> {}

impl<V> OutPtr<V> {
    /// Wraps an argument.
    ///
    /// # Safety
    /// During the call `pointer` must be NULL or writable.
    #[inline]
    pub unsafe fn new(pointer: *mut V) -> Self {
        OutPtr(pointer)
    }

    /// Whether the pointer is NULL.
    #[inline]
    pub fn is_null(self) -> bool {
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

    /// The writable place; `None` if the pointer is NULL.
    #[inline]
    pub fn optional(self) -> Option<Out<V>> {
        if self.0.is_null() { None } else { Some(Out(self.0)) }
    }
}

/// A writable place in the program's memory.
pub struct Out<V>(*mut V);

impl<V> Clone for Out<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Out<V> {}

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
