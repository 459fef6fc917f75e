//! Event dispatchers.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::Duration;

use dat_udat12::*;

use super::error::{Error, Result};
use super::{Cno, Event, Handle, Ia, Library};

/// An event dispatcher: a queue of events.
#[derive(Clone, Debug)]
pub struct Evd(Arc<EvdInner>);

#[derive(Debug)]
struct EvdInner {
    handle: Handle,
    ia: Ia,
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
    ///
    /// # Errors
    /// As dat_evd_create.
    pub fn new(ia: &Ia, length: usize, kinds: DAT_EVD_FLAGS, cno: Option<&Cno>) -> Result<Self> {
        let mut handle = Handle::NULL;
        let length = DAT_COUNT::try_from(length).unwrap_or(DAT_COUNT::MAX);
        let triggered = cno.map_or(DAT_HANDLE_NULL, Cno::raw);
        // SAFETY: the adapter is open, and the place is this function's own.
        let code = unsafe { (ia.library().calls().dat_evd_create)(ia.raw(), length, triggered, kinds, &mut handle.0) };
        ia.library().check("dat_evd_create", code)?;
        Ok(Self(Arc::new(EvdInner { handle, ia: ia.clone(), _cno: cno.cloned() })))
    }

    /// Its handle.
    #[inline(always)]
    pub fn raw(&self) -> DAT_EVD_HANDLE {
        self.0.handle.0
    }

    /// Takes the oldest event, if there is one.
    ///
    /// # Errors
    /// As dat_evd_dequeue.
    pub fn dequeue(&self) -> Result<Option<Event>> {
        dequeue(self.0.ia.library(), self.0.handle)
    }

    /// What a call on it returned, as an error.
    #[cold]
    pub fn failed(&self, call: &'static str, code: DAT_RETURN) -> Error {
        Error::new(self.0.ia.library(), call, code)
    }

    /// Lets nobody wait any more: threads that do are woken with an error.
    ///
    /// # Errors
    /// As dat_evd_set_unwaitable.
    pub fn set_unwaitable(&self) -> Result<()> {
        let library = self.0.ia.library();
        // SAFETY: the handle is that of a dispatcher.
        library.check("dat_evd_set_unwaitable", unsafe { (library.calls().dat_evd_set_unwaitable)(self.raw()) })
    }

    /// Waits for an event and takes it; there is none if the time is up, or a signal was handled.
    ///
    /// # Errors
    /// As dat_evd_wait.
    pub fn wait(&self, longest: Duration) -> Result<Option<Event>> {
        let library = self.0.ia.library();
        let mut event = MaybeUninit::zeroed();
        match self.wait_into(timeout(longest), 1, &mut event) {
            // SAFETY: the call wrote the event.
            DAT_SUCCESS => Ok(Some(unsafe { Event::of(library, event.assume_init_ref()) })),
            code if matches!(DAT_GET_TYPE(code), DAT_TIMEOUT_EXPIRED | DAT_INTERRUPTED_CALL) => Ok(None),
            code => Err(Error::new(library, "dat_evd_wait", code)),
        }
    }

    /// Waits until as many events are there as `threshold` says, and takes the oldest. The structure is written on
    /// `DAT_SUCCESS`.
    #[inline(always)]
    pub fn wait_into(
        &self,
        timeout: DAT_TIMEOUT,
        threshold: DAT_COUNT,
        event: &mut MaybeUninit<DAT_EVENT>,
    ) -> DAT_RETURN {
        let mut more = 0;
        // SAFETY: the handle is that of a dispatcher, and both places are the caller's or this function's own.
        unsafe {
            (self.0.ia.library().calls().dat_evd_wait)(self.raw(), timeout, threshold, event.as_mut_ptr(), &mut more)
        }
    }
}

impl Drop for EvdInner {
    fn drop(&mut self) {
        // SAFETY: the handle is that of a dispatcher, of which this was the last owner.
        unsafe { (self.ia.library().calls().dat_evd_free)(self.handle.0) };
    }
}

/// Takes the oldest event of a dispatcher, if there is one.
pub(super) fn dequeue(library: Library, evd: Handle) -> Result<Option<Event>> {
    let mut event = MaybeUninit::<DAT_EVENT>::zeroed();
    // SAFETY: the place is this function's own.
    match unsafe { (library.calls().dat_evd_dequeue)(evd.0, event.as_mut_ptr()) } {
        // SAFETY: the call wrote the event.
        DAT_SUCCESS => Ok(Some(unsafe { Event::of(library, event.assume_init_ref()) })),
        code if DAT_GET_TYPE(code) == DAT_QUEUE_EMPTY => Ok(None),
        code => Err(Error::new(library, "dat_evd_dequeue", code)),
    }
}

/// A time as the calls take it, at most some 71 minutes: what is longer is not for ever.
pub(super) fn timeout(longest: Duration) -> DAT_TIMEOUT {
    DAT_TIMEOUT::try_from(longest.as_micros()).unwrap_or(DAT_TIMEOUT_INFINITE).min(DAT_TIMEOUT_INFINITE - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_time_is_not_for_ever() {
        assert_eq!(timeout(Duration::from_millis(3)), 3000);
        assert_eq!(timeout(Duration::MAX), DAT_TIMEOUT_INFINITE - 1);
        assert_eq!(timeout(Duration::from_micros(u64::from(u32::MAX))), DAT_TIMEOUT_INFINITE - 1);
    }
}
