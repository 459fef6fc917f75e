//! Extended operations.

use dat_udat20::*;
use host::va_list::VaList;

use crate::slots::{OK, Setup, UNTOUCHED, arg_error, handle_error, slot};

/// Executes an extended operation with these words as its arguments.
fn extension(t: &DAT_PROVIDER, handle: DAT_HANDLE, op: u32, words: &[u64]) -> DAT_RETURN {
    let mut words = words.to_vec();
    let mut list = VaList::on_stack(words.as_mut_ptr());
    slot!(t, handle_extendedop_func(handle, op as i32, (&raw mut list).cast()))
}

#[test]
fn an_adapter_is_opened_to_read_its_attributes() {
    let setup = Setup::new();
    let t = setup.table;
    // SAFETY: zero is valid for integers and pointers.
    let mut attr: DAT_IA_ATTR = unsafe { std::mem::zeroed() };
    let name: DAT_HANDLE = setup.name.as_ptr().cast_mut().cast();
    let (mut ia, all): (DAT_IA_HANDLE, u64) = (UNTOUCHED, DAT_IA_FIELD_ALL);
    let place = (&raw mut ia).expose_provenance() as u64;
    let attributes = (&raw mut attr).expose_provenance() as u64;
    let open = |name, words: &[u64]| extension(t, name, DAT_IB_OPEN_QUERY_OP, words);
    assert_eq!(open(name, &[0, all, attributes, 0, 0]), arg_error(4));
    assert_eq!(open(name, &[place, all, 0, 0, 0]), arg_error(5));
    assert_eq!(open(name, &[place, all + 1, attributes, 0, 0]), arg_error(5));
    let unknown: DAT_HANDLE = c"nobody".as_ptr().cast_mut().cast();
    let not_found = DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
    assert_eq!(open(unknown, &[place, all, attributes, 0, 0]), not_found);
    assert_eq!(ia, UNTOUCHED);
    assert_eq!(open(name, &[place, all, attributes, 0, 0]), OK);
    assert_eq!((attr.extension_supported, attr.extension_version), (DAT_EXTENSION_IB, DAT_IB_EXTENSION_VERSION));
    assert_eq!(extension(t, ia, DAT_IB_CLOSE_QUERY_OP, &[]), OK);
    assert_eq!(extension(t, ia, DAT_IB_CLOSE_QUERY_OP, &[]), handle_error(DAT_INVALID_HANDLE_IA));
}
