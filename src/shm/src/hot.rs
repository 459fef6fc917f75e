//! The few connections that carried data last. A thread that polls looks at their rings itself, and their peers, which
//! know that, tell it of nothing: a message is one cache line.
//!
//! All other connections have ready bits, and a poll costs nothing for them. A connection whose bits polls find again and
//! again becomes one of those that are polled, and is one no more when nothing has come for long, or when nobody polls
//! any more. Then the peers are told, and only after that, and after a fence, the connection is looked at once more: so a
//! peer that has stored a record either sees that it has to tell, or its record is found (SYNC polled).

use std::sync::Arc;

use arrayvec::ArrayVec;
use dat_core::transport::Transport;

use crate::conn::Conn;
use crate::home::Home;
use crate::pair::End;
use crate::rx::Inbox;

/// The most connections that are polled.
const MOST: usize = 16;
/// As many are polled however long nothing comes.
const FEW: usize = 2;
/// Polls without news after which a connection is not polled any more.
const IDLE: u32 = 1 << 16;
/// Polls without news after which it makes room for another one.
const YIELDS: u32 = 1 << 10;

/// The most polls that leave it to a record of the peer to tell how far the peer is.
const PATIENCE: u32 = 64;
/// Times in a row that no record told it, after which none is expected.
const SILENCE: u32 = 2;

/// A connection that is polled.
struct Entry<T: Transport> {
    conn: Arc<Conn<T>>,
    /// Polls since there was news.
    idle: u32,
    guess: Guess,
}

/// Whether a record of the peer will soon tell how far it is.
///
/// Reading the line in which the peer publishes that takes the line away from it, which slows the peer down just when it
/// is about to answer. So where messages go to and fro, the answer is awaited for about as long as it took before. As
/// time is measured in polls, a program that polls rarely waits for no more of them than it needs.
#[derive(Default)]
struct Guess {
    /// The position that is wanted.
    wanted: u64,
    /// Polls since it is.
    polls: u32,
    /// Polls that are spent on waiting.
    patience: u32,
    /// Times in a row that the line was read and the peer had gone on.
    silent: u32,
}

impl Guess {
    /// A record has come.
    #[inline]
    fn on_record(&mut self) {
        self.patience = (2 * self.polls + 2).min(PATIENCE);
        self.polls = 0;
        self.silent = 0;
    }

    /// True if the peer has gone on, as far as that is to be found out now; `again` says whether a look at it can wait.
    #[inline]
    fn is_acknowledged(&mut self, end: &End, again: bool) -> bool {
        let Some(wanted) = end.wanted() else { return false };
        if self.wanted != wanted {
            self.wanted = wanted;
            self.polls = 0;
        }
        self.polls = self.polls.saturating_add(1);
        if again && self.polls <= self.patience && self.silent < SILENCE {
            return false;
        }
        let told = end.is_acknowledged();
        self.silent = self.silent.saturating_add(u32::from(told));
        told
    }
}

/// The connections that are polled.
pub struct Hot<T: Transport> {
    list: ArrayVec<Entry<T>, MOST>,
}

impl<T: Transport> Default for Hot<T> {
    fn default() -> Self {
        Hot { list: ArrayVec::new() }
    }
}

impl<T: Transport> Hot<T> {
    /// Lets the connections go on that have something to do; true if there was news of any. With `again` the
    /// caller polls again soon, so that some news may wait.
    #[inline]
    pub fn poll(&mut self, home: &Home, again: bool) -> bool {
        let mut any = false;
        let mut at = 0;
        while let Some(Entry { conn, idle, guess }) = self.list.get_mut(at) {
            let Some(end) = conn.end().filter(|_| conn.is_up()) else {
                self.list.swap_remove(at);
                continue;
            };
            at += 1;
            let arrived = end.has_arrived();
            if arrived {
                guess.on_record();
            } else if !guess.is_acknowledged(end, again) {
                *idle = idle.saturating_add(1);
                if end.is_busy() {
                    // It may be the question for bytes that had no room.
                    conn.advance(end, true);
                } else if *idle >= IDLE && at > FEW {
                    self.cool(at - 1, home);
                    at -= 1;
                }
                continue;
            }
            *idle = 0;
            any = true;
            conn.advance(end, arrived);
        }
        any
    }

    /// Polls `conn` from now on, if there is room. The caller has found that callers poll.
    pub fn add(&mut self, conn: &Arc<Conn<T>>, home: &Home) {
        if self.list.is_full()
            && let Some(at) = self.list.iter().position(|entry| entry.idle >= YIELDS)
        {
            self.cool(at, home);
        }
        if !self.list.is_full() && conn.begin_polling() {
            self.list.push(Entry { conn: conn.clone(), idle: 0, guess: Guess::default() });
        }
    }

    /// True if no connection is polled.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    #[cold]
    fn cool(&mut self, at: usize, home: &Home) {
        let Entry { conn, .. } = self.list.swap_remove(at);
        conn.end_polling();
        home.fence_peers();
        conn.look_if_news();
    }

    /// Polls no connection any more. Those with news have their ready bits set.
    pub fn cool_all(&mut self, home: &Home) {
        for entry in &self.list {
            entry.conn.end_polling();
        }
        home.fence_peers();
        for entry in self.list.drain(..) {
            entry.conn.look_if_news();
        }
    }

    /// Lets go of connections that are over.
    pub fn forget_dead(&mut self) {
        self.list.retain(|entry| entry.conn.is_up());
    }
}
