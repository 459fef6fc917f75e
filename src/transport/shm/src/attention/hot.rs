//! The few connections that carried data last. A thread that polls looks at their rings itself, and their peers, which
//! know that, send it no notice: a message is one cache line.
//!
//! All other connections have ready bits, and a poll costs nothing for them. A connection whose bits polls find again
//! and again becomes one of those that are polled. It stops being one when nothing has come for long, or when the last
//! thread that polls goes to sleep. The peers see that first; after that, and after a fence, the connection is looked at
//! once more. So a peer that has stored a record either sees that it has to set the bit, or its record is found (SYNC polled).
//!
//! That fence takes microseconds, so no connection makes room for another one that is just as busy. Where many more are
//! busy than there are places, looking at those few is of no use: all have ready bits then, and it is tried again after
//! many messages.
//!
//! A connection becomes polled after four polls have found it by its ready bit while callers poll without sleeping. It
//! stops being polled after 65,536 polls without news if more than two are polled, or when a thread is about to sleep until it is rung. If 256
//! pieces of news came by ready bits while polling found fewer than twice as many, polling did not pay, and all
//! connections use bits for the next 65,536 pieces of news. Each poll looks at all that are polled, so none keeps others
//! waiting. A connection whose program sleeps in each wait is never polled, and pays for bits alone. Where the system
//! has no fence across processes (`os/barrier.rs`), the sender makes a fence for each message.

use std::mem;
use std::sync::Arc;

use arrayvec::ArrayVec;

use crate::conn::Conn;
use crate::control_region::ControlRegion;
use crate::peer_segment::Open;

/// The most connections that are polled.
const MOST: usize = 16;
/// Polls without news after which a connection is no longer polled, if there are more than a few: of those none is.
const IDLE: u32 = 1 << 16;
const FEW: usize = 2;
/// Pieces of news of other connections after which the news that polls found is compared with them.
const TERM: u64 = 1 << 8;
/// Pieces of news after which connections are polled again where that did not pay.
const REST: u32 = 1 << 16;

/// A connection that is polled.
struct HotConn {
    conn: Arc<Conn>,
    /// Polls since there was news.
    idle: u32,
}

/// What a look at a connection finds.
enum Look {
    /// There is nothing to do.
    Nothing,
    /// The peer has got further.
    Further,
    /// Records have come.
    Records,
    /// There has been no news for long.
    Idle,
}

impl HotConn {
    /// Lets the connection go on if it has something to do.
    #[inline(always)]
    fn look(&mut self) -> Look {
        let Some(end) = self.conn.end() else { return Look::Nothing };
        if end.has_requests() {
            self.idle = 0;
            if let Some(credit) = self.conn.take_requests(end) {
                self.conn.try_progress_tx(end, credit);
            }
            if end.is_answered() {
                self.conn.progress();
            }
            return Look::Records;
        }
        let news = match end.open() {
            Open::Nothing => return self.wait(),
            Open::Busy => false,
            Open::Position(known) => end.is_past(known),
            Open::Finished => true,
        };
        if news {
            self.idle = 0;
            self.conn.try_progress_tx(end, None);
            return Look::Further;
        }
        if end.is_busy() {
            // It may be the question for bytes that had no room.
            self.conn.progress();
            return Look::Nothing;
        }
        self.wait()
    }

    /// Counts a poll without news.
    #[inline]
    fn wait(&mut self) -> Look {
        self.idle = self.idle.saturating_add(1);
        if self.idle >= IDLE { Look::Idle } else { Look::Nothing }
    }
}

/// The connections that are polled.
#[derive(Default)]
pub struct Hot {
    /// Those that receive come before those that only send, which may belong to the same process: one poll then finds a
    /// message and its consumption.
    list: ArrayVec<HotConn, MOST>,
    /// Counts the looks that found records, and ready bits.
    records: u32,
    /// News in this term: that polls found, and of other connections.
    found: u64,
    others: u64,
    /// News of connections until one may be added.
    rest: u32,
}

impl Hot {
    /// Lets the connections go on that have something to do; true if there was news of any.
    #[inline]
    pub fn poll(&mut self, control: &ControlRegion) -> bool {
        let mut any = false;
        let mut at = 0;
        while let Some(entry) = self.list.get_mut(at) {
            match entry.look() {
                Look::Idle if self.list.len() > FEW => {
                    self.cool(at, control);
                    continue;
                }
                Look::Nothing | Look::Idle => {}
                Look::Further => {
                    any = true;
                    self.found += 1;
                }
                Look::Records => {
                    any = true;
                    self.found += 1;
                    self.records = self.records.wrapping_add(1);
                    if at > 0 {
                        self.list.swap(at - 1, at);
                    }
                }
            }
            at += 1;
        }
        any
    }

    /// Counts news of a connection that is not polled, which a poll has found by its ready bit. Polls the
    /// connection from now on if that happens often, there is room, and `may` agrees.
    #[inline]
    pub fn on_ready(&mut self, conn: &Arc<Conn>, control: &ControlRegion, may: impl FnOnce() -> bool) {
        self.records = self.records.wrapping_add(1);
        self.others += 1;
        if self.others == TERM {
            self.end_term(control);
        }
        if self.rest > 0 {
            self.rest -= 1;
        } else if conn.warm() {
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
            self.list.push(HotConn { conn: conn.clone(), idle: 0 });
        }
    }

    /// Polls no connection for some time if too much of the news came from others.
    #[cold]
    fn end_term(&mut self, control: &ControlRegion) {
        let (found, others) = (mem::take(&mut self.found), mem::take(&mut self.others));
        if others > found / 2 && !self.list.is_empty() {
            self.rest = REST;
            self.cool_all(control);
        }
    }

    /// Records that came so far, at least one at a time.
    #[inline]
    pub fn records(&self) -> u32 {
        self.records
    }

    /// True if no connection is polled.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    #[cold]
    fn cool(&mut self, at: usize, control: &ControlRegion) {
        let HotConn { conn, .. } = self.list.remove(at);
        conn.end_polling();
        control.fence_peers();
        conn.poll_if_pending();
    }

    /// Stops polling all connections. Those with news have their ready bits set.
    #[cold]
    pub fn cool_all(&mut self, control: &ControlRegion) {
        for entry in &self.list {
            entry.conn.end_polling();
        }
        control.fence_peers();
        for entry in self.list.drain(..) {
            entry.conn.poll_if_pending();
        }
    }

    /// Drops the connections that are over.
    pub fn forget_dead(&mut self) {
        self.list.retain(|entry| entry.conn.is_up());
    }
}

#[cfg(all(test, loom))]
mod model;
