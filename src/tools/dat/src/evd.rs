//! Event dispatchers, the events that they return, and notification objects.

use std::cell::Cell;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::time::Duration;

use dat_udat20::*;

use crate::abi::{by_version, bytes};
use crate::object::{Object, object};
use crate::{Cr, EpId, Ia, Result};

/// The completion of a data transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The endpoint.
    pub ep: EpId,
    /// The cookie of the post.
    pub cookie: u64,
    /// The outcome: `DAT_DTO_SUCCESS`, or an error.
    pub status: DAT_DTO_COMPLETION_STATUS,
    /// Number of transferred bytes, if the transfer succeeded.
    pub length: u64,
}

/// An event of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// One of `DAT_CONNECTION_EVENT_...`.
    pub number: DAT_EVENT_NUMBER,
    /// The endpoint.
    pub ep: EpId,
    /// Private data of the peer.
    pub private_data: Vec<u8>,
}

/// An event that an [`Evd`] returned. `Other` is an event of any other kind, without its data.
#[allow(missing_docs, reason = "the types describe the variants")]
pub enum Event {
    Completion(Completion),
    Request(Cr),
    Connection(Connection),
    Other,
}

object! {
    /// An event dispatcher: a queue of events. It is not `Sync`, because the private data of an event is valid only
    /// until a thread takes the next event.
    Evd, PhantomData<Cell<()>>
}

/// Takes an event with `$call`, which stores the event at `$place`, and converts the event. Without an event, returns
/// `Ok(None)` or the error from the function.
macro_rules! take {
    ($evd:ident, $name:literal, |$calls:ident, $place:ident| $call:expr) => {
        by_version!($evd.library(), |$calls, udat| {
            let mut event = MaybeUninit::<udat::DAT_EVENT>::uninit();
            let $place = event.as_mut_ptr();
            // SAFETY: the dispatcher is live, and the places are local.
            let code = unsafe { $call };
            if code != DAT_SUCCESS {
                return if is_nothing(code) { Ok(None) } else { Err($evd.library().error($name, code)) };
            }
            // SAFETY: the call wrote the event, whose number determines the valid member. Private data is valid until
            // this thread takes the next event.
            unsafe {
                let (number, data) = ((*$place).event_number, &raw const (*$place).event_data);
                Ok(Some(match number {
                    DAT_DTO_COMPLETION_EVENT => {
                        let data = &(*data).dto_completion_event_data;
                        Event::Completion(Completion {
                            ep: EpId::of(data.ep_handle),
                            cookie: data.user_cookie.as_64,
                            status: data.status,
                            length: data.transfered_length.into(),
                        })
                    }
                    DAT_CONNECTION_REQUEST_EVENT => {
                        Event::Request(Cr::new($evd.ia(), (*data).cr_arrival_event_data.cr_handle))
                    }
                    DAT_CONNECTION_EVENT_ESTABLISHED..=DAT_CONNECTION_EVENT_UNREACHABLE => {
                        connection(number, &(*data).connect_event_data)
                    }
                    _ => Event::Other,
                }))
            }
        })
    };
}

impl Evd {
    /// Creates a dispatcher for up to `length` events of `kinds`, bits of `DAT_EVD_DEFAULT_FLAG`. Its events trigger
    /// `cno`.
    pub fn new(ia: &Ia, length: usize, kinds: DAT_EVD_FLAGS, cno: Option<&Cno>) -> Result<Self> {
        let length = DAT_COUNT::try_from(length).unwrap_or(DAT_COUNT::MAX);
        let triggered = cno.map_or(DAT_HANDLE_NULL, |cno| cno.raw());
        let calls = &ia.library().calls().common;
        let uses = cno.into_iter().map(|cno| cno.0.clone()).collect();
        // SAFETY: the adapter is open, and the caller provides the handle's place.
        let create =
            |handle: &mut DAT_HANDLE| unsafe { (calls.dat_evd_create)(ia.raw(), length, triggered, kinds, handle) };
        Object::new(ia, "dat_evd_create", calls.dat_evd_free, uses, create).map(|object| Self(object, PhantomData))
    }

    /// Takes the oldest event. Returns `None` if the queue is empty.
    #[inline(always)]
    pub fn dequeue(&self) -> Result<Option<Event>> {
        take!(self, "dat_evd_dequeue", |calls, place| (calls.dat_evd_dequeue)(self.raw(), place))
    }

    /// Waits for an event and takes it. Returns `None` after `timeout` (at most 71 minutes), or if a signal handler
    /// ran.
    #[inline(always)]
    pub fn wait(&self, timeout: Duration) -> Result<Option<Event>> {
        let (timeout, mut more) = (microseconds(timeout), 0);
        take!(self, "dat_evd_wait", |calls, place| (calls.dat_evd_wait)(self.raw(), timeout, 1, place, &mut more))
    }
}

/// # Safety
/// `data.private_data` is null or points to `data.private_data_size` bytes.
#[cold]
unsafe fn connection(number: DAT_EVENT_NUMBER, data: &DAT_CONNECTION_EVENT_DATA) -> Event {
    // SAFETY: the caller guarantees the private data.
    let private_data = unsafe { bytes(data.private_data, data.private_data_size) };
    Event::Connection(Connection { number, ep: EpId::of(data.ep_handle), private_data })
}

object! {
    /// A consumer notification object, with which one thread waits for several dispatchers.
    Cno
}

impl Cno {
    /// Creates a notification object without an OS wait proxy agent.
    pub fn new(ia: &Ia) -> Result<Self> {
        let agent = DAT_OS_WAIT_PROXY_AGENT { instance_data: std::ptr::null_mut(), proxy_agent_func: None };
        let calls = &ia.library().calls().common;
        // SAFETY: the adapter is open, and the caller provides the handle's place.
        let create = |handle: &mut DAT_HANDLE| unsafe { (calls.dat_cno_create)(ia.raw(), agent, handle) };
        Object::new(ia, "dat_cno_create", calls.dat_cno_free, Vec::new(), create).map(Self)
    }

    /// Waits until a dispatcher triggers the object, `timeout` passes or a signal handler returns. The caller must then
    /// poll all dispatchers, because several may have triggered it.
    pub fn wait(&self, timeout: Duration) -> Result<()> {
        let mut triggered = DAT_HANDLE_NULL;
        // SAFETY: the notification object is live, and the place is local.
        let code =
            unsafe { (self.library().calls().common.dat_cno_wait)(self.raw(), microseconds(timeout), &mut triggered) };
        if is_nothing(code) { Ok(()) } else { self.library().check("dat_cno_wait", code) }
    }
}

/// Returns whether `code` reports only the lack of an event, not an error.
#[inline(always)]
fn is_nothing(code: DAT_RETURN) -> bool {
    matches!(DAT_GET_TYPE(code), DAT_QUEUE_EMPTY | DAT_TIMEOUT_EXPIRED | DAT_INTERRUPTED_CALL)
}

pub(crate) fn microseconds(time: Duration) -> DAT_TIMEOUT {
    DAT_TIMEOUT::try_from(time.as_micros()).unwrap_or(DAT_TIMEOUT_INFINITE).min(DAT_TIMEOUT_INFINITE - 1)
}

/// Returns the name of an event, such as `DAT_CONNECTION_EVENT_BROKEN`.
pub fn event_name(number: DAT_EVENT_NUMBER) -> &'static str {
    name_of(DAT_EVENT_NUMBER, number).unwrap_or("unknown event")
}

/// Returns the name of the outcome of a data transfer, such as `DAT_DTO_ERR_FLUSHED`.
pub fn status_name(number: DAT_DTO_COMPLETION_STATUS) -> &'static str {
    name_of(DAT_DTO_COMPLETION_STATUS, number).unwrap_or("unknown status")
}

fn name_of(names: &[(u32, &'static CStr)], number: u32) -> Option<&'static str> {
    names.iter().find(|(known, _)| *known == number).and_then(|(_, name)| name.to_str().ok())
}

#[cfg(test)]
mod tests;
