//! Counters of endpoints and adapters: provider-specific named attributes of dat_ep_query and dat_ia_query.
//!
//! A list of attributes has a fixed address, and each query overwrites its values. Programs use lists even after the
//! object was freed: they create endpoints with a freed endpoint's attributes, and read the attributes of a closed
//! adapter. So lists are never freed, but new objects reuse the lists of freed objects, which bounds the number of
//! lists.
//!
//! A program can read a value during a query, so the digits are atomic bytes with a final zero.

use std::ffi::{CStr, CString, c_char};
use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use dat_core::counters::{Counters, Tally};
use dat_core::event::Transfer;
use dat_core::transport::Transport;
use dat_core::{Endpoint, Ia};
use dat_udat::{DAT_COUNT, DAT_NAMED_ATTR};
use host::memory::{self, NoMemory, Room};
use host::{cstr, fork};

/// Names of the counters. Only adapters have the last counter.
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

const OF_ENDPOINT: usize = NAMES.len() - 1;

/// Number of counters of an endpoint.
pub const NUMBER_OF_ENDPOINT: DAT_COUNT = OF_ENDPOINT as DAT_COUNT;

/// Maximum length of an attribute's name that a program passes, in bytes, with the final 0.
const NAME_MAX: usize = 64;

fn values(counters: &Counters, wakeups: u64) -> [u64; NAMES.len()] {
    let of = |transfer| {
        let Tally { operations, bytes } = counters.tallies.total(transfer);
        [operations, bytes]
    };
    let [send, write, read, recv] = [Transfer::Send, Transfer::Write, Transfer::Read, Transfer::Recv].map(of);
    let [[a, b], [c, d], [e, f], [g, h]] = [send, write, read, recv];
    let Counters { flow, lost, .. } = *counters;
    [a, b, c, d, e, f, g, h, flow.request_stalls, flow.message_stalls, flow.peer_wakeups, lost, wakeups]
}

/// A decimal number. The last byte is always 0.
#[derive(Default)]
struct Digits([AtomicU8; 21]);

impl Digits {
    fn write(&self, value: u64) {
        let mut digits = [0; 21];
        // Cannot fail: a number has at most 20 digits.
        let _ = write!(&mut digits[..20], "{value}");
        self.0.iter().zip(digits).for_each(|(place, digit)| place.store(digit, Ordering::Relaxed));
    }
}

/// Names and values of the attributes that precede the counters in a list.
pub type Head = Vec<(&'static CStr, CString)>;

/// A list of attributes: `head`, then counters.
struct Report {
    head: Head,
    texts: Vec<Digits>,
    list: Vec<DAT_NAMED_ATTR>,
}

// SAFETY: the pointers lead to `head`, `texts` and constants; only atomics change.
unsafe impl Send for Report {}
// SAFETY: only atomics change.
unsafe impl Sync for Report {}

impl Report {
    fn new(head: Head, names: &[&'static CStr]) -> Result<Report, NoMemory> {
        // The head outlives the call, so it must not be in the memory reserve ([`memory`]).
        if memory::is_lent(&*head) || head.iter().any(|(_, value)| memory::is_lent(value.to_bytes())) {
            return Err(NoMemory);
        }
        let mut texts: Vec<Digits> = memory::vec(names.len())?;
        texts.resize_with(names.len(), Digits::default);
        let mut list = memory::vec(head.len() + names.len())?;
        let named = |name: &CStr, value| DAT_NAMED_ATTR { name: name.as_ptr(), value };
        list.extend(head.iter().map(|(name, value)| named(name, value.as_ptr())));
        list.extend(names.iter().zip(&texts).map(|(name, text)| named(name, text.0.as_ptr().cast::<c_char>())));
        Ok(Report { head, texts, list })
    }

    fn fill(&self, values: &[u64]) -> Attributes {
        self.texts.iter().zip(values).for_each(|(text, &value)| text.write(value));
        attributes(&self.list)
    }
}

/// Number of elements and address of a list.
pub type Attributes = (DAT_COUNT, *mut DAT_NAMED_ATTR);

fn attributes(list: &[DAT_NAMED_ATTR]) -> Attributes {
    (crate::count(list.len()), list.as_ptr().cast_mut())
}

struct Lists {
    names: &'static [&'static CStr],
    spare: Mutex<Spare>,
}

struct Spare {
    lists: Vec<&'static Report>,
    /// Number of lists ever created.
    made: usize,
}

static OF_ENDPOINTS: Lists = Lists::new(NAMES.split_at(OF_ENDPOINT).0);
static OF_ADAPTERS: Lists = Lists::new(&NAMES);

impl Lists {
    const fn new(names: &'static [&'static CStr]) -> Self {
        Lists { names, spare: Mutex::new(Spare { lists: Vec::new(), made: 0 }) }
    }

    /// Calls `f` with the unused lists. Excludes forks, so that the child can lock the lists.
    fn spare<R>(&self, f: impl FnOnce(&mut Spare) -> R) -> R {
        fork::with_fork_lock(|| f(&mut self.spare.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Returns an unused or a new list that begins with `head`.
    fn lend(&'static self, head: Head) -> Result<Lent, NoMemory> {
        let spare = self.spare(|Spare { lists, .. }| {
            let at = lists.iter().rposition(|report| report.head == head)?;
            Some(lists.swap_remove(at))
        });
        if let Some(report) = spare {
            return Ok(Lent { report, lists: self });
        }
        let report = memory::boxed(Report::new(head, self.names)?)?;
        self.spare(|Spare { lists, made }| {
            // With this capacity, a returned list needs no memory.
            lists.room(*made + 1 - lists.len())?;
            *made += 1;
            Ok(Lent { report: Box::leak(report), lists: self })
        })
    }
}

struct Lent {
    report: &'static Report,
    lists: &'static Lists,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.lists.spare(|spare| spare.lists.push(self.report));
    }
}

/// Returns the counters of an endpoint, or an empty list if memory is short.
pub fn of_endpoint<T: Transport>(ep: &Endpoint<T>) -> Attributes {
    // Counters are read under the list's lock, so that no older value overwrites a newer one.
    let report = ep
        .api_data
        .with(|| OF_ENDPOINTS.lend(Vec::new()), |list: &mut Lent| list.report.fill(&values(&ep.counters(), 0)));
    report.unwrap_or((0, std::ptr::null_mut()))
}

/// Returns whether a query of `ep` has returned exactly this list.
pub fn has_returned<T: Transport>(ep: &Endpoint<T>, list: *const DAT_NAMED_ATTR) -> bool {
    let of_ep = ep.api_data.with(|| Err(NoMemory), |lent: &mut Lent| lent.report.list.as_ptr());
    of_ep == Some(list)
}

/// Returns `head` followed by the adapter's counters, or an empty list if memory is short.
pub fn of_adapter<T: Transport>(ia: &Ia<T>, head: Head) -> Attributes {
    // The head changes with the port's state, so an adapter can have several lists.
    let report = ia.api_data.with(
        || Ok(Vec::new()),
        |lists: &mut Vec<Lent>| -> Result<Attributes, NoMemory> {
            let at = match lists.iter().position(|list| list.report.head == head) {
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
    report.and_then(Result::ok).unwrap_or((0, std::ptr::null_mut()))
}

/// Returns whether a program's list has the names of an endpoint's counters, in their order.
///
/// # Safety
/// `list` is NULL or has `count` elements, with names that are NULL or C strings.
pub unsafe fn are_of_endpoint(count: DAT_COUNT, list: *const DAT_NAMED_ATTR) -> bool {
    if usize::try_from(count) != Ok(OF_ENDPOINT) || list.is_null() {
        return false;
    }
    (0..OF_ENDPOINT).all(|at| {
        // SAFETY: the caller promises `count` elements, and `at` is below `count`.
        let name = unsafe { list.wrapping_add(at).read_unaligned() }.name;
        // SAFETY: the caller promises NULL or C strings.
        unsafe { cstr::bounded(name, NAME_MAX) }.is_some_and(|name| name == NAMES[at])
    })
}

#[cfg(test)]
mod tests;
