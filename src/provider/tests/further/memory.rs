//! Shared memory.

use std::ffi::c_char;
use std::ptr::null_mut;

use dat_udat20::*;

use crate::slots::{OK, Setup, UNTOUCHED, arg_error, slot};

#[test]
fn region_of_shared_memory_has_its_own_cookie() {
    let setup = Setup::new();
    let mut memory = [0_u8; 100];
    let start: DAT_PVOID = memory.as_mut_ptr().cast();
    let mut lmr = UNTOUCHED;
    let create = |cookie: *mut [c_char; DAT_LMR_COOKIE_SIZE], lmr: &mut DAT_LMR_HANDLE| {
        let shared = DAT_SHARED_MEMORY { virtual_address: start, shared_memory_id: cookie };
        let (kind, region) = (DAT_MEM_TYPE_SHARED_VIRTUAL, DAT_REGION_DESCRIPTION { for_shared_memory: shared });
        let (n, rights, va) = (null_mut, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA);
        let mut context = 0;
        slot!(
            setup.table,
            lmr_create_func(setup.ia, kind, region, 100, setup.pz, rights, va, lmr, &mut context, null_mut(), n(), n())
        )
    };
    assert_eq!(create(null_mut(), &mut lmr), arg_error(3));
    assert_eq!(lmr, UNTOUCHED);
    let mut cookie = [5; DAT_LMR_COOKIE_SIZE];
    assert_eq!(create(&raw mut cookie, &mut lmr), OK);
    cookie = [0; DAT_LMR_COOKIE_SIZE];
    // SAFETY: zero is valid for integers and pointers.
    let mut param: DAT_LMR_PARAM = unsafe { std::mem::zeroed() };
    assert_eq!(slot!(setup.table, lmr_query_func(lmr, DAT_LMR_FIELD_ALL, &mut param)), OK);
    assert_eq!(param.mem_type, DAT_MEM_TYPE_SHARED_VIRTUAL);
    // SAFETY: the kind of memory selects this member.
    let shared = unsafe { param.region_desc.for_shared_memory };
    // SAFETY: valid while the region exists.
    assert_eq!(unsafe { *shared.shared_memory_id }, [5; DAT_LMR_COOKIE_SIZE]);
    assert_eq!((shared.virtual_address, cookie[0]), (start, 0));
}
