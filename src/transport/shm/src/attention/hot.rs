//! The few most active connections, whose rings polls check directly. Their peers send no notifications, so a message
//! costs one cache line.
//!
//! Other connections have ready bits, and do not slow polls down. A connection is added to the polled set after four
//! polls have found its ready bit. The set is emptied before a thread of this process sleeps, and when other
//! connections have more than a third of the events. The removal of a connection is published, and then, after a fence,
//! the connection is polled once more. So either the peer sees that it must set the bit, or the poll finds the peer's
//! record (SYNC polled).
//!
//! A removal needs this fence, which takes microseconds, so a connection never replaces another in a full set. If 256
//! events came by ready bits while polling found fewer than twice as many, all connections use bits for the next 65,536
//! events. Each poll checks the complete set, so no connection in the set starves. Without a fence across processes
//! (`os/barrier.rs`), the sender executes a fence per message.

use std::mem;
use std::sync::Arc;

use arrayvec::ArrayVec;

use crate::conn::Conn;
use crate::control_region::ControlRegion;

const MAX_HOT: usize = 16;
const EVAL_PERIOD: u64 = 1 << 8;
const RETRY_AFTER: u32 = 1 << 16;

enum Look {
    Nothing,
    Further,
    /// Records arrived. `moved` is set if the transmit direction also has work, such as a new position of the peer.
    Records {
        moved: bool,
    },
}

/// Polls a connection. A `caller` polls again soon, so it may ignore a new position of the peer while the peer's reply,
/// which contains the position, is expected.
#[inline(always)]
fn look(conn: &Arc<Conn>, caller: bool) -> Look {
    let Some(end) = conn.end() else { return Look::Nothing };
    if end.has_requests() {
        let credit = conn.take_requests(end);
        if let Some(credit) = credit {
            conn.try_progress_tx(end, credit);
        }
        if end.is_answered() {
            conn.progress();
        }
        return Look::Records { moved: credit.is_some() };
    }
    if end.has_moved(caller) {
        conn.try_progress_tx(end, None);
        return Look::Further;
    }
    if end.is_busy() {
        // This end has work that needs no new data, for example a request for a message's bytes that waited for room.
        conn.progress();
    }
    Look::Nothing
}

#[derive(Default)]
pub struct Hot {
    /// A connection with records moves one place to the front. If both ends of a connection are in this process, the
    /// receiving end thus precedes the sending end: one poll finds a message, and then its consumption.
    list: ArrayVec<Arc<Conn>, MAX_HOT>,
    records: u32,
    /// Number of events in this period that polling found.
    found: u64,
    /// Number of events in this period that ready bits showed.
    others: u64,
    until_retry: u32,
}

impl Hot {
    #[inline(always)]
    pub fn poll(&mut self, caller: bool) {
        let mut at = 0;
        while let Some(conn) = self.list.get(at) {
            match look(conn, caller) {
                Look::Nothing => {}
                Look::Further => self.found += 1,
                Look::Records { moved } => {
                    self.found += 1 + u64::from(moved);
                    self.records = self.records.wrapping_add(1);
                    if at > 0 {
                        self.list.swap(at - 1, at);
                    }
                }
            }
            at += 1;
        }
    }

    /// Counts an event of `conn` that its ready bit showed. After several such events, adds `conn` to the polled set if
    /// there is room and `may` returns `true`.
    #[inline]
    pub fn on_ready(&mut self, conn: &Arc<Conn>, control: &ControlRegion, may: impl FnOnce() -> bool) {
        self.records = self.records.wrapping_add(1);
        self.others += 1;
        if self.others == EVAL_PERIOD {
            self.end_period(control);
        }
        if self.until_retry > 0 {
            self.until_retry -= 1;
        } else if conn.note_ready() {
            self.add(conn, may);
        }
    }

    #[cold]
    fn add(&mut self, conn: &Arc<Conn>, may: impl FnOnce() -> bool) {
        if self.list.is_full() || !may() {
            return;
        }
        if self.list.is_empty() {
            (self.found, self.others) = (0, 0);
        }
        if conn.begin_polling() {
            self.list.push(conn.clone());
        }
    }

    /// Empties the polled set for the next [`RETRY_AFTER`] events, if connections outside of it had more than a third
    /// of this period's events.
    #[cold]
    fn end_period(&mut self, control: &ControlRegion) {
        let (found, others) = (mem::take(&mut self.found), mem::take(&mut self.others));
        if others > found / 2 && !self.list.is_empty() {
            self.until_retry = RETRY_AFTER;
            self.cool_all(control);
        }
    }

    #[inline]
    pub fn records(&self) -> u32 {
        self.records
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    #[cold]
    pub fn cool_all(&mut self, control: &ControlRegion) {
        for conn in &self.list {
            conn.end_polling();
        }
        control.fence_peers();
        for conn in self.list.drain(..) {
            conn.poll_if_pending();
        }
    }

    pub fn forget_dead(&mut self) {
        self.list.retain(|conn| conn.base.is_up());
    }
}

#[cfg(all(test, loom))]
mod model;
