//! The counters of endpoints and adapters, as named attributes: programs find them among the provider-specific attributes that
//! dat_ep_query and dat_ia_query return.
//!
//! A list of attributes stays in place as long as its object. Each query writes the values anew, so a program that keeps a
//! value over the next query copies it.
//!
//! Programs keep attributes longer than the object: they make endpoints with those that one had which is freed, and look at
//! those of an adapter that they have closed. So the memory of a list is never given back. It goes to the next object that
//! needs such a list, with the same names.
//!
//! The digits are written anew in atomic bytes, behind which there is always a zero; there are as many lists as there
//! were objects with one at a time.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use dat_core::counters::{Counters, Tally};
use dat_core::event::Transfer;
use dat_core::transport::Transport;
use dat_core::{Endpoint, Ia};
use dat_udat::{DAT_COUNT, DAT_NAMED_ATTR};
use host::memory::{self, NoMemory, Room};
use host::{cstr, fork};

/// The names, those of endpoints first; the last one is an adapter's alone.
const NAMES: [&CStr; 13] = [
    c"DAT_COUNTER_SENDS",
    c"DAT_COUNTER_SEND_BYTES",
    c"DAT_COUNTER_RDMA_WRITES",
    c"DAT_COUNTER_RDMA_WRITE_BYTES",
    c"DAT_COUNTER_RDMA_READS",
    c"DAT_COUNTER_RDMA_READ_BYTES",
    c"DAT_COUNTER_RECEIVES",
    c"DAT_COUNTER_RECEIVE_BYTES",
    c"DAT_COUNTER_REQUEST_STALLS",
    c"DAT_COUNTER_RECEIVE_STALLS",
    c"DAT_COUNTER_PEER_WAKEUPS",
    c"DAT_COUNTER_LOST_DATAGRAMS",
    c"DAT_COUNTER_WAKEUPS",
];

/// The number of counters that an endpoint has.
const OF_ENDPOINT: usize = NAMES.len() - 1;

/// The same as the interface counts.
pub const NUMBER_OF_ENDPOINT: DAT_COUNT = OF_ENDPOINT as DAT_COUNT;

/// Room for a name, and more.
const NAME_MAX: usize = 64;

/// The values, in the order of the names.
fn values(counters: &Counters, wakeups: u64) -> [u64; NAMES.len()] {
    let of = |transfer| {
        let Tally { operations, bytes } = counters.tallies.of(transfer);
        [operations, bytes]
    };
    let [send, write, read, recv] = [Transfer::Send, Transfer::Write, Transfer::Read, Transfer::Recv].map(of);
    let [[a, b], [c, d], [e, f], [g, h]] = [send, write, read, recv];
    let Counters { flow, lost, .. } = *counters;
    [a, b, c, d, e, f, g, h, flow.request_stalls, flow.message_stalls, flow.peer_wakeups, lost, wakeups]
}

/// A number in decimal digits, with room for the largest one. Programs may be reading it while it is written; its last byte is
/// always 0.
#[derive(Default)]
struct Digits([AtomicU8; 21]);

impl Digits {
    fn write(&self, mut value: u64) {
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        for (at, place) in self.0.iter().enumerate() {
            place.store(digits.get(first + at).copied().unwrap_or(0), Ordering::Relaxed);
        }
    }
}

/// A list of attributes that begins with some that others own.
struct Report {
    /// Those of others.
    head: &'static [DAT_NAMED_ATTR],
    /// What the pointers behind them point to.
    texts: Vec<Digits>,
    list: Vec<DAT_NAMED_ATTR>,
}

// SAFETY: the pointers lead to the texts of the list itself, to constants, and to what is never freed; only atomics change.
unsafe impl Send for Report {}
// SAFETY: as above.
unsafe impl Sync for Report {}

impl Report {
    fn new(head: &'static [DAT_NAMED_ATTR], names: &[&'static CStr]) -> Result<Report, NoMemory> {
        let mut texts: Vec<Digits> = memory::vec(names.len())?;
        texts.resize_with(names.len(), Digits::default);
        let mut list = memory::vec(head.len() + names.len())?;
        list.extend_from_slice(head);
        list.extend(names.iter().zip(&texts).map(|(name, text)| DAT_NAMED_ATTR {
            name: name.as_ptr().cast::<c_char>(),
            value: text.0.as_ptr().cast::<c_char>(),
        }));
        Ok(Report { head, texts, list })
    }

    /// Whether it begins with these, the very same ones.
    fn begins_with(&self, head: &[DAT_NAMED_ATTR]) -> bool {
        self.head.len() == head.len() && (head.is_empty() || self.head.as_ptr() == head.as_ptr())
    }

    /// Writes the values and returns the list.
    fn fill(&self, values: &[u64]) -> Attributes {
        self.texts.iter().zip(values).for_each(|(text, &value)| text.write(value));
        attributes(&self.list)
    }
}

/// A list as the interface has it: the number of its elements, and the first one.
pub type Attributes = (DAT_COUNT, *mut DAT_NAMED_ATTR);

fn attributes(list: &[DAT_NAMED_ATTR]) -> Attributes {
    (crate::count(list.len()), list.as_ptr().cast_mut())
}

/// The lists of all objects of a kind, with these counters at their end. None is ever freed, so there are as many as there
/// were objects at a time that needed one.
struct Lists {
    names: &'static [&'static CStr],
    spare: Mutex<Spare>,
}

/// The lists that no object has.
struct Spare {
    lists: Vec<&'static Report>,
    /// How many there are with those that objects have.
    made: usize,
}

static OF_ENDPOINTS: Lists = Lists::new(NAMES.split_at(OF_ENDPOINT).0);
static OF_ADAPTERS: Lists = Lists::new(&NAMES);

impl Lists {
    const fn new(names: &'static [&'static CStr]) -> Self {
        Lists { names, spare: Mutex::new(Spare { lists: Vec::new(), made: 0 }) }
    }

    /// Calls `f` with the lists that no object has. No fork falls into it, since a child has objects of its own.
    fn spare<R>(&self, f: impl FnOnce(&mut Spare) -> R) -> R {
        fork::with_fork_lock(|| f(&mut self.spare.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// A list that begins with `head`, which is never freed.
    fn lend(&'static self, head: &'static [DAT_NAMED_ATTR]) -> Result<Lent, NoMemory> {
        let spare = self.spare(|Spare { lists, .. }| {
            let at = lists.iter().rposition(|report| report.begins_with(head))?;
            Some(lists.swap_remove(at))
        });
        if let Some(report) = spare {
            return Ok(Lent { report, lists: self });
        }
        let report = memory::boxed(Report::new(head, self.names)?)?;
        self.spare(|Spare { lists, made }| {
            // A list that comes back needs no memory then.
            lists.room(*made + 1 - lists.len())?;
            *made += 1;
            Ok(Lent { report: Box::leak(report), lists: self })
        })
    }
}

/// A list for as long as an object has it.
struct Lent {
    report: &'static Report,
    lists: &'static Lists,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.lists.spare(|spare| spare.lists.push(self.report));
    }
}

/// The counters of an endpoint. None if there is no memory for them.
pub fn of_endpoint<T: Transport>(ep: &Endpoint<T>) -> Attributes {
    // Values are looked at while the list is held, so that none is written over a newer one.
    let report =
        ep.kept.with(|| OF_ENDPOINTS.lend(&[]), |list: &mut Lent| list.report.fill(&values(&ep.counters(), 0)));
    report.unwrap_or((0, std::ptr::null_mut()))
}

/// Whether a query of this endpoint has returned this very list.
pub fn has_returned<T: Transport>(ep: &Endpoint<T>, list: *const DAT_NAMED_ATTR) -> bool {
    let of_ep = ep.kept.with(|| Err(NoMemory), |lent: &mut Lent| lent.report.list.as_ptr());
    of_ep == Some(list)
}

/// Attributes of the provider of an adapter, which are never freed, and behind them the counters of the adapter. Without these if
/// there is no memory for them.
pub fn of_adapter<T: Transport>(ia: &Ia<T>, head: &'static [DAT_NAMED_ATTR]) -> Attributes {
    // There are others if the state of the port has changed.
    let report = ia.kept.with(
        || Ok(Vec::new()),
        |lists: &mut Vec<Lent>| -> Result<Attributes, NoMemory> {
            let at = lists.iter().position(|list| list.report.begins_with(head));
            let at = match at {
                Some(at) => at,
                None => {
                    lists.room(1)?;
                    lists.push(OF_ADAPTERS.lend(head)?);
                    lists.len() - 1
                }
            };
            Ok(lists[at].report.fill(&values(&ia.counters(), ia.wakeups())))
        },
    );
    report.and_then(Result::ok).unwrap_or_else(|| attributes(head))
}

/// Whether these are the counters of an endpoint, as a program has them that passes on what a query returned.
///
/// # Safety
/// `list` has `count` elements, with names that are NULL or C strings.
pub unsafe fn are_of_endpoint(count: DAT_COUNT, list: *const DAT_NAMED_ATTR) -> bool {
    if usize::try_from(count) != Ok(OF_ENDPOINT) || list.is_null() {
        return false;
    }
    (0..OF_ENDPOINT).all(|at| {
        // SAFETY: it has that many elements, as the caller promises.
        let name = unsafe { (&raw const (*list.add(at)).name).read_unaligned() };
        // SAFETY: as the caller promises.
        unsafe { cstr::bounded(name, NAME_MAX) }.is_some_and(|name| name == NAMES[at])
    })
}

#[cfg(test)]
mod tests;
