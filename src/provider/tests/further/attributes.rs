//! Attributes, and unsupported features.

use std::ffi::c_char;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::dat_provider::Provider;
use ::dat_provider::registration::RegistryFunction;
use dat_udat20::*;

use crate::slots::{FakeProvider, OK, Setup, arg_error, connection, handle_error, slot};

#[test]
fn rejects_datagrams() {
    let setup = Setup::new();
    let attr = DAT_EP_ATTR { service_type: DAT_IB_SERVICE_TYPE_UD, ..connection::attributes() };
    let (evd, mut ep) = (setup.dto_evd, null_mut());
    let code = slot!(setup.table, ep_create_func(setup.ia, setup.pz, evd, evd, setup.connect_evd, &attr, &mut ep));
    assert_eq!(code, DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE));
}

#[test]
fn adapter_is_related_only_to_itself() {
    let setup = Setup::new();
    let t = setup.table;
    let mut answer = 9;
    let mut related = |name: *const c_char| {
        let code = slot!(t, ia_ha_related_func(setup.ia, name.cast_mut(), &mut answer));
        (code, answer)
    };
    assert_eq!(related(null_mut()), (arg_error(2), 9));
    assert_eq!(related(c"other".as_ptr()), (OK, DAT_FALSE));
    assert_eq!(related(setup.name.as_ptr()), (OK, DAT_TRUE));
    assert_eq!(slot!(t, ia_ha_related_func(setup.ia, setup.name.as_ptr().cast_mut(), null_mut())), arg_error(3));
    let bad = handle_error(DAT_INVALID_HANDLE_IA);
    assert_eq!(slot!(t, ia_ha_related_func(setup.pz, setup.name.as_ptr().cast_mut(), null_mut())), bad);
}

/// The only adapter of the test's registry, whose programs hold numbers instead of the provider's handles.
static KNOWN: AtomicUsize = AtomicUsize::new(0);

/// The program's handle of the adapter.
const NUMBER: DAT_IA_HANDLE = std::ptr::without_provenance_mut(1);

unsafe extern "C" fn number_of(ia: DAT_IA_HANDLE, out: *mut DAT_IA_HANDLE) -> DAT_RETURN {
    if ia.addr() != KNOWN.load(Ordering::Relaxed) {
        return handle_error(DAT_INVALID_HANDLE_IA);
    }
    // SAFETY: the caller passes a writable place.
    unsafe { out.write(NUMBER) };
    OK
}

#[test]
fn returns_ia_handle_of_registry() {
    let setup = Setup::new();
    let t = setup.table;
    // SAFETY: the slots cast the function back to its type.
    let function = unsafe { std::mem::transmute::<*const (), RegistryFunction>(number_of as *const ()) };
    FakeProvider::domain().registrations().newest(&setup.name, DAT_VERSION_MAJOR).expect("it is open").1.ia_handles =
        Some(function);
    let mut param = DAT_PZ_PARAM { ia_handle: null_mut() };
    let mut told = || {
        assert_eq!(slot!(t, pz_query_func(setup.pz, DAT_PZ_FIELD_ALL, &mut param)), OK);
        param.ia_handle
    };
    assert_eq!(told(), setup.ia, "a handle that the registry does not know");
    KNOWN.store(setup.ia.addr(), Ordering::Relaxed);
    assert_eq!(told(), NUMBER);
    setup.core().transport.fail();
    let event = setup.dequeue(setup.async_evd).expect("an event");
    assert_eq!(event.event_number, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
    // SAFETY: the event number selects this member.
    assert_eq!(unsafe { event.event_data.asynch_error_event_data }.dat_handle, NUMBER);
}
