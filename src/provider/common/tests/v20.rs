//! The slots of uDAPL 2.0.

mod further;
mod slots;

mod version {
    pub use dat_provider20::Udat20 as Tested;
    pub use dat_udat20::*;

    use crate::slots::LmrPlaces;
    use crate::slots::handles::{Call, rows};
    use crate::slots::slot;

    /// Number of slots without a handle or with a variable argument list: ia_open and handle_extendedop.
    pub const WITHOUT_HANDLE: usize = 2;

    /// Positions of arguments of dat_lmr_create and dat_rmr_bind.
    pub const LMR_HANDLE: u32 = 8;
    pub const BIND_TRIPLET: u32 = 3;
    pub const BIND_RIGHTS: u32 = 4;
    pub const BIND_FLAGS: u32 = 8;
    pub const BIND_CONTEXT: u32 = 9;

    /// An unsupported kind of memory.
    pub const OTHER_MEM_TYPE: DAT_MEM_TYPE = 3;
    /// No privilege bit.
    pub const OTHER_RIGHTS: DAT_MEM_PRIV_FLAGS = 0;
    pub const UNKNOWN_EP_FIELDS: [DAT_EP_PARAM_MASK; 2] = [1 << 31, 1 << 32];
    pub const UNKNOWN_CNO_FIELD: DAT_CNO_PARAM_MASK = 8;
    pub const UNKNOWN_CONNECT_FLAG: DAT_CONNECT_FLAGS = 3;
    pub const UNKNOWN_SERVICE: DAT_SERVICE_TYPE = 2;
    pub const UNKNOWN_STREAM: DAT_EVD_FLAGS = 0x400;

    pub fn lmr_triplet(context: DAT_LMR_CONTEXT, address: DAT_VADDR, length: DAT_SEG_LENGTH) -> DAT_LMR_TRIPLET {
        DAT_LMR_TRIPLET { virtual_address: address, segment_length: length, lmr_context: context }
    }

    pub fn rmr_triplet(context: DAT_RMR_CONTEXT, address: DAT_VADDR, length: DAT_SEG_LENGTH) -> DAT_RMR_TRIPLET {
        DAT_RMR_TRIPLET { virtual_address: address, segment_length: length, rmr_context: context }
    }

    /// Returns the adapter name in the attributes: the device's name.
    pub fn adapter_name(_: &std::ffi::CStr) -> &std::ffi::CStr {
        c"fake"
    }

    pub fn agent(param: &DAT_CNO_PARAM) -> DAT_OS_WAIT_PROXY_AGENT {
        // SAFETY: the CNO was created with an agent.
        unsafe { param.proxy.agent }
    }

    pub fn cr_reject(t: &DAT_PROVIDER, cr: DAT_CR_HANDLE) -> DAT_RETURN {
        slot!(t, cr_reject_func(cr, 0, std::ptr::null_mut()))
    }

    #[expect(clippy::too_many_arguments, reason = "the slot has them")]
    pub fn lmr_create(
        t: &DAT_PROVIDER,
        ia: DAT_IA_HANDLE,
        kind: DAT_MEM_TYPE,
        region: DAT_REGION_DESCRIPTION,
        length: DAT_VLEN,
        pz: DAT_PZ_HANDLE,
        privileges: DAT_MEM_PRIV_FLAGS,
        lmr: *mut DAT_LMR_HANDLE,
        places: LmrPlaces,
    ) -> DAT_RETURN {
        let LmrPlaces { context, remote, length: registered, address } = places;
        let va = DAT_VA_TYPE_VA;
        slot!(
            t,
            lmr_create_func(ia, kind, region, length, pz, privileges, va, lmr, context, remote, registered, address)
        )
    }

    #[expect(clippy::too_many_arguments, reason = "the slot has them")]
    pub fn rmr_bind(
        t: &DAT_PROVIDER,
        rmr: DAT_RMR_HANDLE,
        lmr: DAT_LMR_HANDLE,
        triplet: *const DAT_LMR_TRIPLET,
        privileges: DAT_MEM_PRIV_FLAGS,
        ep: DAT_EP_HANDLE,
        cookie: DAT_RMR_COOKIE,
        flags: DAT_COMPLETION_FLAGS,
        context: *mut DAT_RMR_CONTEXT,
    ) -> DAT_RETURN {
        slot!(t, rmr_bind_func(rmr, lmr, triplet, privileges, DAT_VA_TYPE_VA, ep, cookie, flags, context))
    }

    /// Returns the slots whose parameters differ between versions.
    pub fn calls(t: &'static DAT_PROVIDER) -> Vec<Call> {
        use std::ptr::{null, null_mut};

        let n = || null_mut();
        let region = || DAT_REGION_DESCRIPTION { for_va: null_mut() };
        let word = || DAT_CONTEXT { as_64: 0 };
        rows! { t;
            cr_reject_func DAT_INVALID_HANDLE_CR (-1, null_mut());
            lmr_create_func DAT_INVALID_HANDLE_IA (
                77, region(), 0, n(), !0, 77, null_mut(), null_mut(), null_mut(), null_mut(), null_mut());
            csp_create_func DAT_INVALID_HANDLE_IA (null_mut(), null_mut(), n(), null_mut());
            csp_query_func DAT_INVALID_HANDLE_CSP (!0, null_mut());
            csp_free_func DAT_INVALID_HANDLE_CSP ();
            ep_common_connect_func DAT_INVALID_HANDLE_EP (null_mut(), 0, -1, null_mut());
            cno_fd_create_func DAT_INVALID_HANDLE_IA (null_mut(), null_mut());
            cno_trigger_func DAT_INVALID_HANDLE_CNO (null_mut());
            ia_ha_related_func DAT_INVALID_HANDLE_IA (null_mut(), null_mut());
            rmr_create_for_ep_func DAT_INVALID_HANDLE_PZ (null_mut());
            ep_post_send_with_invalidate_func DAT_INVALID_HANDLE_EP (-1, null_mut(), word(), 77, 77, 77);
            ep_post_rdma_read_to_rmr_func DAT_INVALID_HANDLE_EP (null(), word(), null(), 77);
            rmr_bind_func DAT_INVALID_HANDLE_RMR (n(), null(), !0, 77, n(), word(), 77, null_mut());
        }
    }
}
