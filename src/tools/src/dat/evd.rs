//! Event dispatchers, and notification objects to wait for several of them.

use std::mem::MaybeUninit;
use std::time::Duration;

use anyhow::Result;
use dat_udat12::*;

use super::object::{Object, object};
use super::{Event, Ia};

object! {
    /// An event dispatcher: a queue of events.
    Evd
}

/// Room for an event.
pub type RawEvent = MaybeUninit<DAT_EVENT>;

impl Evd {
    /// Makes a dispatcher.
    ///
    /// # Parameters
    /// * `length` - events that it can hold.
    /// * `kinds` - the kinds of events, bits of `DAT_EVD_DEFAULT_FLAG`.
    /// * `cno` - the notification object that events trigger.
    pub fn new(ia: &Ia, length: usize, kinds: DAT_EVD_FLAGS, cno: Option<&Cno>) -> Result<Self> {
        let length = DAT_COUNT::try_from(length).unwrap_or(DAT_COUNT::MAX);
        let triggered = cno.map_or(DAT_HANDLE_NULL, |cno| cno.raw());
        let calls = ia.library().calls();
        let uses = cno.into_iter().map(|cno| cno.0.clone()).collect();
        // SAFETY: the adapter is open, and the place is the object's own.
        let make =
            |handle: &mut DAT_HANDLE| unsafe { (calls.dat_evd_create)(ia.raw(), length, triggered, kinds, handle) };
        Object::new(ia, "dat_evd_create", calls.dat_evd_free, uses, make).map(Self)
    }

    /// As dat_evd_dequeue; the event is written on `DAT_SUCCESS`.
    #[inline(always)]
    pub fn dequeue_into(&self, place: &mut RawEvent) -> DAT_RETURN {
        // SAFETY: the place is the caller's, and the handle that of a dispatcher.
        unsafe { (self.library().calls().dat_evd_dequeue)(self.raw(), place.as_mut_ptr()) }
    }

    /// As dat_evd_wait for one event, which is written on `DAT_SUCCESS`.
    #[inline(always)]
    pub fn wait_into(&self, longest: DAT_TIMEOUT, place: &mut RawEvent) -> DAT_RETURN {
        let mut more = 0;
        // SAFETY: both places are the caller's and this function's own, and the handle is that of a dispatcher.
        unsafe { (self.library().calls().dat_evd_wait)(self.raw(), longest, 1, place.as_mut_ptr(), &mut more) }
    }

    /// Takes the oldest event, if there is one.
    pub fn dequeue(&self) -> Result<Option<Event>> {
        let mut place = RawEvent::zeroed();
        let code = self.dequeue_into(&mut place);
        self.event("dat_evd_dequeue", code, &place)
    }

    /// Waits for an event and takes it; there is none if the time is up, or a signal was handled.
    pub fn wait(&self, longest: Duration) -> Result<Option<Event>> {
        let mut place = RawEvent::zeroed();
        let code = self.wait_into(timeout(longest), &mut place);
        self.event("dat_evd_wait", code, &place)
    }

    fn event(&self, call: &'static str, code: DAT_RETURN, place: &RawEvent) -> Result<Option<Event>> {
        match code {
            // SAFETY: the call wrote the event.
            DAT_SUCCESS => Ok(Some(unsafe { Event::of(self.library(), place.assume_init_ref()) })),
            code if is_nothing(code) => Ok(None),
            code => Err(self.library().error(call, code)),
        }
    }

    /// Wakes the threads that wait with an error; no thread can wait after that.
    pub fn set_unwaitable(&self) -> Result<()> {
        // SAFETY: the handle is that of a dispatcher.
        let code = unsafe { (self.library().calls().dat_evd_set_unwaitable)(self.raw()) };
        self.library().check("dat_evd_set_unwaitable", code)
    }
}

object! {
    /// A consumer notification object: one thread waits for several dispatchers.
    Cno
}

impl Cno {
    /// Makes an object without an agent.
    pub fn new(ia: &Ia) -> Result<Self> {
        let agent = DAT_OS_WAIT_PROXY_AGENT { instance_data: std::ptr::null_mut(), proxy_agent_func: None };
        let calls = ia.library().calls();
        // SAFETY: the adapter is open, and the place is the object's own.
        let make = |handle: &mut DAT_HANDLE| unsafe { (calls.dat_cno_create)(ia.raw(), agent, handle) };
        Object::new(ia, "dat_cno_create", calls.dat_cno_free, Vec::new(), make).map(Self)
    }

    /// Waits until a dispatcher triggers it, the time is up, or a signal is handled. The caller looks at all dispatchers then:
    /// which one triggered is only a hint.
    pub fn wait(&self, longest: Duration) -> Result<()> {
        let mut triggered = DAT_HANDLE_NULL;
        // SAFETY: the handle is that of a notification object, and the place is this function's own.
        let code = unsafe { (self.library().calls().dat_cno_wait)(self.raw(), timeout(longest), &mut triggered) };
        if is_nothing(code) { Ok(()) } else { self.library().check("dat_cno_wait", code) }
    }
}

/// Whether a call found no event, and nothing is wrong.
fn is_nothing(code: DAT_RETURN) -> bool {
    matches!(DAT_GET_TYPE(code), DAT_QUEUE_EMPTY | DAT_TIMEOUT_EXPIRED | DAT_INTERRUPTED_CALL)
}

/// A time as the calls take it, at most some 71 minutes, so that a long time is not infinite.
pub(super) fn timeout(longest: Duration) -> DAT_TIMEOUT {
    DAT_TIMEOUT::try_from(longest.as_micros()).unwrap_or(DAT_TIMEOUT_INFINITE).min(DAT_TIMEOUT_INFINITE - 1)
}

#[cfg(test)]
mod tests;
