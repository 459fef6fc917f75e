//! Calls of the slots through the table, over a transport that moves no data, for each version. The module `version`
//! contains the names that differ.

mod call;
pub mod connection;
mod objects;
mod provider;
mod waits;

use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use ::dat_provider::registration::{Identity, RegistryFunction, Served};
use ::dat_provider::{Domain, Provider, entry, fork};
use dat_core::testing::Fake;

use crate::version::*;

/// The provider over the fake transport.
pub struct FakeProvider;

impl Provider for FakeProvider {
    type Transport = Fake;
    type Version = Tested;

    fn domain() -> &'static Domain<Fake> {
        static DOMAIN: Domain<Fake> = Domain::empty();
        &DOMAIN
    }
}

macro_rules! slot {
    ($table:expr, $slot:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the arguments are pointers to live variables, or values that the slot rejects.
        unsafe { $table.$slot.expect("every slot is filled")($($argument),*) }
    };
}
pub(crate) use slot;

static SERVED: &[Served] = &[Served::by::<FakeProvider>()];

/// Registers an adapter without a registry, and returns its table.
fn register_for_test(name: &CStr, instance: &str, thread_safe: bool) -> &'static DAT_PROVIDER {
    let identity = Identity { version: (DAT_VERSION_MAJOR, DAT_VERSION_MINOR), thread_safe };
    static AT_LOAD: Once = Once::new();
    AT_LOAD.call_once(|| fork::at_load::<FakeProvider>());
    let adapter =
        FakeProvider::domain().registrations().add(&SERVED[0], name, identity, instance.to_owned(), None, None);
    // SAFETY: the tested version has tables of this type, which are never freed.
    unsafe { &*adapter.table().cast::<DAT_PROVIDER>() }
}

pub const OK: DAT_RETURN = DAT_SUCCESS;

pub const fn handle_error(subtype: DAT_RETURN_SUBTYPE) -> DAT_RETURN {
    DAT_ERROR(DAT_INVALID_HANDLE, subtype)
}

pub const fn arg_error(position: u32) -> DAT_RETURN {
    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1 + position - 1)
}

const fn state_error(subtype: DAT_RETURN_SUBTYPE) -> DAT_RETURN {
    DAT_ERROR(DAT_INVALID_STATE, subtype)
}

/// A handle that a failed call must not overwrite.
pub const UNTOUCHED: DAT_HANDLE = std::ptr::without_provenance_mut(0x5555_5550);

fn word(word: u64) -> DAT_CONTEXT {
    DAT_CONTEXT { as_64: word }
}

/// Registers an adapter with a unique name.
fn register(instance: &str) -> (CString, &'static DAT_PROVIDER) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = CString::new(format!("fake{}", NUMBER.fetch_add(1, Ordering::Relaxed))).unwrap();
    let table = register_for_test(&name, instance, true);
    (name, table)
}

/// An open adapter with the objects that an endpoint needs.
pub struct Setup {
    pub name: CString,
    pub table: &'static DAT_PROVIDER,
    pub ia: DAT_IA_HANDLE,
    pub async_evd: DAT_EVD_HANDLE,
    pub pz: DAT_PZ_HANDLE,
    pub dto_evd: DAT_EVD_HANDLE,
    pub connect_evd: DAT_EVD_HANDLE,
}

impl Setup {
    pub fn new() -> Self {
        let (name, table) = register("");
        let mut setup = Setup {
            name,
            table,
            ia: null_mut(),
            async_evd: null_mut(),
            pz: null_mut(),
            dto_evd: null_mut(),
            connect_evd: null_mut(),
        };
        setup.ia = setup.open();
        assert_eq!(slot!(table, ia_query_func(setup.ia, &mut setup.async_evd, 0, null_mut(), 0, null_mut())), OK);
        assert_eq!(slot!(table, pz_create_func(setup.ia, &mut setup.pz)), OK);
        setup.dto_evd = setup.evd(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
        setup.connect_evd = setup.evd(DAT_EVD_CONNECTION_FLAG);
        setup
    }

    fn open(&self) -> DAT_IA_HANDLE {
        let (mut ia, mut evd) = (null_mut(), null_mut());
        let name = self.name.as_ptr().cast_mut();
        assert_eq!(slot!(self.table, ia_open_func(name, 8, &mut evd, &mut ia)), OK);
        ia
    }

    pub fn evd(&self, flags: DAT_EVD_FLAGS) -> DAT_EVD_HANDLE {
        let mut evd = null_mut();
        assert_eq!(slot!(self.table, evd_create_func(self.ia, 10, null_mut(), flags, &mut evd)), OK);
        evd
    }

    fn cno(&self) -> DAT_CNO_HANDLE {
        let mut cno = null_mut();
        assert_eq!(slot!(self.table, cno_create_func(self.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &mut cno)), OK);
        cno
    }

    pub fn ep(&self) -> DAT_EP_HANDLE {
        let mut ep = null_mut();
        let code = slot!(
            self.table,
            ep_create_func(self.ia, self.pz, self.dto_evd, self.dto_evd, self.connect_evd, null(), &mut ep)
        );
        assert_eq!(code, OK);
        ep
    }

    /// Returns the core's adapter.
    pub fn core(&self) -> std::sync::Arc<dat_core::Ia<Fake>> {
        ::dat_provider::handle::find::<FakeProvider, _>(self.ia, dat_core::error::Role::Ia).unwrap()
    }

    pub fn dequeue(&self, evd: DAT_EVD_HANDLE) -> Option<DAT_EVENT> {
        let mut event = blank_event();
        match slot!(self.table, evd_dequeue_func(evd, &mut event)) {
            OK => Some(event),
            code => {
                assert_eq!(code, DAT_QUEUE_EMPTY);
                None
            }
        }
    }

    pub fn state(&self, ep: DAT_EP_HANDLE) -> DAT_EP_STATE {
        let mut state = 99;
        assert_eq!(slot!(self.table, ep_get_status_func(ep, &mut state, null_mut(), null_mut())), OK);
        state
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        // Tests can have closed the adapter.
        let _ = slot!(self.table, ia_close_func(self.ia, DAT_CLOSE_ABRUPT_FLAG));
    }
}

pub fn blank_event() -> DAT_EVENT {
    // SAFETY: zero is valid for integers and pointers.
    unsafe { std::mem::zeroed() }
}
