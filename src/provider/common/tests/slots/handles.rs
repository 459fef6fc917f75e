//! Handles: which are accepted, and the subtype of the error for others.

use super::*;

/// The name of a slot, the subtype for its first argument, and a call with the other arguments.
pub type Call = (&'static str, DAT_RETURN_SUBTYPE, Box<dyn Fn(DAT_HANDLE) -> DAT_RETURN>);

/// Builds the [`Call`]s of slots of the table `$t`.
macro_rules! rows {
    ($t:expr; $($slot:ident $subtype:ident ($($argument:expr),*);)*) => {
        vec![$((
            stringify!($slot),
            $subtype,
            Box::new(move |handle: DAT_HANDLE| slot!($t, $slot(handle $(, $argument)*))) as Box<dyn Fn(_) -> _>,
        )),*]
    };
}
pub(crate) use rows;

/// Returns every slot whose first argument is a handle. The other arguments are invalid too, which fails a slot that
/// checks them first.
fn calls(t: &'static DAT_PROVIDER) -> Vec<Call> {
    let n = || null_mut();
    let mut calls: Vec<Call> = rows! { t;
        ia_query_func DAT_INVALID_HANDLE_IA (null_mut(), !0, null_mut(), !0, null_mut());
        ia_close_func DAT_INVALID_HANDLE_IA (9);
        set_consumer_context_func DAT_INVALID_HANDLE1 (word(1));
        get_consumer_context_func DAT_INVALID_HANDLE1 (null_mut());
        get_handle_type_func DAT_INVALID_HANDLE1 (null_mut());
        cno_create_func DAT_INVALID_HANDLE_IA (DAT_OS_WAIT_PROXY_AGENT_NULL, null_mut());
        cno_modify_agent_func DAT_INVALID_HANDLE_CNO (DAT_OS_WAIT_PROXY_AGENT_NULL);
        cno_query_func DAT_INVALID_HANDLE_CNO (!0, null_mut());
        cno_free_func DAT_INVALID_HANDLE_CNO ();
        cno_wait_func DAT_INVALID_HANDLE_CNO (0, null_mut());
        cr_query_func DAT_INVALID_HANDLE_CR (!0, null_mut());
        cr_accept_func DAT_INVALID_HANDLE_CR (n(), -1, null_mut());
        cr_handoff_func DAT_INVALID_HANDLE_CR (0);
        evd_create_func DAT_INVALID_HANDLE_IA (0, n(), 0, null_mut());
        evd_query_func DAT_INVALID_HANDLE1 (!0, null_mut());
        evd_modify_cno_func DAT_INVALID_HANDLE1 (UNTOUCHED);
        evd_enable_func DAT_INVALID_HANDLE1 ();
        evd_disable_func DAT_INVALID_HANDLE1 ();
        evd_wait_func DAT_INVALID_HANDLE1 (0, 0, null_mut(), null_mut());
        evd_resize_func DAT_INVALID_HANDLE1 (0);
        evd_post_se_func DAT_INVALID_HANDLE1 (null());
        evd_dequeue_func DAT_INVALID_HANDLE1 (null_mut());
        evd_free_func DAT_INVALID_HANDLE1 ();
        evd_set_unwaitable_func DAT_INVALID_HANDLE1 ();
        evd_clear_unwaitable_func DAT_INVALID_HANDLE1 ();
        ep_create_func DAT_INVALID_HANDLE_IA (UNTOUCHED, n(), n(), n(), null(), null_mut());
        ep_create_with_srq_func DAT_INVALID_HANDLE_IA (UNTOUCHED, n(), n(), n(), n(), null(), null_mut());
        ep_query_func DAT_INVALID_HANDLE_EP (!0, null_mut());
        ep_modify_func DAT_INVALID_HANDLE_EP (!0, null());
        ep_connect_func DAT_INVALID_HANDLE_EP (null_mut(), 0, 0, -1, null_mut(), 77, 77);
        ep_dup_connect_func DAT_INVALID_HANDLE_EP (n(), 0, -1, null_mut(), 77);
        ep_disconnect_func DAT_INVALID_HANDLE_EP (77);
        ep_post_send_func DAT_INVALID_HANDLE_EP (-1, null_mut(), word(0), 77);
        ep_post_recv_func DAT_INVALID_HANDLE_EP (-1, null_mut(), word(0), 77);
        ep_post_rdma_read_func DAT_INVALID_HANDLE_EP (-1, null_mut(), word(0), null(), 77);
        ep_post_rdma_write_func DAT_INVALID_HANDLE_EP (-1, null_mut(), word(0), null(), 77);
        ep_get_status_func DAT_INVALID_HANDLE_EP (null_mut(), null_mut(), null_mut());
        ep_free_func DAT_INVALID_HANDLE_EP ();
        ep_reset_func DAT_INVALID_HANDLE_EP ();
        ep_recv_query_func DAT_INVALID_HANDLE_EP (null_mut(), null_mut());
        ep_set_watermark_func DAT_INVALID_HANDLE_EP (-7, -7);
        lmr_query_func DAT_INVALID_HANDLE_LMR (!0, null_mut());
        lmr_free_func DAT_INVALID_HANDLE_LMR ();
        lmr_sync_rdma_read_func DAT_INVALID_HANDLE_IA (null(), 7);
        lmr_sync_rdma_write_func DAT_INVALID_HANDLE_IA (null(), 7);
        rmr_create_func DAT_INVALID_HANDLE_PZ (null_mut());
        rmr_query_func DAT_INVALID_HANDLE_RMR (!0, null_mut());
        rmr_free_func DAT_INVALID_HANDLE_RMR ();
        psp_create_func DAT_INVALID_HANDLE_IA (0, n(), 77, null_mut());
        psp_create_any_func DAT_INVALID_HANDLE_IA (null_mut(), n(), 77, null_mut());
        psp_query_func DAT_INVALID_HANDLE_PSP (!0, null_mut());
        psp_free_func DAT_INVALID_HANDLE_PSP ();
        rsp_create_func DAT_INVALID_HANDLE_IA (0, n(), n(), null_mut());
        rsp_query_func DAT_INVALID_HANDLE_RSP (!0, null_mut());
        rsp_free_func DAT_INVALID_HANDLE_RSP ();
        pz_create_func DAT_INVALID_HANDLE_IA (null_mut());
        pz_query_func DAT_INVALID_HANDLE_PZ (!0, null_mut());
        pz_free_func DAT_INVALID_HANDLE_PZ ();
        srq_create_func DAT_INVALID_HANDLE_IA (n(), null_mut(), null_mut());
        srq_free_func DAT_INVALID_HANDLE_SRQ ();
        srq_post_recv_func DAT_INVALID_HANDLE_SRQ (-1, null_mut(), word(0));
        srq_query_func DAT_INVALID_HANDLE_SRQ (!0, null_mut());
        srq_resize_func DAT_INVALID_HANDLE_SRQ (0);
        srq_set_lw_func DAT_INVALID_HANDLE_SRQ (-1);
    };
    calls.extend(version::calls(t));
    calls
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
    // Only slots without a handle are missing in the list.
    assert_eq!(calls(table).len(), words.len() - 2 - version::WITHOUT_HANDLE);
}

#[test]
fn rejects_null_misaligned_foreign_and_freed_handles() {
    let setup = Setup::new();
    let freed = setup.cno();
    assert_eq!(slot!(setup.table, cno_free_func(freed)), OK);
    let mut foreign = [std::ptr::from_ref(setup.table).addr(); 8];
    let foreign: DAT_HANDLE = foreign.as_mut_ptr().cast();
    let inside = setup.pz.wrapping_byte_add(8);
    let beyond = setup.pz.wrapping_byte_add(64 * 1000);
    let misaligned = setup.pz.wrapping_byte_add(1);
    for (name, subtype, call) in calls(setup.table) {
        for handle in [null_mut(), UNTOUCHED, foreign, freed, inside, beyond, misaligned] {
            assert_eq!(call(handle), handle_error(subtype), "{name} {handle:p}");
        }
    }
}

#[test]
fn rejects_handles_of_other_kinds() {
    let setup = Setup::new();
    let kinds = [
        (DAT_INVALID_HANDLE_IA, setup.ia),
        (DAT_INVALID_HANDLE_PZ, setup.pz),
        (DAT_INVALID_HANDLE1, setup.dto_evd),
        (DAT_INVALID_HANDLE_CNO, setup.cno()),
        (DAT_INVALID_HANDLE_EP, setup.ep()),
        (DAT_INVALID_HANDLE_SRQ, setup.srq()),
        (DAT_INVALID_HANDLE_PSP, setup.psp(5, DAT_PSP_CONSUMER_FLAG)),
        (DAT_INVALID_HANDLE_RSP, setup.rsp(6, setup.ep())),
        (DAT_INVALID_HANDLE_RMR, setup.rmr()),
        (DAT_INVALID_HANDLE_LMR, setup.lmr(&mut [0; 8], DAT_MEM_PRIV_ALL_FLAG).0),
    ];
    for (name, subtype, call) in calls(setup.table) {
        if name.contains("consumer_context") || name.contains("handle_type") {
            continue;
        }
        for (kind, handle) in kinds {
            if kind != subtype {
                assert_eq!(call(handle), handle_error(subtype), "{name} with a handle of kind {kind}");
            }
        }
    }
}

#[test]
fn handle_points_to_table() {
    let setup = Setup::new();
    for handle in [setup.ia, setup.async_evd, setup.pz, setup.dto_evd, setup.ep(), setup.srq(), setup.cno()] {
        // SAFETY: the cell of a live handle is readable.
        let first = unsafe { handle.cast::<*const DAT_PROVIDER>().read() };
        assert_eq!(first, std::ptr::from_ref(setup.table));
    }
}

#[test]
fn returns_context_and_type_of_every_kind() {
    let setup = Setup::new();
    setup.psp(5, DAT_PSP_CONSUMER_FLAG);
    let cr = connection::arrive(&setup, b"");
    let kinds = [
        (DAT_HANDLE_TYPE_CR, cr),
        (DAT_HANDLE_TYPE_EP, setup.ep()),
        (DAT_HANDLE_TYPE_EVD, setup.dto_evd),
        (DAT_HANDLE_TYPE_IA, setup.ia),
        (DAT_HANDLE_TYPE_LMR, setup.lmr(&mut [0; 8], DAT_MEM_PRIV_ALL_FLAG).0),
        (DAT_HANDLE_TYPE_PSP, setup.psp(7, DAT_PSP_CONSUMER_FLAG)),
        (DAT_HANDLE_TYPE_PZ, setup.pz),
        (DAT_HANDLE_TYPE_RMR, setup.rmr()),
        (DAT_HANDLE_TYPE_RSP, setup.rsp(6, setup.ep())),
        (DAT_HANDLE_TYPE_CNO, setup.cno()),
        (DAT_HANDLE_TYPE_SRQ, setup.srq()),
    ];
    for (at, (kind, handle)) in kinds.into_iter().enumerate() {
        assert_eq!(at as u32, kind);
        let mut got = 99;
        assert_eq!(slot!(setup.table, get_handle_type_func(handle, &mut got)), OK);
        assert_eq!(got, kind);
        let mut context = word(1);
        assert_eq!(slot!(setup.table, get_consumer_context_func(handle, &mut context)), OK);
        assert_eq!(bits(context), 0);
        assert_eq!(slot!(setup.table, set_consumer_context_func(handle, word(0xdead_beef_0000_0001))), OK);
        assert_eq!(slot!(setup.table, get_consumer_context_func(handle, &mut context)), OK);
        assert_eq!(bits(context), 0xdead_beef_0000_0001);
        assert_eq!(slot!(setup.table, get_consumer_context_func(handle, null_mut())), arg_error(2));
        assert_eq!(slot!(setup.table, get_handle_type_func(handle, null_mut())), arg_error(2));
    }
}
