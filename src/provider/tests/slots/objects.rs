//! Adapters and endpoints.

use super::connection::blank_param;
use super::*;

#[test]
fn open_rejects_names_and_reports_failures() {
    let setup = Setup::new();
    let t = setup.table;
    let name = setup.name.as_ptr().cast_mut();
    let (mut evd, mut ia) = (null_mut(), UNTOUCHED);
    let not_found = DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
    let long = CString::new("n".repeat(256)).unwrap();
    assert_eq!(slot!(t, ia_open_func(null_mut(), 8, &mut evd, &mut ia)), arg_error(1));
    assert_eq!(slot!(t, ia_open_func(long.as_ptr().cast_mut(), 8, &mut evd, &mut ia)), arg_error(1));
    assert_eq!(slot!(t, ia_open_func(c"nobody".as_ptr().cast_mut(), 8, &mut evd, &mut ia)), not_found);
    assert_eq!(slot!(t, ia_open_func(name, 8, &mut evd, null_mut())), handle_error(DAT_INVALID_HANDLE_IA));
    assert_eq!(slot!(t, ia_open_func(name, 8, null_mut(), &mut ia)), arg_error(3));
    assert!(evd.is_null());
    assert_eq!(ia, UNTOUCHED);
    let (unavailable, other) = register("no device");
    let no_device = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
    assert_eq!(slot!(other, ia_open_func(unavailable.as_ptr().cast_mut(), 8, &mut evd, &mut ia)), no_device);
    let (broken, other) = register("panic");
    let internal = DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
    assert_eq!(slot!(other, ia_open_func(broken.as_ptr().cast_mut(), 8, &mut evd, &mut ia)), internal);
    assert_eq!(ia, UNTOUCHED);
}

#[test]
fn endpoint_rejects_list_that_no_query_returned() {
    let setup = Setup::new();
    let ep = setup.ep();
    let mut param = blank_param();
    param.ep_attr.ep_provider_specific = UNTOUCHED.cast();
    let code = slot!(setup.table, ep_modify_func(ep, DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR, &param));
    assert_eq!(code, arg_error(3));
}

#[test]
fn every_slot_is_filled() {
    let (_, table) = register("");
    let words = size_of::<DAT_PROVIDER>() / size_of::<usize>();
    let first: *const DAT_PROVIDER = table;
    // SAFETY: the structure consists of pointers only.
    let words = unsafe { std::slice::from_raw_parts(first.cast::<usize>(), words) };
    let empty: Vec<_> = words.iter().enumerate().filter(|(_, word)| **word == 0).map(|(at, _)| at).collect();
    assert_eq!(empty, [1], "only the extension is NULL");
}
