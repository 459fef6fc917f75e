//! Registrations and forks.

use super::*;

#[test]
fn every_name_has_its_own_table() {
    let (first_name, first) = register("");
    let (second_name, second) = register("");
    assert_ne!(std::ptr::from_ref(first), std::ptr::from_ref(second));
    for (name, table) in [(&first_name, first), (&second_name, second)] {
        // SAFETY: names are never freed.
        assert_eq!(unsafe { std::ffi::CStr::from_ptr(table.device_name) }, &**name);
    }
    let again = register_for_test(&first_name, "", true);
    assert!(std::ptr::eq(again, first));
}

#[test]
fn entries_with_other_instance_data_are_ambiguous() {
    let (name, _) = register("lo");
    let identity = |thread_safe| Identity { version: (DAT_VERSION_MAJOR, DAT_VERSION_MINOR), thread_safe };
    for (thread_safe, data, expected) in [(true, "eth0", false), (false, "lo", false), (false, "eth0", true)] {
        let registrations = FakeProvider::domain().registrations();
        assert_eq!(registrations.is_ambiguous(&name, identity(thread_safe), data), expected);
    }
}

#[test]
fn returns_registered_thread_safety() {
    let (name, table) = register("");
    register_for_test(&name, "", false);
    let (mut ia, mut evd) = (null_mut(), null_mut());
    assert_eq!(slot!(table, ia_open_func(name.as_ptr().cast_mut(), 1, &mut evd, &mut ia)), OK);
    // SAFETY: zero is valid for integers and pointers.
    let mut attr: DAT_PROVIDER_ATTR = unsafe { std::mem::zeroed() };
    let mask = DAT_PROVIDER_FIELD_IS_THREAD_SAFE;
    assert_eq!(slot!(table, ia_query_func(ia, null_mut(), 0, null_mut(), mask, &mut attr)), OK);
    assert_eq!(attr.is_thread_safe, DAT_FALSE);
    assert_eq!(slot!(table, ia_close_func(ia, DAT_CLOSE_ABRUPT_FLAG)), OK);
}

#[test]
fn stays_registered_while_in_use() {
    static CODE: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn remove(_: *const c_void, _: *const DAT_PROVIDER_INFO) -> DAT_RETURN {
        CODE.load(Ordering::Relaxed)
    }
    type Remove = unsafe extern "C" fn(*const c_void, *const DAT_PROVIDER_INFO) -> DAT_RETURN;
    // SAFETY: the provider converts it back.
    let remove = unsafe { std::mem::transmute::<Remove, RegistryFunction>(remove) };
    let identity = Identity { version: (DAT_VERSION_MAJOR, DAT_VERSION_MINOR), thread_safe: true };
    let domain = FakeProvider::domain();
    domain.registrations().add(&SERVED[0], c"in use", identity, String::new(), Some(remove), None);
    let info = DAT_PROVIDER_INFO {
        ia_name: host::cstr::array(b"in use"),
        dapl_version_major: DAT_VERSION_MAJOR,
        dapl_version_minor: DAT_VERSION_MINOR,
        is_thread_safe: DAT_TRUE,
    };
    for (code, is_known) in [(DAT_ERROR(DAT_PROVIDER_IN_USE, DAT_NO_SUBTYPE), true), (OK, false)] {
        CODE.store(code, Ordering::Relaxed);
        // SAFETY: `info` is readable.
        unsafe { entry::fini(domain, SERVED, &info) };
        assert_eq!(domain.registrations().find(c"in use", identity).is_some(), is_known);
    }
}

#[test]
fn objects_of_different_adapters_do_not_mix() {
    let (one, other) = (Setup::new(), Setup::new());
    let mut out = UNTOUCHED;
    let flags = DAT_EVD_DTO_FLAG;
    let bad_cno = handle_error(DAT_INVALID_HANDLE_CNO);
    assert_eq!(slot!(one.table, evd_create_func(one.ia, 8, other.cno(), flags, &mut out)), bad_cno);
    let mut attr = DAT_SRQ_ATTR { max_recv_dtos: 1, max_recv_iov: 1, low_watermark: 0 };
    let bad_pz = handle_error(DAT_INVALID_HANDLE_PZ);
    assert_eq!(slot!(one.table, srq_create_func(one.ia, other.pz, &mut attr, &mut out)), bad_pz);
    let (mut evd, name) = (other.async_evd, one.name.as_ptr().cast_mut());
    let bad_evd = handle_error(DAT_INVALID_HANDLE_EVD_ASYNC);
    assert_eq!(slot!(one.table, ia_open_func(name, 8, &mut evd, &mut out)), bad_evd);
}

#[test]
fn fork_child_rejects_inherited_handles_and_opens_again() {
    let setup = Setup::new();
    let ep = setup.ep();
    // SAFETY: the child calls only functions of this library and _exit.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let dead = slot!(setup.table, ep_free_func(ep)) == handle_error(DAT_INVALID_HANDLE_EP)
            && slot!(setup.table, ia_close_func(setup.ia, 0)) == handle_error(DAT_INVALID_HANDLE_IA);
        let (mut ia, mut evd, mut pz) = (null_mut(), null_mut(), null_mut());
        let opened = slot!(setup.table, ia_open_func(setup.name.as_ptr().cast_mut(), 1, &mut evd, &mut ia)) == OK
            && slot!(setup.table, pz_create_func(ia, &mut pz)) == OK
            && slot!(setup.table, ia_close_func(ia, 0)) == OK;
        // SAFETY: exits without running handlers of the parent.
        unsafe { libc::_exit(i32::from(!dead) + 2 * i32::from(!opened)) };
    }
    let mut status = -1;
    // SAFETY: `child` is an unreaped child process; `status` is a live variable.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(setup.state(ep), DAT_EP_STATE_UNCONNECTED);
    assert!(FakeProvider::domain().kind(ep).is_some());
}
