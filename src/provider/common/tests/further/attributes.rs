//! Attributes, and unsupported features.

use std::ffi::{CStr, c_char};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use dat_provider_common::Provider;
use dat_provider_common::registration::RegistryFunction;
use dat_udat20::*;

use crate::slots::{FakeProvider, OK, Setup, arg_error, connection, handle_error, slot};

#[test]
fn returns_named_attributes() {
    let setup = Setup::new();
    // SAFETY: zero is valid for integers and pointers.
    let (mut ia, mut provider): (DAT_IA_ATTR, DAT_PROVIDER_ATTR) = unsafe { std::mem::zeroed() };
    let all = (DAT_IA_FIELD_ALL, DAT_PROVIDER_FIELD_ALL);
    let mut query = || slot!(setup.table, ia_query_func(setup.ia, null_mut(), all.0, &mut ia, all.1, &mut provider));
    assert_eq!(query(), OK);
    let first = provider.provider_specific_attr;
    let mut query = || slot!(setup.table, ia_query_func(setup.ia, null_mut(), all.0, &mut ia, all.1, &mut provider));
    assert_eq!(query(), OK);
    assert_eq!(provider.provider_specific_attr, first, "the list of an adapter stays in place");
    let count = usize::try_from(provider.num_provider_specific_attr).unwrap();
    // SAFETY: the query returned this number of elements.
    let list = unsafe { std::slice::from_raw_parts(first, count) };
    // SAFETY: names and values are C strings.
    let text = |text| unsafe { CStr::from_ptr(text) }.to_str().unwrap();
    let pairs: Vec<(&str, &str)> = list.iter().map(|attr| (text(attr.name), text(attr.value))).collect();
    assert_eq!(pairs.len(), 28);
    assert_eq!([pairs[13], pairs[14]], [("DAT_IB_UD", "FALSE"), ("DAT_COUNTERS", "TRUE")]);
    assert!(pairs.contains(&("DAT_COUNTER_SENDS", "0")) && pairs.contains(&("DAT_COUNTER_WAKEUPS", "0")));
    assert!(pairs.contains(&("DAT_IB_RDMA_READ", "TRUE")));
    let value = |name| pairs.iter().find(|(known, _)| *known == name).unwrap().1;
    assert!(value("DAT_IB_TRANSPORT_MTU").parse::<u32>().is_ok());
}

#[test]
fn rejects_datagrams_and_multipath() {
    let setup = Setup::new();
    let model = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
    let mut attr = connection::attributes();
    attr.service_type = DAT_IB_SERVICE_TYPE_UD;
    let (evd, mut ep) = (setup.dto_evd, null_mut());
    let code = slot!(setup.table, ep_create_func(setup.ia, setup.pz, evd, evd, setup.connect_evd, &attr, &mut ep));
    assert_eq!(code, model);
    for flags in [DAT_CONNECT_MULTIPATH_REQUESTED_FLAG, DAT_CONNECT_MULTIPATH_REQUIRED_FLAG] {
        let mut address = connection::loopback();
        let ep = setup.ep();
        let forever = DAT_TIMEOUT_INFINITE;
        let code = slot!(setup.table, ep_connect_func(ep, &mut address, 5, forever, 0, null_mut(), 0, flags));
        assert_eq!(code, model);
    }
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
