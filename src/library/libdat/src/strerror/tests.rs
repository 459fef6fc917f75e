use std::ffi::CStr;
use std::ptr;

use dat_udat12::*;

use super::*;
use crate::Udat12;

fn texts(value: DAT_RETURN) -> Option<(&'static str, &'static str)> {
    let (mut major, mut minor) = (ptr::null(), ptr::null());
    // SAFETY: both pointers are writable.
    let code = unsafe { dat_strerror::<Udat12>(value, &mut major, &mut minor) };
    if code != DAT_SUCCESS {
        assert_eq!(code, DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
        assert!(major.is_null() && minor.is_null(), "written on failure");
        return None;
    }
    // SAFETY: success means two static strings.
    let text = |at| unsafe { CStr::from_ptr(at) }.to_str().unwrap();
    Some((text(major), text(minor)))
}

#[test]
fn success_has_empty_minor_message() {
    assert_eq!(texts(DAT_SUCCESS), Some(("DAT_SUCCESS", "")));
}

#[test]
fn names_all_types_and_subtypes() {
    for kind in 0..=0x14 {
        for subtype in 0..=102 {
            let (major, minor) = texts(kind << 16 | subtype).unwrap();
            assert!(major.starts_with("DAT_"));
            assert_eq!(minor.is_empty(), subtype == 0);
        }
    }
}

#[test]
fn ignores_class_bits() {
    let code = DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_SRQ;
    let expected = Some(("DAT_INVALID_HANDLE", "DAT_INVALID_HANDLE_SRQ"));
    for class in [0, DAT_CLASS_ERROR, DAT_CLASS_WARNING] {
        assert_eq!(texts(code | class), expected);
    }
    let expected = Some(("DAT_NOT_IMPLEMENTED", ""));
    assert_eq!(texts(DAT_NOT_IMPLEMENTED), expected);
}

#[test]
fn rejects_unknown_codes() {
    for value in [0x15_0000, 0x3ffe_0000, 103, 0xffff, DAT_ABORT | 103] {
        assert_eq!(texts(value), None, "{value:#x}");
    }
}

#[test]
fn rejects_null() {
    let mut text = ptr::null();
    // SAFETY: both pointers may be NULL.
    let code = unsafe { dat_strerror::<Udat12>(DAT_ABORT, ptr::null_mut(), &mut text) };
    assert_eq!(DAT_GET_SUBTYPE(code), DAT_INVALID_ARG2);
    // SAFETY: both pointers may be NULL.
    let code = unsafe { dat_strerror::<Udat12>(DAT_ABORT, &mut text, ptr::null_mut()) };
    assert_eq!(DAT_GET_SUBTYPE(code), DAT_INVALID_ARG3);
    assert!(text.is_null());
}
