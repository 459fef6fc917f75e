//! The slots of uDAPL 1.2.

mod slots;

mod version {
    pub use dat_provider12::Udat12 as Tested;
    pub use dat_udat12::*;

    use crate::slots::LmrPlaces;
    use crate::slots::handles::{Call, rows};
    use crate::slots::slot;

    /// Number of slots without a handle: ia_open.
    pub const WITHOUT_HANDLE: usize = 1;

    /// Positions of arguments of dat_lmr_create and dat_rmr_bind.
    pub const LMR_HANDLE: u32 = 7;
    pub const BIND_TRIPLET: u32 = 2;
    pub const BIND_RIGHTS: u32 = 3;
    pub const BIND_FLAGS: u32 = 6;
    pub const BIND_CONTEXT: u32 = 7;

    /// An unsupported kind of memory.
    pub const OTHER_MEM_TYPE: DAT_MEM_TYPE = DAT_MEM_TYPE_SO_VIRTUAL;
    /// A privilege bit that is ignored.
    pub const OTHER_RIGHTS: DAT_MEM_PRIV_FLAGS = DAT_MEM_PRIV_RO_DISABLE_FLAG;
    pub const UNKNOWN_EP_FIELDS: [DAT_EP_PARAM_MASK; 3] = [1 << 11, 1 << 31, 1 << 32];
    pub const UNKNOWN_CNO_FIELD: DAT_CNO_PARAM_MASK = 4;
    pub const UNKNOWN_CONNECT_FLAG: DAT_CONNECT_FLAGS = 2;
    pub const UNKNOWN_SERVICE: DAT_SERVICE_TYPE = 1;
    pub const UNKNOWN_STREAM: DAT_EVD_FLAGS = 0x200;

    pub fn lmr_triplet(context: DAT_LMR_CONTEXT, address: DAT_VADDR, length: DAT_VLEN) -> DAT_LMR_TRIPLET {
        DAT_LMR_TRIPLET { lmr_context: context, pad: 0, virtual_address: address, segment_length: length }
    }

    pub fn rmr_triplet(context: DAT_RMR_CONTEXT, address: DAT_VADDR, length: DAT_VLEN) -> DAT_RMR_TRIPLET {
        DAT_RMR_TRIPLET { rmr_context: context, pad: 0, target_address: address, segment_length: length }
    }

    /// Returns the adapter name in the attributes.
    pub fn adapter_name(opened_as: &std::ffi::CStr) -> &std::ffi::CStr {
        opened_as
    }

    pub fn agent(param: &DAT_CNO_PARAM) -> DAT_OS_WAIT_PROXY_AGENT {
        param.agent
    }

    pub fn cr_reject(t: &DAT_PROVIDER, cr: DAT_CR_HANDLE) -> DAT_RETURN {
        slot!(t, cr_reject_func(cr))
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
        slot!(t, lmr_create_func(ia, kind, region, length, pz, privileges, lmr, context, remote, registered, address))
    }

    #[expect(clippy::too_many_arguments, reason = "the slot has them")]
    pub fn rmr_bind(
        t: &DAT_PROVIDER,
        rmr: DAT_RMR_HANDLE,
        _lmr: DAT_LMR_HANDLE,
        triplet: *const DAT_LMR_TRIPLET,
        privileges: DAT_MEM_PRIV_FLAGS,
        ep: DAT_EP_HANDLE,
        cookie: DAT_RMR_COOKIE,
        flags: DAT_COMPLETION_FLAGS,
        context: *mut DAT_RMR_CONTEXT,
    ) -> DAT_RETURN {
        slot!(t, rmr_bind_func(rmr, triplet, privileges, ep, cookie, flags, context))
    }

    /// Returns the slots whose parameters differ between versions.
    pub fn calls(t: &'static DAT_PROVIDER) -> Vec<Call> {
        use std::ptr::{null, null_mut};

        let n = || null_mut();
        let region = || DAT_REGION_DESCRIPTION { for_va: null_mut() };
        let word = || DAT_CONTEXT { as_64: 0 };
        rows! { t;
            cr_reject_func DAT_INVALID_HANDLE_CR ();
            lmr_create_func DAT_INVALID_HANDLE_IA (
                77, region(), 0, n(), !0, null_mut(), null_mut(), null_mut(), null_mut(), null_mut());
            rmr_bind_func DAT_INVALID_HANDLE_RMR (null(), !0, n(), word(), 77, null_mut());
        }
    }
}
