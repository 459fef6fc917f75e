//! Zero-based regions, regions for one endpoint, and operations with remote keys.

use std::ptr::{null, null_mut};

use dat_udat20::*;

use crate::slots::{OK, Setup, UNTOUCHED, arg_error, connection, handle_error, slot};
use crate::version;

#[test]
fn zero_based_regions_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let mut memory = [0_u8; 64];
    let region = DAT_REGION_DESCRIPTION { for_va: memory.as_mut_ptr().cast() };
    let (mut lmr, mut context, mut address) = (UNTOUCHED, 0, 7);
    let mut create = |va_type, lmr: &mut DAT_LMR_HANDLE| {
        let (n, all) = (null_mut(), DAT_MEM_PRIV_ALL_FLAG);
        slot!(
            t,
            lmr_create_func(
                setup.ia,
                0,
                region,
                64,
                setup.pz,
                all,
                va_type,
                lmr,
                &mut context,
                null_mut(),
                n,
                &mut address
            )
        )
    };
    assert_eq!(create(2, &mut lmr), arg_error(7));
    assert_eq!(lmr, UNTOUCHED);
    assert_eq!(create(DAT_VA_TYPE_ZB, &mut lmr), OK);
    assert_eq!(address, 0);
    // SAFETY: zero is valid for integers and pointers.
    let mut param: DAT_LMR_PARAM = unsafe { std::mem::zeroed() };
    assert_eq!(slot!(t, lmr_query_func(lmr, DAT_LMR_FIELD_ALL, &mut param)), OK);
    assert_eq!((param.va_type, param.registered_address, param.registered_size), (DAT_VA_TYPE_ZB, 0, 64));
    let segments = [version::lmr_triplet(context, 0, 64), version::lmr_triplet(context, 63, 1)];
    assert_eq!(slot!(t, lmr_sync_rdma_read_func(setup.ia, &segments[0], 2)), OK);
    for bad in [version::lmr_triplet(context, 1, 64), version::lmr_triplet(context, u64::MAX, 1)] {
        assert_eq!(slot!(t, lmr_sync_rdma_read_func(setup.ia, &bad, 1)), arg_error(2));
    }

    let ep = setup.ep();
    connection::establish(&setup, ep);
    let rmr = setup.rmr();
    // SAFETY: zero is valid for integers and pointers.
    let mut param: DAT_RMR_PARAM = unsafe { std::mem::zeroed() };
    let query = |param: &mut DAT_RMR_PARAM| {
        assert_eq!(slot!(t, rmr_query_func(rmr, DAT_RMR_FIELD_ALL, param)), OK);
        (param.va_type, param.lmr_triplet.virtual_address, param.lmr_triplet.segment_length, param.rmr_scope)
    };
    assert_eq!(query(&mut param), (DAT_VA_TYPE_VA, 0, 0, DAT_RMR_SCOPE_PZ));
    let mut bound = 0;
    let mut bind = |lmr, va_type, triplet: &DAT_LMR_TRIPLET| {
        let (rights, cookie) = (DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_CONTEXT { as_64: 1 });
        slot!(t, rmr_bind_func(rmr, lmr, triplet, rights, va_type, ep, cookie, 0, &mut bound))
    };
    let half = version::lmr_triplet(context, 32, 32);
    let mut other = [0_u8; 8];
    let (other, _) = setup.lmr(&mut other, DAT_MEM_PRIV_ALL_FLAG);
    assert_eq!(bind(null_mut(), DAT_VA_TYPE_ZB, &half), handle_error(DAT_INVALID_HANDLE_LMR));
    assert_eq!(bind(other, DAT_VA_TYPE_ZB, &half), arg_error(3));
    assert_eq!(bind(lmr, 2, &half), arg_error(5));
    assert_eq!(bind(lmr, DAT_VA_TYPE_ZB, &half), OK);
    assert_eq!(query(&mut param), (DAT_VA_TYPE_ZB, 32, 32, DAT_RMR_SCOPE_PZ));
    assert_eq!(bind(null_mut(), 77, &version::lmr_triplet(0, 0, 0)), OK);
    assert_eq!(query(&mut param), (DAT_VA_TYPE_VA, 0, 0, DAT_RMR_SCOPE_PZ));
}

#[test]
fn regions_for_one_endpoint_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let mut rmr = UNTOUCHED;
    assert_eq!(slot!(t, rmr_create_for_ep_func(setup.pz, null_mut())), arg_error(2));
    assert_eq!(slot!(t, rmr_create_for_ep_func(setup.pz, &mut rmr)), OK);
    // SAFETY: zero is valid for integers and pointers.
    let mut param: DAT_RMR_PARAM = unsafe { std::mem::zeroed() };
    assert_eq!(slot!(t, rmr_query_func(rmr, DAT_RMR_FIELD_ALL, &mut param)), OK);
    assert_eq!(param.rmr_scope, DAT_RMR_SCOPE_EP);
    let mut memory = [0_u8; 64];
    let start = memory.as_ptr().addr() as u64;
    let (lmr, context) = setup.lmr(&mut memory, DAT_MEM_PRIV_ALL_FLAG);
    let triplet = version::lmr_triplet(context, start, 64);
    let (one, other) = (setup.ep(), setup.ep());
    let mut bound = 0;
    let mut bind = |ep| {
        let (rights, cookie) = (DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_CONTEXT { as_64: 1 });
        slot!(t, rmr_bind_func(rmr, lmr, &triplet, rights, DAT_VA_TYPE_VA, ep, cookie, 0, &mut bound))
    };
    connection::establish(&setup, one);
    assert_eq!(bind(one), OK);
    connection::establish(&setup, other);
    assert_eq!(bind(other), arg_error(6));
}

#[test]
fn sends_that_invalidate_and_reads_to_regions_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let mut memory = [0_u8; 64];
    let start = memory.as_ptr().addr() as u64;
    let (lmr, context) = setup.lmr(&mut memory, DAT_MEM_PRIV_ALL_FLAG);
    let mut good = version::lmr_triplet(context, start, 8);
    let (cookie, ep) = (DAT_CONTEXT { as_64: 1 }, setup.ep());
    let send = |count, list: *mut DAT_LMR_TRIPLET, flags, invalidate| {
        slot!(t, ep_post_send_with_invalidate_func(ep, count, list, cookie, flags, invalidate, 7))
    };
    // SAFETY: zero is valid for integers and pointers.
    let mut param: DAT_LMR_PARAM = unsafe { std::mem::zeroed() };
    assert_eq!(slot!(t, lmr_query_func(lmr, DAT_LMR_FIELD_ALL, &mut param)), OK);
    let (local, there) = (version::rmr_triplet(param.rmr_context, start, 8), version::rmr_triplet(3, 1 << 40, 8));
    let read = |local: *const DAT_RMR_TRIPLET, remote: *const DAT_RMR_TRIPLET, flags| {
        slot!(t, ep_post_rdma_read_to_rmr_func(ep, local, cookie, remote, flags))
    };
    let unconnected = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED);
    assert_eq!([send(1, &mut good, 0, DAT_FALSE), send(1, &mut good, 0, DAT_TRUE)], [unconnected; 2]);
    assert_eq!(read(&local, &there, 0), unconnected);
    connection::establish(&setup, ep);
    for invalidate in [DAT_FALSE, DAT_TRUE] {
        assert_eq!(send(-1, &mut good, 0, invalidate), arg_error(2));
        assert_eq!(send(1, null_mut(), 0, invalidate), arg_error(3));
        assert_eq!(send(1, &mut good, 0x40, invalidate), arg_error(5));
        assert_eq!(send(1, &mut good, 0, invalidate), OK);
    }
    assert_eq!(send(1, &mut good, 0, 2), arg_error(6));
    assert_eq!(read(null(), &there, 0), arg_error(2));
    assert_eq!(read(&local, null(), 0), arg_error(4));
    assert_eq!(read(&local, &there, DAT_COMPLETION_SOLICITED_WAIT_FLAG), arg_error(5));
    let beyond = version::rmr_triplet(param.rmr_context, start, 65);
    assert_eq!(read(&beyond, &there, 0), arg_error(2));
    let unknown = DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE);
    assert_eq!(read(&there, &there, 0), unknown);
    assert_eq!(read(&local, &there, 0), OK);
}
