use std::mem::MaybeUninit;
use std::ptr;

use dat_udat12::*;

use super::*;

crate::dispatch! {
    "TEST",
    extern "C" fn dat_evd_dequeue(evd_handle: DAT_EVD_HANDLE, event: *mut DAT_EVENT) => evd_dequeue_func, DAT_INVALID_HANDLE1
}

crate::dispatch! {
    "TEST",
    extern "C" fn dat_pz_free(pz_handle: DAT_PZ_HANDLE) => pz_free_func, DAT_INVALID_HANDLE_PZ
}

/// An object of a provider: the table, then private data.
#[repr(C, align(8))]
struct Object {
    table: *const DAT_PROVIDER,
    rest: [u64; 3],
}

fn empty() -> DAT_PROVIDER {
    // SAFETY: a table contains only pointers that may be NULL.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

unsafe extern "C" fn dequeue(evd_handle: DAT_EVD_HANDLE, event: *mut DAT_EVENT) -> DAT_RETURN {
    assert!(!evd_handle.is_null() && event.is_null());
    DAT_ERROR(DAT_QUEUE_EMPTY, DAT_NO_SUBTYPE)
}

fn call(handle: DAT_HANDLE) -> DAT_RETURN {
    // SAFETY: the slots of these tests do not read the memory of their arguments.
    unsafe { dat_evd_dequeue(handle, ptr::null_mut()) }
}

const REFUSED: DAT_RETURN = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);

#[test]
fn dispatches_only_to_registered_tables() {
    let table: &'static DAT_PROVIDER = Box::leak(Box::new(DAT_PROVIDER { evd_dequeue_func: Some(dequeue), ..empty() }));
    let other: &'static DAT_PROVIDER = Box::leak(Box::new(empty()));
    let mut object = Object { table, rest: [0; 3] };
    let handle: DAT_HANDLE = ptr::from_mut(&mut object).cast();
    assert_eq!(call(handle), REFUSED, "not registered yet");

    let (first, second) = (ptr::from_ref(other).cast(), ptr::from_ref(table).cast());
    assert!(TABLES.insert(first) && TABLES.insert(second));
    let empty_queue = DAT_ERROR(DAT_QUEUE_EMPTY, DAT_NO_SUBTYPE);
    assert_eq!(call(handle), empty_queue, "one table further");
    // SAFETY: the handle belongs to a live object.
    let code = unsafe { dat_pz_free(handle) };
    assert_eq!(code, DAT_NOT_IMPLEMENTED, "a slot that is NULL");

    retire(first);
    retire(second);
    assert_eq!(call(handle), REFUSED, "registered no more");
    assert!(TABLES.insert(second));
    assert_eq!(call(handle), empty_queue, "the first table");
    assert_eq!(object.rest, [0; 3]);
    retire(second);
}

#[test]
fn rejects_invalid_handles() {
    let mut memory = [0u64, 1, u64::MAX, 8];
    for number in [0usize, 1, 2, 8, 64, 4088, 0x10000, 0x1234_5678, 1 << 47, usize::MAX, usize::MAX & !7] {
        assert_eq!(call(ptr::without_provenance_mut(number)), REFUSED);
    }
    for word in &mut memory {
        let address: DAT_HANDLE = ptr::from_mut(word).cast();
        assert_eq!(call(address), REFUSED, "plain memory");
        for shift in 1..8 {
            assert_eq!(call(address.wrapping_byte_add(shift)), REFUSED);
        }
    }
}
