//! IAs, PZs, LMRs, RMRs, EVDs, CNOs, endpoints and SRQs.

use dat_provider_common::Version as _;

use super::connection::{attributes, blank_param};
use super::*;

#[test]
fn adapters_are_opened_row_by_row() {
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
    assert_eq!(slot!(t, ia_open_func(name, 0, &mut evd, &mut ia)), arg_error(2));
    assert_eq!(slot!(t, ia_open_func(name, -1, &mut evd, &mut ia)), arg_error(2));
    let too_long = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD);
    assert_eq!(slot!(t, ia_open_func(name, 1001, &mut evd, &mut ia)), too_long);
    assert!(evd.is_null());
    for mut bad in [setup.dto_evd, setup.pz, DAT_EVD_OUT_OF_SCOPE, UNTOUCHED] {
        let before = bad;
        let got = slot!(t, ia_open_func(name, 8, &mut bad, &mut ia));
        assert_eq!(got, handle_error(DAT_INVALID_HANDLE_EVD_ASYNC));
        assert_eq!(bad, before);
    }
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
fn opens_with_new_existing_or_foreign_async_evd() {
    let setup = Setup::new();
    let t = setup.table;
    let name = setup.name.as_ptr().cast_mut();
    let query = |ia| {
        let mut evd = null_mut();
        assert_eq!(slot!(t, ia_query_func(ia, &mut evd, 0, null_mut(), 0, null_mut())), OK);
        evd
    };
    let (mut evd, mut ia) = (setup.async_evd, null_mut());
    assert_eq!(slot!(t, ia_open_func(name, 0, &mut evd, &mut ia)), OK);
    assert_eq!((evd, query(ia)), (setup.async_evd, setup.async_evd));
    assert_eq!(slot!(t, ia_close_func(ia, DAT_CLOSE_GRACEFUL_FLAG)), OK);
    evd = DAT_EVD_ASYNC_EXISTS;
    assert_eq!(slot!(t, ia_open_func(name, 0, &mut evd, &mut ia)), OK);
    assert_eq!((evd, query(ia)), (DAT_EVD_OUT_OF_SCOPE, DAT_EVD_OUT_OF_SCOPE));
    assert_eq!(slot!(t, ia_close_func(ia, DAT_CLOSE_GRACEFUL_FLAG)), OK);
    let in_use = state_error(DAT_INVALID_STATE_EVD_IN_USE);
    assert_eq!(slot!(t, evd_free_func(setup.async_evd)), in_use);
}

#[test]
fn adapters_are_closed_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    assert_eq!(slot!(t, ia_close_func(setup.ia, 2)), arg_error(2));
    let in_use = state_error(DAT_INVALID_STATE_IA_IN_USE);
    assert_eq!(slot!(t, ia_close_func(setup.ia, DAT_CLOSE_GRACEFUL_FLAG)), in_use);
    let ep = setup.ep();
    assert_eq!(slot!(t, ia_close_func(setup.ia, DAT_CLOSE_ABRUPT_FLAG)), OK);
    assert_eq!(slot!(t, ia_close_func(setup.ia, DAT_CLOSE_ABRUPT_FLAG)), handle_error(DAT_INVALID_HANDLE_IA));
    assert_eq!(slot!(t, ep_free_func(ep)), handle_error(DAT_INVALID_HANDLE_EP));
    assert_eq!(slot!(t, pz_free_func(setup.pz)), handle_error(DAT_INVALID_HANDLE_PZ));
}

#[test]
fn queries_attributes() {
    let setup = Setup::new();
    let t = setup.table;
    let ia = setup.ia;
    // SAFETY: zero is valid for integers and pointers.
    let (mut attr, mut provider): (DAT_IA_ATTR, DAT_PROVIDER_ATTR) = unsafe { std::mem::zeroed() };
    let no = null_mut;
    let unknown = DAT_PROVIDER_FIELD_ALL + 1;
    assert_eq!(slot!(t, ia_query_func(ia, null_mut(), DAT_IA_FIELD_ALL + 1, &mut attr, 0, no())), arg_error(3));
    assert_eq!(slot!(t, ia_query_func(ia, null_mut(), 1, null_mut(), 0, no())), arg_error(4));
    assert_eq!(slot!(t, ia_query_func(ia, null_mut(), 0, null_mut(), unknown, &mut provider)), arg_error(5));
    assert_eq!(slot!(t, ia_query_func(ia, null_mut(), 0, null_mut(), 1, no())), arg_error(6));
    assert_eq!(slot!(t, ia_query_func(ia, null_mut(), 0, null_mut(), 0, no())), OK);
    let mut evd = UNTOUCHED;
    assert_eq!(slot!(t, ia_query_func(ia, &mut evd, 1, &mut attr, 1, no())), arg_error(6));
    assert_eq!((evd, attr.max_eps), (UNTOUCHED, 0));
    let all = (DAT_IA_FIELD_ALL, DAT_PROVIDER_FIELD_ALL);
    assert_eq!(slot!(t, ia_query_func(ia, &mut evd, all.0, &mut attr, all.1, &mut provider)), OK);
    assert_eq!(evd, setup.async_evd);
    // SAFETY: the name is terminated within the array.
    assert_eq!(unsafe { std::ffi::CStr::from_ptr(attr.adapter_name.as_ptr()) }, adapter_name(&setup.name));
    assert_eq!((attr.max_eps, attr.max_recv_per_srq, attr.firmware_version_minor), (8, 64, 4));
    assert_eq!(attr.max_rdma_read_per_ep_in_guaranteed, DAT_TRUE);
    assert_eq!(attr.max_rdma_read_per_ep_out_guaranteed, DAT_FALSE);
    assert_eq!((provider.dapl_version_major, provider.dapl_version_minor), (DAT_VERSION_MAJOR, DAT_VERSION_MINOR));
    assert_eq!((provider.srq_supported, provider.srq_watermarks_supported), (DAT_TRUE, 0x111));
    assert_eq!((provider.srq_info_supported, provider.ep_recv_info_supported), (0x11, 0x11));
    assert_eq!(provider.srq_ep_pz_difference_supported, DAT_TRUE);
    assert_eq!((provider.ep_creator, provider.pz_support), (DAT_PSP_CREATES_EP_IFASKED, DAT_PZ_SHAREABLE));
    assert_eq!((provider.is_thread_safe, provider.lmr_sync_req), (DAT_TRUE, DAT_FALSE));
    assert_eq!(provider.max_private_data_size, 100);
    assert!(provider.evd_stream_merging_supported.iter().flatten().all(|&merges| merges == DAT_TRUE));
}

#[test]
fn zones_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    assert_eq!(slot!(t, pz_create_func(setup.ia, null_mut())), arg_error(2));
    let mut param = DAT_PZ_PARAM { ia_handle: null_mut() };
    assert_eq!(slot!(t, pz_query_func(setup.pz, 2, &mut param)), arg_error(2));
    assert_eq!(slot!(t, pz_query_func(setup.pz, DAT_PZ_FIELD_ALL, null_mut())), arg_error(3));
    assert_eq!(slot!(t, pz_query_func(setup.pz, DAT_PZ_FIELD_ALL, &mut param)), OK);
    assert_eq!(param.ia_handle, setup.ia);
    let srq = setup.srq();
    assert_eq!(slot!(t, pz_free_func(setup.pz)), state_error(DAT_INVALID_STATE_PZ_IN_USE));
    assert_eq!(slot!(t, srq_free_func(srq)), OK);
    assert_eq!(slot!(t, pz_free_func(setup.pz)), OK);
}

#[test]
fn regions_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let n = null_mut::<u64>;
    let mut memory = [0_u8; 100];
    let start: DAT_PVOID = memory.as_mut_ptr().cast();
    let va = |address: DAT_PVOID| DAT_REGION_DESCRIPTION { for_va: address };
    let create = |ia, kind, region, length, pz, privileges, out: *mut DAT_LMR_HANDLE| {
        let places = LmrPlaces { context: null_mut(), remote: null_mut(), length: n(), address: n() };
        version::lmr_create(t, ia, kind, region, length, pz, privileges, out, places)
    };
    let mut lmr = UNTOUCHED;
    let all = DAT_MEM_PRIV_ALL_FLAG;
    let other = setup.open();
    let (ia, pz) = (setup.ia, setup.pz);
    let shared = |address, name| DAT_REGION_DESCRIPTION {
        for_shared_memory: DAT_SHARED_MEMORY { virtual_address: address, shared_memory_id: name },
    };
    for (code, ia, kind, region, length, pz, privileges) in [
        (handle_error(DAT_INVALID_HANDLE_PZ), ia, 0, va(start), 100, null_mut(), all),
        (handle_error(DAT_INVALID_HANDLE_PZ), ia, 0, va(start), 100, ia, all),
        (handle_error(DAT_INVALID_HANDLE_PZ), other, 0, va(start), 100, pz, all),
        (arg_error(2), ia, version::OTHER_MEM_TYPE, va(start), 100, pz, all),
        (arg_error(2), ia, 77, va(start), 100, pz, all),
        (arg_error(3), ia, 0, va(null_mut()), 100, pz, all),
        (arg_error(3), ia, DAT_MEM_TYPE_SHARED_VIRTUAL, shared(start, null_mut()), 100, pz, all),
        (arg_error(4), ia, 0, va(start), 0, pz, all),
        (arg_error(4), ia, 0, va(start), u64::MAX, pz, all),
        (arg_error(6), ia, 0, va(start), 100, pz, 0x4),
        (handle_error(DAT_INVALID_HANDLE_LMR), ia, DAT_MEM_TYPE_LMR, va(pz), 0, pz, all),
        (handle_error(DAT_INVALID_HANDLE_LMR), ia, DAT_MEM_TYPE_LMR, va(null_mut()), 0, pz, all),
    ] {
        assert_eq!(create(ia, kind, region, length, pz, privileges, &mut lmr), code);
        assert_eq!(lmr, UNTOUCHED);
    }
    assert_eq!(create(ia, 0, va(start), 100, pz, all, null_mut()), arg_error(version::LMR_HANDLE));
    assert_eq!(create(ia, 0, va(start), 100, pz, version::OTHER_RIGHTS | 1, &mut lmr), OK);
    let (mut context, mut remote, mut length, mut address) = (0, 77, 0, 0);
    let mut second = null_mut();
    let region = DAT_REGION_DESCRIPTION { for_lmr_handle: lmr };
    let places = LmrPlaces { context: &mut context, remote: &mut remote, length: &mut length, address: &mut address };
    let rights = DAT_MEM_PRIV_LOCAL_READ_FLAG;
    let code = version::lmr_create(t, ia, DAT_MEM_TYPE_LMR, region, 0, pz, rights, &mut second, places);
    assert_eq!(code, OK);
    assert_eq!((remote, length, address), (0, 100, start.addr() as u64));
    assert_ne!(context, 0);
    // SAFETY: zero is valid for integers and pointers.
    let mut param: DAT_LMR_PARAM = unsafe { std::mem::zeroed() };
    assert_eq!(slot!(t, lmr_query_func(second, DAT_LMR_FIELD_ALL + 1, &mut param)), arg_error(2));
    assert_eq!(slot!(t, lmr_query_func(second, DAT_LMR_FIELD_ALL, null_mut())), arg_error(3));
    assert_eq!(slot!(t, lmr_query_func(second, DAT_LMR_FIELD_ALL, &mut param)), OK);
    assert_eq!((param.ia_handle, param.pz_handle, param.mem_type), (ia, pz, DAT_MEM_TYPE_LMR));
    assert_eq!((param.mem_priv, param.lmr_context, param.length), (DAT_MEM_PRIV_LOCAL_READ_FLAG, context, 100));
    // SAFETY: the kind of memory selects this member.
    assert_eq!(unsafe { param.region_desc.for_lmr_handle }, lmr);

    let mut cookie = [5; DAT_LMR_COOKIE_SIZE];
    let mut third = null_mut();
    let kind = DAT_MEM_TYPE_SHARED_VIRTUAL;
    assert_eq!(create(ia, kind, shared(start, &mut cookie), 100, pz, all, &mut third), OK);
    cookie = [0; DAT_LMR_COOKIE_SIZE];
    assert_eq!(slot!(t, lmr_query_func(third, DAT_LMR_FIELD_ALL, &mut param)), OK);
    // SAFETY: the kind of memory selects this member.
    let told = unsafe { param.region_desc.for_shared_memory };
    // SAFETY: valid while the region exists.
    assert_eq!(unsafe { *told.shared_memory_id }, [5; DAT_LMR_COOKIE_SIZE]);
    assert_eq!((told.virtual_address, cookie[0]), (start, 0));

    let segment = |address, length| version::lmr_triplet(context, address, length);
    let first = start.addr() as u64;
    let good = [segment(first, 100), segment(0, 0), segment(first + 99, 1)];
    let bad = [segment(first, 100), segment(first, 101)];
    for sync in [t.lmr_sync_rdma_read_func, t.lmr_sync_rdma_write_func] {
        let sync = |list: &[DAT_LMR_TRIPLET]| {
            // SAFETY: the count is the length of the slice.
            unsafe { sync.unwrap()(ia, list.as_ptr(), list.len() as u64) }
        };
        assert_eq!(sync(&good), OK);
        assert_eq!(sync(&bad), arg_error(2));
        assert_eq!(sync(&[]), OK);
    }
    assert_eq!(slot!(t, lmr_sync_rdma_read_func(ia, null(), 0)), OK);
    assert_eq!(slot!(t, lmr_sync_rdma_read_func(ia, null(), 1)), arg_error(2));
    assert_eq!(slot!(t, lmr_free_func(lmr)), OK);
    assert_eq!(slot!(t, lmr_free_func(second)), OK);
}

#[test]
fn remote_regions_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    assert_eq!(slot!(t, rmr_create_func(setup.pz, null_mut())), arg_error(2));
    let rmr = setup.rmr();
    // SAFETY: zero is valid for integers and pointers.
    let mut param: DAT_RMR_PARAM = unsafe { std::mem::zeroed() };
    param.rmr_context = 7;
    assert_eq!(slot!(t, rmr_query_func(rmr, DAT_RMR_FIELD_ALL + 1, &mut param)), arg_error(2));
    assert_eq!(slot!(t, rmr_query_func(rmr, DAT_RMR_FIELD_ALL, null_mut())), arg_error(3));
    assert_eq!(slot!(t, rmr_query_func(rmr, DAT_RMR_FIELD_ALL, &mut param)), OK);
    assert_eq!((param.ia_handle, param.pz_handle), (setup.ia, setup.pz));
    assert_eq!((param.rmr_context, param.lmr_triplet.segment_length, param.mem_priv), (0, 0, 0));
    assert_eq!(slot!(t, pz_free_func(setup.pz)), state_error(DAT_INVALID_STATE_PZ_IN_USE));
    assert_eq!(slot!(t, rmr_free_func(rmr)), OK);
    assert_eq!(slot!(t, rmr_free_func(rmr)), handle_error(DAT_INVALID_HANDLE_RMR));
}

#[test]
fn dispatchers_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let (ia, cno, no) = (setup.ia, setup.cno(), null_mut());
    let other = setup.open();
    let mut evd = UNTOUCHED;
    for (code, ia, qlen, cno, flags) in [
        (handle_error(DAT_INVALID_HANDLE_CNO), ia, 8, setup.pz, DAT_EVD_DTO_FLAG),
        (handle_error(DAT_INVALID_HANDLE_CNO), other, 8, cno, DAT_EVD_DTO_FLAG),
        (arg_error(2), ia, 0, no, DAT_EVD_DTO_FLAG),
        (arg_error(2), ia, -1, no, DAT_EVD_DTO_FLAG),
        (arg_error(4), ia, 8, no, 0),
        (arg_error(4), ia, 8, no, version::UNKNOWN_STREAM),
        (DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD), ia, 1001, no, DAT_EVD_DTO_FLAG),
    ] {
        assert_eq!(slot!(t, evd_create_func(ia, qlen, cno, flags, &mut evd)), code);
        assert_eq!(evd, UNTOUCHED);
    }
    assert_eq!(slot!(t, evd_create_func(ia, 8, no, DAT_EVD_DTO_FLAG, null_mut())), arg_error(5));
    let flags = DAT_EVD_DEFAULT_FLAG | DAT_EVD_SOFTWARE_FLAG;
    assert_eq!(slot!(t, evd_create_func(ia, 8, cno, flags, &mut evd)), OK);
    let mut param = DAT_EVD_PARAM { ia_handle: no, evd_qlen: 0, evd_state: 0, cno_handle: no, evd_flags: 0 };
    assert_eq!(slot!(t, evd_query_func(evd, 0x20, &mut param)), arg_error(2));
    assert_eq!(slot!(t, evd_query_func(evd, DAT_EVD_FIELD_ALL, null_mut())), arg_error(3));
    let mut query = || {
        assert_eq!(slot!(t, evd_query_func(evd, DAT_EVD_FIELD_ALL, &mut param)), OK);
        assert_eq!((param.ia_handle, param.evd_flags), (ia, flags));
        (param.evd_qlen >= 8, param.evd_state, param.cno_handle)
    };
    assert_eq!(query(), (true, DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_WAITABLE, cno));
    assert_eq!(slot!(t, evd_disable_func(evd)), OK);
    assert_eq!(slot!(t, evd_set_unwaitable_func(evd)), OK);
    assert_eq!(query(), (true, DAT_EVD_STATE_DISABLED | DAT_EVD_STATE_UNWAITABLE, cno));
    assert_eq!(slot!(t, evd_enable_func(evd)), OK);
    assert_eq!(slot!(t, evd_clear_unwaitable_func(evd)), OK);

    assert_eq!(slot!(t, cno_free_func(cno)), state_error(DAT_INVALID_STATE_CNO_IN_USE));
    assert_eq!(slot!(t, evd_modify_cno_func(evd, setup.pz)), handle_error(DAT_INVALID_HANDLE_CNO));
    assert_eq!(slot!(t, evd_modify_cno_func(evd, cno)), OK);
    assert_eq!(slot!(t, evd_modify_cno_func(evd, null_mut())), OK);
    assert_eq!(query(), (true, DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_WAITABLE, no));
    assert_eq!(slot!(t, cno_free_func(cno)), OK);

    let mut software = blank_event();
    assert_eq!(slot!(t, evd_post_se_func(evd, null())), arg_error(2));
    assert_eq!(slot!(t, evd_post_se_func(evd, &software)), arg_error(2));
    software.event_number = DAT_SOFTWARE_EVENT;
    software.event_data = DAT_EVENT_DATA { software_event_data: DAT_SOFTWARE_EVENT_DATA { pointer: UNTOUCHED } };
    assert_eq!(slot!(t, evd_post_se_func(setup.dto_evd, &software)), arg_error(1));
    assert_eq!(slot!(t, evd_resize_func(evd, 2)), OK);
    for _ in 0..2 {
        assert_eq!(slot!(t, evd_post_se_func(evd, &software)), OK);
    }
    assert_eq!(slot!(t, evd_post_se_func(evd, &software)), DAT_ERROR(DAT_QUEUE_FULL, 0));
    assert_eq!(slot!(t, evd_resize_func(evd, 1)), state_error(0));
    assert_eq!(slot!(t, evd_resize_func(evd, 0)), arg_error(2));
    assert_eq!(slot!(t, evd_resize_func(evd, -5)), arg_error(2));
    let event = setup.dequeue(evd).expect("a software event");
    assert_eq!((event.event_number, event.evd_handle), (DAT_SOFTWARE_EVENT, evd));
    // SAFETY: the event number selects this member.
    assert_eq!(unsafe { event.event_data.software_event_data.pointer }, UNTOUCHED);
    assert_eq!(slot!(t, evd_free_func(evd)), OK);
}

#[test]
fn notification_objects_row_by_row() {
    unsafe extern "C" fn agent(_: DAT_PVOID, _: DAT_EVD_HANDLE) {}
    let setup = Setup::new();
    let t = setup.table;
    let bad = DAT_OS_WAIT_PROXY_AGENT { instance_data: UNTOUCHED, proxy_agent_func: None };
    let good = DAT_OS_WAIT_PROXY_AGENT { instance_data: UNTOUCHED, proxy_agent_func: Some(agent) };
    let mut cno = UNTOUCHED;
    assert_eq!(slot!(t, cno_create_func(setup.ia, bad, &mut cno)), arg_error(2));
    assert_eq!(slot!(t, cno_create_func(setup.ia, good, null_mut())), arg_error(3));
    assert_eq!(slot!(t, cno_create_func(setup.ia, good, &mut cno)), OK);
    // SAFETY: zero is valid for integers and pointers.
    let mut param: DAT_CNO_PARAM = unsafe { std::mem::zeroed() };
    assert_eq!(slot!(t, cno_query_func(cno, version::UNKNOWN_CNO_FIELD, &mut param)), arg_error(2));
    assert_eq!(slot!(t, cno_query_func(cno, DAT_CNO_FIELD_ALL, null_mut())), arg_error(3));
    assert_eq!(slot!(t, cno_query_func(cno, DAT_CNO_FIELD_ALL, &mut param)), OK);
    assert_eq!((param.ia_handle, version::agent(&param).instance_data), (setup.ia, UNTOUCHED));
    let address = |f: DAT_AGENT_FUNC| f.map_or(0, |f| (f as *const ()).addr());
    assert_eq!(address(version::agent(&param).proxy_agent_func), address(Some(agent)));
    assert_eq!(slot!(t, cno_modify_agent_func(cno, bad)), arg_error(2));
    assert_eq!(slot!(t, cno_modify_agent_func(cno, DAT_OS_WAIT_PROXY_AGENT_NULL)), OK);
    assert_eq!(slot!(t, cno_query_func(cno, DAT_CNO_FIELD_ALL, &mut param)), OK);
    assert!(version::agent(&param).proxy_agent_func.is_none());
}

#[test]
fn endpoints_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let (ia, pz, dto, con, no) = (setup.ia, setup.pz, setup.dto_evd, setup.connect_evd, null_mut());
    let other = setup.open();
    let mut ep = UNTOUCHED;
    for (code, ia, pz, recv, request, connect) in [
        (handle_error(DAT_INVALID_HANDLE_PZ), ia, dto, dto, dto, con),
        (handle_error(DAT_INVALID_HANDLE_PZ), other, pz, no, no, no),
        (handle_error(DAT_INVALID_HANDLE_EVD_CONN), ia, pz, dto, dto, dto),
        (handle_error(DAT_INVALID_HANDLE_EVD_RECV), other, no, dto, no, con),
        (handle_error(DAT_INVALID_HANDLE_EVD_REQUEST), other, no, no, dto, con),
        (handle_error(DAT_INVALID_HANDLE_EVD_RECV), ia, pz, con, dto, con),
        (handle_error(DAT_INVALID_HANDLE_EVD_RECV), ia, pz, pz, dto, con),
        (handle_error(DAT_INVALID_HANDLE_EVD_REQUEST), ia, pz, dto, con, con),
    ] {
        assert_eq!(slot!(t, ep_create_func(ia, pz, recv, request, connect, null(), &mut ep)), code);
        assert_eq!(ep, UNTOUCHED);
    }
    assert_eq!(slot!(t, ep_create_func(ia, pz, dto, dto, con, null(), null_mut())), arg_error(7));
    let change = |change: fn(&mut DAT_EP_ATTR)| {
        let mut attr = attributes();
        change(&mut attr);
        attr
    };
    for bad in [
        change(|a| a.service_type = version::UNKNOWN_SERVICE),
        change(|a| a.max_message_size = !0),
        change(|a| a.max_recv_dtos = 0),
        change(|a| a.max_recv_dtos = 65),
        change(|a| a.max_request_dtos = -1),
        change(|a| a.max_recv_iov = 0),
        change(|a| a.max_request_iov = 9),
        change(|a| a.recv_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG),
        change(|a| a.qos = 0x10),
        change(|a| a.max_rdma_read_in = 5),
        change(|a| a.srq_soft_hw = -2),
        change(|a| a.ep_transport_specific_count = 1),
        change(|a| a.ep_provider_specific_count = -1),
    ] {
        assert_eq!(slot!(t, ep_create_func(ia, pz, dto, dto, con, &bad, &mut ep)), arg_error(6));
    }
    let qos = change(|a| a.qos = DAT_QOS_PREMIUM);
    assert_eq!(slot!(t, ep_create_func(ia, pz, dto, dto, con, &qos, &mut ep)), DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, 0));
    assert_eq!(ep, UNTOUCHED);
    assert_eq!(slot!(t, ep_create_func(ia, pz, dto, dto, con, &attributes(), &mut ep)), OK);
    let mut param = blank_param();
    for unknown in version::UNKNOWN_EP_FIELDS {
        assert_eq!(slot!(t, ep_query_func(ep, unknown, &mut param)), arg_error(2));
    }
    assert_eq!(slot!(t, ep_query_func(ep, DAT_EP_FIELD_ALL, null_mut())), arg_error(3));
    assert_eq!(slot!(t, ep_query_func(ep, DAT_EP_FIELD_ALL, &mut param)), OK);
    assert_eq!((param.ia_handle, param.pz_handle, param.srq_handle), (ia, pz, no));
    assert_eq!((param.recv_evd_handle, param.request_evd_handle, param.connect_evd_handle), (dto, dto, con));
    assert_eq!((param.ep_attr.max_recv_dtos, param.ep_attr.max_request_iov), (8, 2));
    let (mut recv, mut request) = (9, 9);
    assert_eq!(slot!(t, ep_get_status_func(ep, null_mut(), &mut recv, &mut request)), OK);
    assert_eq!((recv, request), (DAT_TRUE, DAT_TRUE));
    assert_eq!(slot!(t, ep_post_recv_func(ep, 0, null_mut(), word(0), 0)), OK);
    assert_eq!(slot!(t, ep_get_status_func(ep, null_mut(), &mut recv, &mut request)), OK);
    assert_eq!((recv, request), (DAT_FALSE, DAT_TRUE));
    let (mut allocated, mut span) = (9, 9);
    assert_eq!(slot!(t, ep_recv_query_func(ep, &mut allocated, null_mut())), OK);
    assert_eq!(slot!(t, ep_recv_query_func(ep, null_mut(), &mut span)), OK);
    assert_eq!((allocated, span), (1, 1));
    assert_eq!(slot!(t, ep_set_watermark_func(ep, -2, -1)), arg_error(2));
    assert_eq!(slot!(t, ep_set_watermark_func(ep, -1, -2)), arg_error(3));
    assert_eq!(slot!(t, ep_set_watermark_func(ep, 0, -1)), OK);
    let event = setup.dequeue(setup.async_evd).expect("the watermark is passed");
    assert_eq!(event.event_number, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR);
    // SAFETY: the event number selects this member.
    let data = unsafe { event.event_data.asynch_error_event_data };
    assert_eq!((data.dat_handle, data.reason), (ep, 2));
    assert_eq!(slot!(t, ep_free_func(ep)), OK);
}

#[test]
fn modifies_only_masked_endpoint_fields() {
    let setup = Setup::new();
    let t = setup.table;
    let ep = setup.ep();
    let mut param = blank_param();
    let modify = |mask, param: *const DAT_EP_PARAM| slot!(t, ep_modify_func(ep, mask, param));
    assert_eq!(modify(0, null()), OK);
    assert_eq!(modify(DAT_EP_FIELD_PZ_HANDLE, null()), arg_error(3));
    let never = [DAT_EP_FIELD_SRQ_HANDLE, DAT_EP_FIELD_IA_HANDLE];
    for bad in version::UNKNOWN_EP_FIELDS.into_iter().chain(never) {
        assert_eq!(modify(bad, &param), arg_error(2), "{bad:#x}");
    }
    for (mask, bad) in [
        (DAT_EP_FIELD_PZ_HANDLE, DAT_EP_PARAM { pz_handle: UNTOUCHED, ..param }),
        (DAT_EP_FIELD_PZ_HANDLE, DAT_EP_PARAM { pz_handle: setup.dto_evd, ..param }),
        (DAT_EP_FIELD_RECV_EVD_HANDLE, DAT_EP_PARAM { recv_evd_handle: setup.pz, ..param }),
        (DAT_EP_FIELD_REQUEST_EVD_HANDLE, DAT_EP_PARAM { request_evd_handle: setup.connect_evd, ..param }),
        (DAT_EP_FIELD_CONNECT_EVD_HANDLE, DAT_EP_PARAM { connect_evd_handle: setup.dto_evd, ..param }),
    ] {
        assert_eq!(modify(mask, &bad), arg_error(3), "{mask:#x}");
    }
    let change = |change: fn(&mut DAT_EP_ATTR)| {
        let mut changed = param;
        change(&mut changed.ep_attr);
        changed
    };
    for soft in [0, -2, 3] {
        let mut bad = param;
        bad.ep_attr.srq_soft_hw = soft;
        assert_eq!(modify(DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW, &bad), arg_error(2), "{soft}");
    }
    for (mask, bad) in [
        (DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE, change(|a| a.max_rdma_size = !0)),
        (DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, change(|a| a.service_type = version::UNKNOWN_SERVICE)),
        (DAT_EP_FIELD_EP_ATTR_QOS, change(|a| a.qos = DAT_QOS_PREMIUM)),
        (DAT_EP_FIELD_EP_ATTR_QOS, change(|a| a.qos = 0x10)),
        (DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, change(|a| a.max_recv_dtos = -1)),
        (DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR, change(|a| a.ep_transport_specific_count = 1)),
        (DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR, change(|a| a.ep_provider_specific = UNTOUCHED.cast())),
    ] {
        assert_eq!(modify(mask, &bad), arg_error(3), "{mask:#x}");
    }
    let list = change(|a| a.ep_provider_specific = UNTOUCHED.cast());
    let both = DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR | DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR;
    assert_eq!(modify(both, &list), OK);
    param.pz_handle = UNTOUCHED;
    param.ep_attr.max_recv_dtos = 33;
    assert_eq!(modify(DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param), OK);
    let mut got = blank_param();
    assert_eq!(slot!(t, ep_query_func(ep, DAT_EP_FIELD_ALL, &mut got)), OK);
    assert_eq!((got.ep_attr.max_recv_dtos, got.pz_handle), (33, setup.pz));
    param.pz_handle = null_mut();
    assert_eq!(modify(DAT_EP_FIELD_PZ_HANDLE, &param), OK);
    assert_eq!(slot!(t, pz_free_func(setup.pz)), OK);
    // An endpoint accepts the attributes that a query returned.
    assert_eq!(slot!(t, ep_query_func(ep, DAT_EP_FIELD_ALL, &mut got)), OK);
    assert_eq!(modify(DAT_EP_FIELD_EP_ATTR_ALL, &got), OK);
}

#[test]
fn shared_receive_queues_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let (ia, pz) = (setup.ia, setup.pz);
    let other = setup.open();
    let mut srq = UNTOUCHED;
    let attr = |dtos, iov, low| DAT_SRQ_ATTR { max_recv_dtos: dtos, max_recv_iov: iov, low_watermark: low };
    let mut good = attr(10, 2, 0);
    assert_eq!(slot!(t, srq_create_func(ia, null_mut(), &mut good, &mut srq)), handle_error(DAT_INVALID_HANDLE_PZ));
    assert_eq!(slot!(t, srq_create_func(other, pz, &mut good, &mut srq)), handle_error(DAT_INVALID_HANDLE_PZ));
    assert_eq!(slot!(t, srq_create_func(ia, pz, null_mut(), &mut srq)), arg_error(3));
    assert_eq!(slot!(t, srq_create_func(ia, pz, &mut good, null_mut())), arg_error(4));
    for mut bad in [
        attr(0, 2, 0),
        attr(-1, 2, 0),
        attr(65, 2, 0),
        attr(10, 0, 0),
        attr(10, -1, 0),
        attr(10, 9, 0),
        attr(10, 2, 1),
        attr(10, 2, -1),
    ] {
        assert_eq!(slot!(t, srq_create_func(ia, pz, &mut bad, &mut srq)), arg_error(3), "{bad:?}");
    }
    assert_eq!(srq, UNTOUCHED);
    let srq = setup.srq();
    // SAFETY: zero is valid for integers and pointers.
    let mut param: DAT_SRQ_PARAM = unsafe { std::mem::zeroed() };
    assert_eq!(slot!(t, srq_query_func(srq, 0x100, &mut param)), arg_error(2));
    assert_eq!(slot!(t, srq_query_func(srq, DAT_SRQ_FIELD_ALL, null_mut())), arg_error(3));
    let mut memory = [0_u8; 8];
    let (_, context) = setup.lmr(&mut memory, DAT_MEM_PRIV_ALL_FLAG);
    let segment = version::lmr_triplet(context, memory.as_ptr().addr() as u64, 8);
    let mut list = [segment; 3];
    let mut far = DAT_LMR_TRIPLET { segment_length: 9, ..segment };
    let post = |count, list: *mut DAT_LMR_TRIPLET| slot!(t, srq_post_recv_func(srq, count, list, word(0)));
    assert_eq!(post(-1, &mut list[0]), arg_error(2));
    assert_eq!(post(3, &mut list[0]), arg_error(2));
    assert_eq!(post(1, null_mut()), arg_error(3));
    assert_eq!(post(1, &mut far), arg_error(3));
    assert_eq!(post(0, null_mut()), OK);
    assert_eq!(post(2, &mut list[0]), OK);
    assert_eq!(post(1, &mut list[0]), OK);
    assert_eq!(slot!(t, srq_query_func(srq, DAT_SRQ_FIELD_ALL, &mut param)), OK);
    assert_eq!((param.ia_handle, param.pz_handle, param.srq_state), (ia, pz, DAT_SRQ_STATE_OPERATIONAL));
    assert_eq!((param.max_recv_dtos, param.max_recv_iov, param.low_watermark), (10, 2, 0));
    assert_eq!((param.available_dto_count, param.outstanding_dto_count), (3, 3));
    for bad in [0, -1, 65] {
        assert_eq!(slot!(t, srq_resize_func(srq, bad)), arg_error(2));
    }
    assert_eq!(slot!(t, srq_resize_func(srq, 2)), state_error(0));
    assert_eq!(slot!(t, srq_resize_func(srq, 3)), OK);
    assert_eq!(post(0, null_mut()), DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY));
    assert_eq!(slot!(t, srq_resize_func(srq, 20)), OK);
    assert_eq!(slot!(t, srq_set_lw_func(srq, -1)), arg_error(2));
    assert_eq!(slot!(t, srq_set_lw_func(srq, 21)), arg_error(2));
    assert_eq!(slot!(t, srq_set_lw_func(srq, 3)), OK);
    assert!(setup.dequeue(setup.async_evd).is_none());
    assert_eq!(slot!(t, srq_set_lw_func(srq, 4)), OK);
    let event = setup.dequeue(setup.async_evd).expect("the watermark is undercut");
    // SAFETY: the event number selects this member.
    let data = unsafe { event.event_data.asynch_error_event_data };
    assert_eq!((event.event_number, data.dat_handle, data.reason), (0x08005, srq, 2));
}

#[test]
fn endpoints_with_shared_receive_queues_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let (ia, pz, srq) = (setup.ia, setup.pz, setup.srq());
    let (dto, con, mut ep) = (setup.dto_evd, setup.connect_evd, UNTOUCHED);
    let mut attr = attributes();
    attr.max_recv_dtos = DAT_HW_DEFAULT;
    let create = |ia, srq, attr: *const DAT_EP_ATTR, out: *mut DAT_EP_HANDLE| {
        slot!(t, ep_create_with_srq_func(ia, pz, dto, dto, con, srq, attr, out))
    };
    let bad_srq = handle_error(DAT_INVALID_HANDLE_SRQ);
    assert_eq!(create(ia, null_mut(), &attr, &mut ep), bad_srq);
    assert_eq!(create(ia, pz, &attr, &mut ep), bad_srq);
    if Tested::SRQ_DEFAULTS {
        assert_eq!(create(ia, srq, null(), null_mut()), arg_error(8));
        assert_eq!(create(ia, srq, null(), &mut ep), OK);
        assert_eq!(slot!(t, ep_free_func(ep)), OK);
        ep = UNTOUCHED;
    } else {
        assert_eq!(create(ia, srq, null(), &mut ep), arg_error(7));
    }
    assert_eq!(create(ia, srq, &DAT_EP_ATTR { max_recv_dtos: -2, ..attr }, &mut ep), arg_error(7));
    assert_eq!(create(ia, srq, &attr, null_mut()), arg_error(8));
    assert_eq!(ep, UNTOUCHED);
    assert_eq!(create(ia, srq, &attr, &mut ep), OK);
    assert_eq!(slot!(t, ep_post_recv_func(ep, 0, null_mut(), word(0), 0)), state_error(0));
    assert_eq!(slot!(t, srq_free_func(srq)), state_error(DAT_INVALID_STATE_SRQ_IN_USE));
    assert_eq!(slot!(t, ep_free_func(ep)), OK);
    assert_eq!(slot!(t, srq_free_func(srq)), OK);
    assert_eq!(slot!(t, srq_free_func(srq)), bad_srq);
}
