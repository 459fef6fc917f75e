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
//! stops being polled after 65,536 polls without news, unless no more than two are polled, or when a thread is about to
//! sleep until it is rung. If more than a third of the news of 4,096 polls came by ready bits, polling did not pay, and
//! all connections use bits for the next 65,536 pieces of news. With more than four connections a poll ends at the
//! first one that has records, unless some connection copies, and the next poll begins behind it; up to four are sorted
//! every 256 polls, those that only send last, so that one poll of a process that is its own peer finds both a message
//! and its consumption. A connection whose program sleeps in each wait is never polled, and pays for bits alone. Where
//! the system has no fence across processes (`os/barrier.rs`), the sender makes a fence for each message.

use std::mem;
use std::sync::Arc;

use arrayvec::ArrayVec;

use crate::conn::Conn;
use crate::home::Home;
use crate::pair::{End, Open};

/// The most connections that are polled.
const MOST: usize = 16;
/// This many stay polled however long nothing comes.
const FEW: usize = 2;
/// Up to this many, each poll looks at all of them; with more, it ends at the first that has records.
const ALL: usize = 4;
/// Polls without news after which a connection is no longer polled.
const IDLE: u32 = 1 << 16;
/// Polls without news between two checks whether the connection is over, or idle.
const CHECK: u32 = 1 << 12;

/// Polls after which the connections are put in order.
const TURN: u32 = 1 << 8;
/// A term is this many times [`TURN`] polls. At its end the news that polls found is compared with the news of other
/// connections.
const TURNS: u32 = 1 << 4;
/// Less news of other connections than this is not compared.
const LITTLE: u32 = 256;
/// Pieces of news after which connections are polled again where that did not pay.
const REST: u32 = 1 << 16;

/// The most polls that wait for a record of the peer to say how far the peer is.
const PATIENCE: u32 = 64;
/// No address of a connection.
const NONE: usize = 0;

/// A connection that is polled.
struct HotConn {
    conn: Arc<Conn>,
    /// Polls since there was news.
    idle: u32,
    /// News in this term.
    found: u32,
    guess: Guess,
}

/// What a look at a connection finds.
enum Look {
    /// There is nothing to do, or the peer has got further.
    Known(bool),
    /// Records have come.
    Records,
    /// There has been no news for long.
    Idle,
    /// The connection is over.
    Over,
}

impl HotConn {
    /// Lets the connection go on if it has something to do. `latest` is the address of the one that had the last records.
    #[inline(always)]
    fn look(&mut self, again: bool, latest: &mut usize) -> Look {
        let Some(end) = self.conn.end() else { return Look::Over };
        if end.has_requests() {
            self.idle = 0;
            self.found += 1;
            let address = Arc::as_ptr(&self.conn).addr();
            self.guess.on_record(mem::replace(latest, address) == address);
            if let Some(credit) = self.conn.take_requests(end) {
                self.conn.try_progress_tx(end, credit);
            }
            return Look::Records;
        }
        let news = match end.open() {
            Open::Nothing => return self.wait(),
            Open::Busy => false,
            Open::Position(known) => self.guess.is_past(end, known, again),
            Open::Finished => true,
        };
        if news {
            self.idle = 0;
            self.found += 1;
            self.conn.try_progress_tx(end, None);
            return Look::Known(true);
        }
        if end.is_busy() {
            // It may be the question for bytes that had no room.
            self.conn.progress();
            return Look::Known(false);
        }
        self.wait()
    }

    #[inline(never)]
    fn look_apart(&mut self, again: bool, latest: &mut usize) -> Look {
        self.look(again, latest)
    }

    /// Counts a poll without news.
    #[inline]
    fn wait(&mut self) -> Look {
        self.idle = self.idle.saturating_add(1);
        if self.idle.is_multiple_of(CHECK) { self.check() } else { Look::Known(false) }
    }

    #[cold]
    fn check(&self) -> Look {
        if !self.conn.is_up() {
            Look::Over
        } else if self.idle >= IDLE {
            Look::Idle
        } else {
            Look::Known(false)
        }
    }
}

/// Whether a record of the peer will soon tell how far it is.
///
/// Reading the line in which the peer publishes that takes the line away from it, which slows the peer down just when it
/// is about to answer. So where messages go to and fro on one connection, the answer is awaited for about as long as it
/// took before. As time is measured in polls, a program that polls rarely waits for no more of them than it needs. Where
/// records of other connections came in between, the program may be waiting for this very end.
#[derive(Default)]
struct Guess {
    /// Polls that were spent on waiting since the last record.
    polls: u32,
    /// The peer had gone on when its line was read last, and no record has come since: none is expected.
    silent: u32,
    /// The most polls that are spent on waiting.
    patience: u32,
}

impl Guess {
    /// A record has come; `alone` says that no other connection had one since the last one of this connection.
    #[inline]
    fn on_record(&mut self, alone: bool) {
        self.patience = if alone { (2 * self.polls + 2).min(PATIENCE) } else { 0 };
        (self.polls, self.silent) = (0, 0);
    }

    /// True if the peer has got further than `known`, as far as that is to be found out now; `again` says whether a look at it
    /// can wait.
    #[inline]
    fn is_past(&mut self, end: &End, known: i64, again: bool) -> bool {
        if again && self.polls < self.patience {
            self.polls += 1;
            return false;
        }
        let past = end.is_past(known);
        if past {
            (self.silent, self.patience) = (1, 0);
        }
        past
    }
}

/// The connections that are polled.
pub struct Hot {
    /// Those that only send come behind those that receive, which may belong to the same process.
    list: ArrayVec<HotConn, MOST>,
    /// Where the next poll begins to look: behind the connection that had records last. Where they take turns, it is the
    /// next one's.
    next: usize,
    /// The address of the connection that had the last records.
    latest: usize,
    /// Counts the looks that found records, and ready bits.
    records: u32,
    /// Polls until the connections are put in order.
    turn: u32,
    /// How often that is done until this term is over.
    turns: u32,
    /// News of other connections in this term.
    others: u32,
    /// News of connections until one may be added.
    rest: u32,
}

impl Default for Hot {
    fn default() -> Self {
        Hot { list: ArrayVec::new(), next: 0, latest: NONE, records: 0, turn: TURN, turns: TURNS, others: 0, rest: 0 }
    }
}

impl Hot {
    /// Lets the connections go on that have something to do; true if there was news of any. With `again` the
    /// caller polls again soon, so that some news may wait.
    #[inline]
    pub fn poll(&mut self, home: &Home, again: bool) -> bool {
        if !again || !(1..=ALL).contains(&self.list.len()) {
            return !self.list.is_empty() && self.poll_many(home, again);
        }
        self.note_poll(home);
        let Hot { list, latest, records, .. } = self;
        let mut entries = list.iter_mut();
        let mut any = false;
        while let Some(entry) = entries.next() {
            match entry.look(true, latest) {
                Look::Known(news) => any |= news,
                Look::Records => {
                    any = true;
                    *records = records.wrapping_add(1);
                }
                look => {
                    let behind = entries.len();
                    return self.poll_others(behind, look, home);
                }
            }
        }
        any
    }

    #[inline]
    fn note_poll(&mut self, home: &Home) {
        self.turn -= 1;
        if self.turn == 0 {
            self.end_turn(home);
        }
    }

    /// Puts those that only send behind those that receive.
    #[cold]
    #[inline(never)]
    fn end_turn(&mut self, home: &Home) {
        self.turn = TURN;
        // Where there are more, the place at which a poll begins moves on.
        if self.list.len() <= ALL {
            self.list.sort_unstable_by_key(|entry| entry.guess.silent);
        }
        self.turns -= 1;
        if self.turns == 0 {
            self.end_term(home);
        }
    }

    /// Ends what [`Hot::poll`] began, which found an entry that is over or idle, with `behind` others behind it.
    #[cold]
    #[inline(never)]
    fn poll_others(&mut self, behind: usize, look: Look, home: &Home) -> bool {
        let at = self.list.len() - behind - 1;
        self.next = if self.drop_entry(at, look, home) { at } else { at + 1 };
        self.poll_some(behind, home, true, false);
        true
    }

    /// [`Hot::poll`], until it finds records of one connection if the caller polls again and none copies.
    #[inline(never)]
    fn poll_many(&mut self, home: &Home, again: bool) -> bool {
        self.note_poll(home);
        self.poll_some(self.list.len(), home, again, again)
    }

    /// Looks at `count` entries, from the next one on; with `one` until it finds records of a connection.
    fn poll_some(&mut self, count: usize, home: &Home, again: bool, one: bool) -> bool {
        let mut any = false;
        let mut at = self.next;
        for _ in 0..count {
            if at >= self.list.len() {
                at = 0;
            }
            let Hot { list, latest, records, .. } = self;
            let Some(entry) = list.get_mut(at) else { break };
            match entry.look_apart(again, latest) {
                Look::Known(news) => any |= news,
                Look::Records => {
                    any = true;
                    *records = records.wrapping_add(1);
                    // A connection that copies gets only its share of a round, so the others have their turn in the same
                    // round.
                    if one && !home.rounds.are_copying() {
                        self.next = at + 1;
                        break;
                    }
                }
                look => {
                    if self.drop_entry(at, look, home) {
                        continue;
                    }
                }
            }
            at += 1;
        }
        any
    }

    /// Removes an entry that is over or idle; false if it stays.
    #[cold]
    fn drop_entry(&mut self, at: usize, look: Look, home: &Home) -> bool {
        match look {
            Look::Over => {
                self.list.remove(at);
                true
            }
            Look::Idle if at >= FEW => {
                self.cool(at, home);
                true
            }
            _ => false,
        }
    }

    /// Counts news of a connection that is not polled, which a poll has found by its ready bit. Polls the
    /// connection from now on if that happens often, there is room, and `may` agrees.
    #[inline]
    pub fn on_ready(&mut self, conn: &Arc<Conn>, home: &Home, may: impl FnOnce() -> bool) {
        self.latest = NONE;
        self.records = self.records.wrapping_add(1);
        self.others = self.others.saturating_add(1);
        if self.rest > 0 {
            self.rest -= 1;
        } else if conn.warm() {
            self.add(conn, home, may);
        }
    }

    #[cold]
    fn add(&mut self, conn: &Arc<Conn>, home: &Home, may: impl FnOnce() -> bool) {
        let idle = self.list.iter().position(|entry| entry.idle >= IDLE);
        if (self.list.is_full() && idle.is_none()) || !may() {
            return;
        }
        if self.list.is_full()
            && let Some(at) = idle
        {
            self.cool(at, home);
        }
        if self.list.is_empty() {
            (self.turns, self.others) = (TURNS, 0);
        }
        if conn.begin_polling() {
            self.list.push(HotConn { conn: conn.clone(), idle: 0, found: 0, guess: Guess::default() });
        }
    }

    /// Polls no connection for some time if too much of the news came from others.
    #[cold]
    fn end_term(&mut self, home: &Home) {
        let found: u32 = self.list.iter().map(|entry| entry.found).sum();
        if self.others > LITTLE && self.others > found / 2 {
            self.rest = REST;
            self.cool_all(home);
        }
        self.list.iter_mut().for_each(|entry| entry.found = 0);
        (self.turns, self.others) = (TURNS, 0);
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
    fn cool(&mut self, at: usize, home: &Home) {
        let HotConn { conn, .. } = self.list.remove(at);
        conn.end_polling();
        home.fence_peers();
        conn.look_if_news();
    }

    /// Stops polling all connections. Those with news have their ready bits set.
    #[cold]
    pub fn cool_all(&mut self, home: &Home) {
        for entry in &self.list {
            entry.conn.end_polling();
        }
        home.fence_peers();
        for entry in self.list.drain(..) {
            entry.conn.look_if_news();
        }
    }

    /// Drops the connections that are over.
    pub fn forget_dead(&mut self) {
        self.list.retain(|entry| entry.conn.is_up());
    }
}

#[cfg(all(test, loom))]
mod model;
