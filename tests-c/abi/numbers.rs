// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Defines the macros of layout.rs and layout20.rs as compile-time assertions.

macro_rules! TYPE {
    ($type:ty, $size:literal, $align:literal) => {
        const _: () = assert!(size_of::<$type>() == $size && align_of::<$type>() == $align);
    };
}

macro_rules! FIELD {
    ($type:ty, $field:ident, $offset:literal, $length:literal) => {
        const _: () = {
            const fn size_behind<T>(_: *const T) -> usize {
                size_of::<T>()
            }
            let record = core::mem::MaybeUninit::<$type>::uninit();
            // SAFETY: `record` contains the field, and the expression only computes its address.
            let field = unsafe { &raw const (*record.as_ptr()).$field };
            assert!(core::mem::offset_of!($type, $field) == $offset && size_behind(field) == $length);
        };
    };
}

macro_rules! VALUE {
    ($group:ident, $name:ident, $value:expr) => {
        const _: () = assert!($name as i128 == $value);
    };
}
