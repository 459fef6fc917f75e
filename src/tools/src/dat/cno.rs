//! Consumer notification objects.

use std::sync::Arc;
use std::time::Duration;

use dat_udat12::*;

use super::Ia;
use super::error::{Error, Result};
use super::evd::timeout;
use super::object::Object;

/// A consumer notification object: one thread waits for several dispatchers.
#[derive(Clone, Debug)]
pub struct Cno(Arc<Object>);

impl Cno {
    /// Makes an object without an agent.
    pub fn new(ia: &Ia) -> Result<Self> {
        let agent = DAT_OS_WAIT_PROXY_AGENT { instance_data: std::ptr::null_mut(), proxy_agent_func: None };
        let calls = ia.library().calls();
        // SAFETY: the adapter is open, and the place is the object's own.
        let make = |handle: &mut DAT_HANDLE| unsafe { (calls.dat_cno_create)(ia.raw(), agent, handle) };
        Object::new(ia, "dat_cno_create", calls.dat_cno_free, make).map(Arc::new).map(Self)
    }

    /// Its handle.
    pub fn raw(&self) -> DAT_CNO_HANDLE {
        self.0.raw()
    }

    /// Waits until a dispatcher triggers it; false if the time is up, or a signal was handled. In either case the caller looks
    /// at all dispatchers: which one triggered is a hint alone.
    pub fn wait(&self, longest: Duration) -> Result<bool> {
        let library = self.0.library();
        let mut triggered = DAT_HANDLE_NULL;
        // SAFETY: the handle is that of a notification object, and the place is this function's own.
        match unsafe { (library.calls().dat_cno_wait)(self.raw(), timeout(longest), &mut triggered) } {
            DAT_SUCCESS => Ok(true),
            code if matches!(DAT_GET_TYPE(code), DAT_QUEUE_EMPTY | DAT_TIMEOUT_EXPIRED | DAT_INTERRUPTED_CALL) => {
                Ok(false)
            }
            code => Err(Error::new(library, "dat_cno_wait", code)),
        }
    }
}
