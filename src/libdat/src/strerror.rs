//! The texts of return codes.

use std::ffi::{CStr, c_char};

use dat_udat12::*;

/// Finds the names.
///
/// # Safety
/// Each pointer must be NULL or writable.
pub unsafe fn dat_strerror(
    value: DAT_RETURN,
    major_message: *mut *const c_char,
    minor_message: *mut *const c_char,
) -> DAT_RETURN {
    let (Some(major), Some(minor)) = (name_of_type(DAT_GET_TYPE(value)), name_of_subtype(DAT_GET_SUBTYPE(value)))
    else {
        return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
    };
    if major_message.is_null() {
        return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    }
    if minor_message.is_null() {
        return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    }
    // SAFETY: not NULL as checked, and writable as the caller promises.
    unsafe { major_message.write_unaligned(major.as_ptr()) };
    // SAFETY: as for `major_message`.
    unsafe { minor_message.write_unaligned(minor.as_ptr()) };
    DAT_SUCCESS
}

/// Names as the headers spell them: the constant and its text cannot differ.
macro_rules! names {
    ($value:expr, $mask:expr, { $($name:ident)+ }) => {{
        const TABLE: &[(u32, &CStr)] = &[$((
            $name & $mask,
            match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(text) => text,
                Err(_) => panic!("a name has no NUL in it"),
            },
        )),+];
        TABLE.iter().find(|(value, _)| *value == $value).map(|(_, text)| *text)
    }};
}

fn name_of_type(value: DAT_RETURN) -> Option<&'static CStr> {
    // DAT_NOT_IMPLEMENTED contains the class bits; the mask removes them.
    names!(value, DAT_TYPE_MASK, {
        DAT_SUCCESS
        DAT_ABORT
        DAT_CONN_QUAL_IN_USE
        DAT_INSUFFICIENT_RESOURCES
        DAT_INTERNAL_ERROR
        DAT_INVALID_HANDLE
        DAT_INVALID_PARAMETER
        DAT_INVALID_STATE
        DAT_LENGTH_ERROR
        DAT_MODEL_NOT_SUPPORTED
        DAT_PROVIDER_NOT_FOUND
        DAT_PRIVILEGES_VIOLATION
        DAT_PROTECTION_VIOLATION
        DAT_QUEUE_EMPTY
        DAT_QUEUE_FULL
        DAT_TIMEOUT_EXPIRED
        DAT_PROVIDER_ALREADY_REGISTERED
        DAT_PROVIDER_IN_USE
        DAT_INVALID_ADDRESS
        DAT_INTERRUPTED_CALL
        DAT_CONN_QUAL_UNAVAILABLE
        DAT_NOT_IMPLEMENTED
    })
}

fn name_of_subtype(value: DAT_RETURN) -> Option<&'static CStr> {
    if value == DAT_NO_SUBTYPE {
        return Some(c"");
    }
    names!(value, DAT_SUBTYPE_MASK, {
        DAT_SUB_INTERRUPTED
        DAT_RESOURCE_MEMORY
        DAT_RESOURCE_DEVICE
        DAT_RESOURCE_TEP
        DAT_RESOURCE_TEVD
        DAT_RESOURCE_PROTECTION_DOMAIN
        DAT_RESOURCE_MEMORY_REGION
        DAT_RESOURCE_ERROR_HANDLER
        DAT_RESOURCE_CREDITS
        DAT_RESOURCE_SRQ
        DAT_INVALID_HANDLE_IA
        DAT_INVALID_HANDLE_EP
        DAT_INVALID_HANDLE_LMR
        DAT_INVALID_HANDLE_RMR
        DAT_INVALID_HANDLE_PZ
        DAT_INVALID_HANDLE_PSP
        DAT_INVALID_HANDLE_RSP
        DAT_INVALID_HANDLE_CR
        DAT_INVALID_HANDLE_CNO
        DAT_INVALID_HANDLE_EVD_CR
        DAT_INVALID_HANDLE_EVD_REQUEST
        DAT_INVALID_HANDLE_EVD_RECV
        DAT_INVALID_HANDLE_EVD_CONN
        DAT_INVALID_HANDLE_EVD_ASYNC
        DAT_INVALID_HANDLE_SRQ
        DAT_INVALID_HANDLE1
        DAT_INVALID_HANDLE2
        DAT_INVALID_HANDLE3
        DAT_INVALID_HANDLE4
        DAT_INVALID_HANDLE5
        DAT_INVALID_HANDLE6
        DAT_INVALID_HANDLE7
        DAT_INVALID_HANDLE8
        DAT_INVALID_HANDLE9
        DAT_INVALID_HANDLE10
        DAT_INVALID_ARG1
        DAT_INVALID_ARG2
        DAT_INVALID_ARG3
        DAT_INVALID_ARG4
        DAT_INVALID_ARG5
        DAT_INVALID_ARG6
        DAT_INVALID_ARG7
        DAT_INVALID_ARG8
        DAT_INVALID_ARG9
        DAT_INVALID_ARG10
        DAT_INVALID_STATE_EP_UNCONNECTED
        DAT_INVALID_STATE_EP_ACTCONNPENDING
        DAT_INVALID_STATE_EP_PASSCONNPENDING
        DAT_INVALID_STATE_EP_TENTCONNPENDING
        DAT_INVALID_STATE_EP_CONNECTED
        DAT_INVALID_STATE_EP_DISCONNECTED
        DAT_INVALID_STATE_EP_RESERVED
        DAT_INVALID_STATE_EP_COMPLPENDING
        DAT_INVALID_STATE_EP_DISCPENDING
        DAT_INVALID_STATE_EP_PROVIDERCONTROL
        DAT_INVALID_STATE_EP_NOTREADY
        DAT_INVALID_STATE_EP_RECV_WATERMARK
        DAT_INVALID_STATE_EP_PZ
        DAT_INVALID_STATE_EP_EVD_REQUEST
        DAT_INVALID_STATE_EP_EVD_RECV
        DAT_INVALID_STATE_EP_EVD_CONNECT
        DAT_INVALID_STATE_EP_UNCONFIGURED
        DAT_INVALID_STATE_EP_UNCONFRESERVED
        DAT_INVALID_STATE_EP_UNCONFPASSIVE
        DAT_INVALID_STATE_EP_UNCONFTENTATIVE
        DAT_INVALID_STATE_CNO_IN_USE
        DAT_INVALID_STATE_CNO_DEAD
        DAT_INVALID_STATE_EVD_OPEN
        DAT_INVALID_STATE_EVD_ENABLED
        DAT_INVALID_STATE_EVD_DISABLED
        DAT_INVALID_STATE_EVD_WAITABLE
        DAT_INVALID_STATE_EVD_UNWAITABLE
        DAT_INVALID_STATE_EVD_IN_USE
        DAT_INVALID_STATE_EVD_CONFIG_NOTIFY
        DAT_INVALID_STATE_EVD_CONFIG_SOLICITED
        DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD
        DAT_INVALID_STATE_EVD_WAITER
        DAT_INVALID_STATE_EVD_ASYNC
        DAT_INVALID_STATE_IA_IN_USE
        DAT_INVALID_STATE_LMR_IN_USE
        DAT_INVALID_STATE_LMR_FREE
        DAT_INVALID_STATE_PZ_IN_USE
        DAT_INVALID_STATE_PZ_FREE
        DAT_INVALID_STATE_SRQ_OPERATIONAL
        DAT_INVALID_STATE_SRQ_ERROR
        DAT_INVALID_STATE_SRQ_IN_USE
        DAT_PRIVILEGES_READ
        DAT_PRIVILEGES_WRITE
        DAT_PRIVILEGES_RDMA_READ
        DAT_PRIVILEGES_RDMA_WRITE
        DAT_PROTECTION_READ
        DAT_PROTECTION_WRITE
        DAT_PROTECTION_RDMA_READ
        DAT_PROTECTION_RDMA_WRITE
        DAT_INVALID_ADDRESS_UNSUPPORTED
        DAT_INVALID_ADDRESS_UNREACHABLE
        DAT_INVALID_ADDRESS_MALFORMED
        DAT_NAME_NOT_REGISTERED
        DAT_MAJOR_NOT_FOUND
        DAT_MINOR_NOT_FOUND
        DAT_THREAD_SAFETY_NOT_FOUND
        DAT_INVALID_RO_COOKIE
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    fn texts(value: DAT_RETURN) -> Option<(&'static str, &'static str)> {
        let (mut major, mut minor) = (ptr::null(), ptr::null());
        // SAFETY: both pointers are writable.
        let code = unsafe { dat_strerror(value, &mut major, &mut minor) };
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
    fn success_has_a_name_and_no_detail() {
        assert_eq!(texts(DAT_SUCCESS), Some(("DAT_SUCCESS", "")));
    }

    #[test]
    fn every_type_and_subtype_has_a_name() {
        for kind in 0..=0x14 {
            for subtype in 0..=102 {
                let (major, minor) = texts(kind << 16 | subtype).unwrap();
                assert!(major.starts_with("DAT_"));
                assert_eq!(minor.is_empty(), subtype == 0);
            }
        }
    }

    #[test]
    fn class_bits_do_not_matter() {
        let code = DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_SRQ;
        let expected = Some(("DAT_INVALID_HANDLE", "DAT_INVALID_HANDLE_SRQ"));
        for class in [0, DAT_CLASS_ERROR, DAT_CLASS_WARNING] {
            assert_eq!(texts(code | class), expected);
        }
        let expected = Some(("DAT_NOT_IMPLEMENTED", ""));
        assert_eq!(texts(DAT_NOT_IMPLEMENTED), expected);
    }

    #[test]
    fn what_does_not_exist_has_no_name() {
        for value in [0x15_0000, 0x3ffe_0000, 103, 0xffff, DAT_ABORT | 103] {
            assert_eq!(texts(value), None, "{value:#x}");
        }
    }

    #[test]
    fn null_is_refused() {
        let mut text = ptr::null();
        // SAFETY: NULL is one of the values the function takes.
        let code = unsafe { dat_strerror(DAT_ABORT, ptr::null_mut(), &mut text) };
        assert_eq!(DAT_GET_SUBTYPE(code), DAT_INVALID_ARG2);
        // SAFETY: as above.
        let code = unsafe { dat_strerror(DAT_ABORT, &mut text, ptr::null_mut()) };
        assert_eq!(DAT_GET_SUBTYPE(code), DAT_INVALID_ARG3);
        assert!(text.is_null());
    }
}
