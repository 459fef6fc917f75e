//! Event dispatchers.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::Duration;

use dat_udat12::*;

use super::error::{Error, Result};
use super::object::Object;
use super::{Cno, Event, Ia};

/// An event dispatcher: a queue of events.
#[derive(Clone, Debug)]
pub struct Evd(Arc<EvdInner>);

#[derive(Debug)]
struct EvdInner {
    object: Object,
    /// The notification object that it triggers.
    _cno: Option<Cno>,
}

impl Evd {
    /// Makes a dispatcher.
    ///
    /// # Parameters
    /// * `length` - events that it can hold.
    /// * `kinds` - the kinds of events, bits of `DAT_EVD_DEFAULT_FLAG`.
    /// * `cno` - the notification object that events trigger.
    pub fn new(ia: &Ia, length: usize, kinds: DAT_EVD_FLAGS, cno: Option<&Cno>) -> Result<Self> {
        let length = DAT_COUNT::try_from(length).unwrap_or(DAT_COUNT::MAX);
        let triggered = cno.map_or(DAT_HANDLE_NULL, Cno::raw);
        let calls = ia.library().calls();
        // SAFETY: the adapter is open, and the place is the object's own.
        let make =
            |handle: &mut DAT_HANDLE| unsafe { (calls.dat_evd_create)(ia.raw(), length, triggered, kinds, handle) };
        let object = Object::new(ia, "dat_evd_create", calls.dat_evd_free, make)?;
        Ok(Self(Arc::new(EvdInner { object, _cno: cno.cloned() })))
    }

    /// Its handle.
    #[inline(always)]
    pub fn raw(&self) -> DAT_EVD_HANDLE {
        self.0.object.raw()
    }

    /// Takes the oldest event, if there is one.
    pub fn dequeue(&self) -> Result<Option<Event>> {
        let library = self.0.object.library();
        let mut event = MaybeUninit::<DAT_EVENT>::zeroed();
        // SAFETY: the place is this function's own.
        match unsafe { (library.calls().dat_evd_dequeue)(self.raw(), event.as_mut_ptr()) } {
            // SAFETY: the call wrote the event.
            DAT_SUCCESS => Ok(Some(unsafe { Event::of(library, event.assume_init_ref()) })),
            code if DAT_GET_TYPE(code) == DAT_QUEUE_EMPTY => Ok(None),
            code => Err(Error::new(library, "dat_evd_dequeue", code)),
        }
    }

    /// What a call on it returned, as an error.
    #[cold]
    pub fn failed(&self, call: &'static str, code: DAT_RETURN) -> Error {
        Error::new(self.0.object.library(), call, code)
    }

    /// Lets nobody wait any more: threads that do are woken with an error.
    pub fn set_unwaitable(&self) -> Result<()> {
        let library = self.0.object.library();
        // SAFETY: the handle is that of a dispatcher.
        library.check("dat_evd_set_unwaitable", unsafe { (library.calls().dat_evd_set_unwaitable)(self.raw()) })
    }

    /// Waits for an event and takes it; there is none if the time is up, or a signal was handled.
    pub fn wait(&self, longest: Duration) -> Result<Option<Event>> {
        let library = self.0.object.library();
        let (mut event, mut more) = (MaybeUninit::<DAT_EVENT>::zeroed(), 0);
        // SAFETY: both places are this function's own.
        let code =
            unsafe { (library.calls().dat_evd_wait)(self.raw(), timeout(longest), 1, event.as_mut_ptr(), &mut more) };
        match code {
            // SAFETY: the call wrote the event.
            DAT_SUCCESS => Ok(Some(unsafe { Event::of(library, event.assume_init_ref()) })),
            code if matches!(DAT_GET_TYPE(code), DAT_TIMEOUT_EXPIRED | DAT_INTERRUPTED_CALL) => Ok(None),
            code => Err(Error::new(library, "dat_evd_wait", code)),
        }
    }
}

/// A time as the calls take it, at most some 71 minutes: what is longer is not for ever.
pub(super) fn timeout(longest: Duration) -> DAT_TIMEOUT {
    DAT_TIMEOUT::try_from(longest.as_micros()).unwrap_or(DAT_TIMEOUT_INFINITE).min(DAT_TIMEOUT_INFINITE - 1)
}

#[cfg(test)]
mod tests;
