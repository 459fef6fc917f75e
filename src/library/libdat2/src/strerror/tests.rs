use std::ptr;

use dat_udat20::*;

use super::*;
use crate::Udat20;

fn texts(value: DAT_RETURN) -> (DAT_RETURN, &'static str, &'static str) {
    let (mut major, mut minor) = (ptr::null(), ptr::null());
    // SAFETY: both pointers are writable.
    let code = unsafe { dat_strerror::<Udat20>(value, &mut major, &mut minor) };
    // SAFETY: both point to static strings.
    let text = |at| unsafe { CStr::from_ptr(at) }.to_str().unwrap();
    (code, text(major), text(minor))
}

#[test]
fn names_all_types_and_subtypes() {
    for kind in (0..=0x17).chain([0x1000, 0x3fff]) {
        for subtype in 0..=103 {
            let (code, major, minor) = texts(DAT_CLASS_ERROR | kind << 16 | subtype);
            assert_eq!(code, DAT_SUCCESS, "{kind:#x}, {subtype}");
            assert!(major.starts_with("DAT_"));
            assert_eq!(minor.is_empty(), subtype == 0);
        }
    }
}

#[test]
fn has_names_of_this_version() {
    let code = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CSP);
    assert_eq!(texts(code), (DAT_SUCCESS, "DAT_INVALID_HANDLE", "DAT_INVALID_HANDLE_CSP"));
    assert_eq!(texts(0xbfff_0000), (DAT_SUCCESS, "DAT_NOT_IMPLEMENTED", ""));
    assert_eq!(texts(0x8016_0000), (DAT_SUCCESS, "DAT_PORT_IN_USE", ""));
    assert_eq!(texts(0x8006_0025), (DAT_SUCCESS, "DAT_INVALID_PARAMETER", "DAT_INVALID_ARG1"));
}

#[test]
fn unknown_codes_have_texts() {
    let refused = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
    assert_eq!(texts(0x18_0000), (refused, "unknown error", ""));
    assert_eq!(texts(DAT_ABORT | 104), (refused, "DAT_ABORT", "unknown minor error"));
}

#[test]
fn accepts_null() {
    let mut text = ptr::null();
    // SAFETY: both pointers may be NULL.
    let code = unsafe { dat_strerror::<Udat20>(DAT_ABORT, ptr::null_mut(), &mut text) };
    assert!(code == DAT_SUCCESS && !text.is_null());
    // SAFETY: both pointers may be NULL.
    let code = unsafe { dat_strerror::<Udat20>(DAT_ABORT, ptr::null_mut(), ptr::null_mut()) };
    assert_eq!(code, DAT_SUCCESS);
}
