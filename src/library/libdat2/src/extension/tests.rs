use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Mutex;

use dat_library::tables::TABLES;

use super::*;

unsafe extern "C" {
    fn dat_extension_op(ext_handle: DAT_HANDLE, ext_op: DAT_EXTENDED_OP, ...) -> DAT_RETURN;
}

/// Arguments of the last call of the slot.
static GOT: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Stores `op` words of `arguments` in [`GOT`].
unsafe extern "C" fn slot(_: DAT_HANDLE, op: DAT_EXTENDED_OP, arguments: va_list::va_list) -> DAT_RETURN {
    let mut got = GOT.lock().unwrap();
    // SAFETY: the list of this call.
    let arguments = unsafe { &mut *arguments.cast::<VaList>() };
    // SAFETY: the test passes `op` words.
    *got = (0..op).map(|_| unsafe { arguments.next_word() }).collect();
    DAT_ABORT
}

#[test]
fn slot_gets_arguments() {
    // SAFETY: a table contains only pointers that may be NULL.
    let empty: DAT_PROVIDER = unsafe { MaybeUninit::zeroed().assume_init() };
    let table: &'static DAT_PROVIDER =
        Box::leak(Box::new(DAT_PROVIDER { handle_extendedop_func: Some(slot), ..empty }));
    let bare: &'static DAT_PROVIDER = Box::leak(Box::new(empty));
    let mut object = [ptr::from_ref(table), ptr::null()];
    let handle: DAT_HANDLE = (&raw mut object).cast();
    let call = dat_extension_op;

    let refused = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    for unknown in [handle, ptr::null_mut()] {
        // SAFETY: no argument is read.
        assert_eq!(unsafe { call(unknown, 0) }, refused, "not registered");
    }
    assert!(TABLES.insert(ptr::from_ref(table).cast()) && TABLES.insert(ptr::from_ref(bare).cast()));
    // SAFETY: the slot reads no argument.
    assert_eq!(unsafe { call(handle, 0) }, DAT_ABORT);
    // SAFETY: the call passes 3 words, which the slot reads.
    assert_eq!(unsafe { call(handle, 3, 1_u64, u64::MAX, 3_u64) }, DAT_ABORT);
    assert_eq!(*GOT.lock().unwrap(), [1, u64::MAX, 3]);
    // SAFETY: the call passes 7 words, more than fit into registers.
    let code = unsafe { call(handle, 7, 1_u64, 2_u64, 3_u64, 4_u64, 5_u64, 6_u64, 7_u64) };
    assert_eq!(code, DAT_ABORT);
    assert_eq!(*GOT.lock().unwrap(), [1, 2, 3, 4, 5, 6, 7]);

    // SAFETY: the object is alive.
    unsafe { handle.cast::<*const DAT_PROVIDER>().write(bare) };
    // SAFETY: the slot reads no argument.
    let code = unsafe { call(handle, 0) };
    assert_eq!(code, 0xbfff_0000, "a slot that is NULL");
    TABLES.remove(ptr::from_ref(table).cast());
    TABLES.remove(ptr::from_ref(bare).cast());
}

#[test]
fn query_rejects_null_arguments() {
    let call = dat_extension_op;
    let open = DAT_IB_OPEN_QUERY_OP as i32;
    let null = ptr::null_mut::<u8>();
    let mut handle: DAT_IA_HANDLE = ptr::null_mut();
    let name = c"no such adapter".as_ptr();
    for (name, handle, argument) in [
        (ptr::null(), &raw mut handle, DAT_INVALID_ARG3),
        (name, ptr::null_mut(), DAT_INVALID_ARG4),
        (name, &raw mut handle, DAT_INVALID_ARG5),
    ] {
        // SAFETY: the arguments have the types of the operation, and each pointer may be NULL.
        let code = unsafe { call(ptr::null_mut(), open, name, handle, 0_u64, null, 0_u64, null) };
        assert_eq!(code, DAT_ERROR(DAT_INVALID_PARAMETER, argument));
    }
    assert!(handle.is_null());
}

#[test]
fn close_query_rejects_invalid_handles() {
    let refused = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    let mut memory = [0_u64; 2];
    for handle in [ptr::null_mut(), ptr::without_provenance_mut(1), (&raw mut memory).cast()] {
        // SAFETY: this operation has no arguments.
        let code = unsafe { dat_extension_op(handle, DAT_IB_CLOSE_QUERY_OP as i32) };
        assert_eq!(code, refused);
    }
}
