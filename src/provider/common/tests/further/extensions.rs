//! Extended operations.

use std::ptr::null_mut;

use dat_udat20::*;

use crate::slots::{OK, Setup, UNTOUCHED, arg_error, connection, handle_error, slot};
use crate::version;

/// Executes an extended operation with these words as its arguments.
fn extension(t: &DAT_PROVIDER, handle: DAT_HANDLE, op: u32, words: &[u64]) -> DAT_RETURN {
    let mut words = words.to_vec();
    let mut list = VaList::on_stack(words.as_mut_ptr());
    slot!(t, handle_extendedop_func(handle, op as i32, &mut list))
}

#[test]
fn extended_operations_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let mut memory = [0_u64; 4];
    // SAFETY: 32 bytes are the size of the array, and bytes need no alignment.
    let bytes = unsafe { std::slice::from_raw_parts_mut(memory.as_mut_ptr().cast::<u8>(), 32) };
    let start = bytes.as_ptr().addr() as u64;
    let (_, context) = setup.lmr(bytes, DAT_MEM_PRIV_ALL_FLAG);
    let ep = setup.ep();
    connection::establish(&setup, ep);
    let word = |pointer: *const DAT_LMR_TRIPLET| pointer.expose_provenance() as u64;
    let far = |pointer: *const DAT_RMR_TRIPLET| pointer.expose_provenance() as u64;
    let (old, short) = (version::lmr_triplet(context, start, 8), version::lmr_triplet(context, start, 7));
    let (there, odd) = (version::rmr_triplet(3, 1 << 40, 8), version::rmr_triplet(3, (1 << 40) + 4, 8));
    let add = |ep, local, remote, flags| extension(t, ep, DAT_IB_FETCH_AND_ADD_OP, &[1, local, 5, remote, flags]);
    let swap = |ep, local, remote, flags| extension(t, ep, DAT_IB_CMP_AND_SWAP_OP, &[1, 2, local, 5, remote, flags]);
    let write = |ep, count: i32, local, remote, flags| {
        // The upper 32 bits of a word are not part of a 32-bit argument.
        let count = 0xdead_beef_0000_0000 | u64::from(count as u32);
        extension(t, ep, DAT_IB_RDMA_WRITE_IMMED_OP, &[count, local, 5, remote, 0xdead_beef_0000_0007, flags])
    };
    let (old, short) = (word(&old), word(&short));
    let (there, odd) = (far(&there), far(&odd));
    let bad_ep = handle_error(DAT_INVALID_HANDLE_EP);
    assert_eq!([add(setup.pz, 0, 0, 99), swap(setup.pz, 0, 0, 99), write(setup.pz, -1, 0, 0, 99)], [bad_ep; 3]);
    assert_eq!([add(ep, 0, there, 0), swap(ep, 0, there, 0), write(ep, 1, 0, there, 0)], [4, 5, 4].map(arg_error));
    assert_eq!([add(ep, old, 0, 0), swap(ep, old, 0, 0), write(ep, 1, old, 0, 0)], [6, 7, 6].map(arg_error));
    assert_eq!([add(ep, old, odd, 0), swap(ep, old, odd, 0)], [6, 7].map(arg_error));
    let bits = 0x80;
    let flags = [add(ep, old, there, bits), swap(ep, old, there, bits), write(ep, 1, old, there, bits)];
    assert_eq!(flags, [7, 8, 8].map(arg_error));
    let length = DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
    assert_eq!([add(ep, short, there, 0), swap(ep, short, there, 0)], [length; 2]);
    assert_eq!([write(ep, -1, old, there, 0), write(ep, 9999, old, there, 0)], [arg_error(3); 2]);
    assert_eq!([add(ep, old, there, 0), swap(ep, old, there, 0)], [OK; 2]);
    assert_eq!([write(ep, 1, old, there, 0), write(ep, 0, 0, 0, 0)], [OK; 2]);
}

#[test]
fn extended_operations_reject_handles_of_other_kinds() {
    let setup = Setup::new();
    let t = setup.table;
    let freed = setup.ep();
    assert_eq!(slot!(t, ep_free_func(freed)), OK);
    let mut foreign = [std::ptr::from_ref(t).addr(); 8];
    let foreign: DAT_HANDLE = foreign.as_mut_ptr().cast();
    let junk = std::ptr::without_provenance_mut;
    for handle in [null_mut(), junk(1), junk(usize::MAX), UNTOUCHED, foreign, freed, setup.pz.wrapping_byte_add(1)] {
        for op in [DAT_IB_FETCH_AND_ADD_OP, DAT_IB_CMP_AND_SWAP_OP, DAT_IB_RDMA_WRITE_IMMED_OP] {
            let code = extension(t, handle, op, &[0; 8]);
            assert_eq!(code, handle_error(DAT_INVALID_HANDLE_EP), "{op} {handle:p}");
        }
        let code = extension(t, handle, DAT_IB_CLOSE_QUERY_OP, &[]);
        assert_eq!(code, handle_error(DAT_INVALID_HANDLE_IA), "{handle:p}");
    }
}

#[test]
fn rejects_unknown_extended_operations() {
    let setup = Setup::new();
    let missing = DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
    for op in (6..26).chain(30..40).chain([0xfff, 0x4000, u32::MAX]) {
        assert_eq!(extension(setup.table, setup.ia, op, &[0; 8]), missing, "{op}");
    }
}

#[test]
fn counters_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let ep = setup.ep();
    let mut out = [u64::MAX; 85];
    let place = out.as_mut_ptr().expose_provenance() as u64;
    let short = |word: i32| 0xdead_beef_0000_0000 | u64::from(word as u32);
    let query =
        |handle, counter, place| extension(t, handle, DAT_IB_QUERY_COUNTERS_OP, &[short(counter), place, short(1)]);
    let print = |handle, counter| extension(t, handle, DAT_IB_PRINT_COUNTERS_OP, &[short(counter), short(1)]);
    let bad = handle_error(DAT_INVALID_HANDLE1);
    let mut foreign = [std::ptr::from_ref(t).addr(); 8];
    let foreign: DAT_HANDLE = foreign.as_mut_ptr().cast();
    for handle in [null_mut(), UNTOUCHED, foreign, setup.pz] {
        assert_eq!([query(handle, 0, place), print(handle, 0)], [bad; 2], "{handle:p}");
        for op in [DAT_IB_START_COUNTERS_OP, DAT_IB_STOP_COUNTERS_OP] {
            assert_eq!(extension(t, handle, op, &[short(1)]), handle_error(DAT_INVALID_HANDLE_IA), "{handle:p}");
        }
    }
    for (handle, number) in [(setup.ia, 85), (ep, 24), (setup.dto_evd, 10)] {
        for counter in [-1, number + 1, i32::MAX] {
            assert_eq!([query(handle, counter, place), print(handle, counter)], [arg_error(3); 2]);
        }
        assert_eq!([query(handle, 0, 0), query(handle, number, 0)], [arg_error(4); 2]);
    }
    assert_eq!(extension(t, setup.ia, DAT_IB_START_COUNTERS_OP, &[short(3)]), arg_error(3));
    assert_eq!(out, [u64::MAX; 85]);
    assert_eq!(query(setup.ia, DCNT_IA_EP_CREATE as i32, place), OK);
    assert_eq!(out.map(|value| value != u64::MAX), std::array::from_fn(|at| at == DCNT_IA_EP_CREATE as usize));
    assert_eq!(out[DCNT_IA_EP_CREATE as usize], 1);
    assert_eq!(query(setup.ia, 85, place), OK);
    assert_eq!([DCNT_IA_EP_CREATE, DCNT_IA_PZ_CREATE].map(|counter| out[counter as usize]), [0, 1]);
    assert_eq!(extension(t, setup.ia, DAT_IB_STOP_COUNTERS_OP, &[short(2)]), OK);
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
