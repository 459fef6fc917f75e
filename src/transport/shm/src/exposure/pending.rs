//! Peers' transfers that were in progress when access was revoked, and can still touch the program's memory.
//!
//! A call that returns memory to the program first revokes the access: it clears the region's row in the table of
//! registered memory, or sets the connection's flag. Then it waits for a [`Pending`]. A transfer ends
//!
//! - when its thread leaves its slot ([`transfers`]), usually within a millisecond;
//! - when this process has replaced its target thread ([`copy_target`](crate::copy_target)), and the peer's thread is
//!   then seen stopped, or asleep outside of a copy: the copy has ended or will fail, and then the thread checks its
//!   access again;
//! - when the peer violates the protocol, and its link ends.
//!
//! After the replacement, the call treats a thread that is still in its slot like this:
//!
//! | the thread, as /proc shows it | the call |
//! |---|---|
//! | exited, zombie, stopped (T, t), frozen, or asleep outside of process_vm_readv and _writev | does not wait |
//! | asleep in one of these calls | waits for this peer, with one line in the log |
//! | running | waits until it has used a quarter of a second of CPU time (a slice takes less than a millisecond); then the peer violates the protocol |
//! | asleep, but /proc does not show where | waits for five seconds; then the peer violates the protocol |
//!
//! A violation, such as an impossible thread id, ends the link with one line in the log, and no later call waits for
//! the peer. So after the call, only a peer that violates the protocol can still write the memory.
//!
//! No thread waits here under a lock that another connection needs: the transport returns `Closing::Exposed` for a
//! disconnect, and core calls `await_end` without locks. Polls and the progress thread close a connection immediately,
//! and report its end once the transfers have ended. Until then, a link whose socket has ended remains in the list of
//! links.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use host::pause::Pause;

use crate::control_region::ControlRegion;
use crate::copy_target::{Change, Moment};
use crate::os::task::{self, Doing, TICKS_PER_SECOND};
use crate::peer_segment::PeerSegment;
use crate::transfers::{self, Occupant};

/// Age at which a [`Pending`] replaces the target thread. The copy of a slice usually ends sooner, even if its thread
/// is preempted.
const REPLACE_AFTER: Duration = Duration::from_millis(5);
const MAX_SLICE_TICKS: u64 = TICKS_PER_SECOND / 4;
/// Maximum wait for a sleeping thread if /proc does not show in which call it sleeps.
const BLIND_TIMEOUT: Duration = Duration::from_secs(5);

pub struct Pending {
    transfers: Vec<Transfer>,
    start: Instant,
    since: Moment,
    change: Option<Change>,
}

struct Transfer {
    peer_segment: Arc<PeerSegment>,
    side: u8,
    slot: usize,
    word: Occupant,
    /// CPU ticks of the thread when it was first seen running, or `u64::MAX` before that; and the time of the first
    /// check.
    seen: Option<(u64, Instant)>,
}

impl Pending {
    /// Collects the peers' transfers in the segments `pairs`, after access was revoked. Returns `None` if there are no
    /// transfers.
    pub fn new<'a>(control: &ControlRegion, pairs: impl Iterator<Item = &'a Arc<PeerSegment>>) -> Option<Pending> {
        // SYNC moving: the flag or row was stored before. Pairs with the fence of a thread that enters a slot: that
        // transfer is refused, or this scan finds its slot.
        fence(Ordering::SeqCst);
        let since = control.copy_target.now();
        let mut transfers = Vec::new();
        for peer_segment in pairs {
            for side in peer_segment.sides().map(|own| 1 - own) {
                let under_way = transfers::under_way(peer_segment.transfers(side));
                transfers.extend(under_way.map(|(slot, word)| Transfer {
                    peer_segment: peer_segment.clone(),
                    side,
                    slot,
                    word,
                    seen: None,
                }));
            }
        }
        let found = !transfers.is_empty();
        found.then(|| Pending { transfers, start: Instant::now(), since, change: None })
    }

    pub fn age(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns, without waiting, whether none of the transfers can still touch this process's memory.
    pub fn is_over(&mut self, control: &ControlRegion) -> bool {
        self.transfers.retain(Transfer::is_under_way);
        let others = || self.transfers.iter().filter(|transfer| !transfer.peer_segment.is_local());
        if self.change.is_none()
            && others().next().is_some()
            && (self.start.elapsed() > REPLACE_AFTER || others().all(|transfer| transfer.peer_segment.suspect.get()))
        {
            self.change = Some(control.copy_target.change(self.since));
        }
        if self.change.is_some_and(|change| control.copy_target.is_changed(change)) {
            self.transfers.retain_mut(|transfer| transfer.peer_segment.is_local() || transfer.may_go_on());
        }
        self.transfers.is_empty()
    }

    /// Waits for [`Pending::is_over`], without locks that another connection needs.
    pub fn wait(mut self, control: &ControlRegion) {
        let mut pause = Pause::new();
        // Most transfers end during these pauses, which read no clock.
        while pause.is_short() && !self.transfers.is_empty() {
            pause.pass();
            self.transfers.retain(Transfer::is_under_way);
        }
        while !self.is_over(control) {
            pause.pass();
        }
    }
}

impl Transfer {
    fn is_under_way(&self) -> bool {
        if self.peer_segment.has_violated() {
            return false;
        }
        if !self.peer_segment.is_local() && self.word.is_impossible() {
            self.peer_segment.report_violation("names threads that cannot be");
            return false;
        }
        let under_way = transfers::is_under_way(self.peer_segment.transfers(self.side), self.slot, self.word);
        if !under_way {
            self.peer_segment.suspect.set(false);
        }
        under_way
    }

    /// Returns whether the thread may still copy. The target thread was replaced, so copies that start now fail.
    fn may_go_on(&mut self) -> bool {
        let pid = self.peer_segment.pid;
        let doing = task::doing(pid, self.word.tid() as i32);
        let (ran, since) = *self.seen.get_or_insert_with(|| match doing {
            Doing::Running(ticks) => (ticks, Instant::now()),
            _ => (u64::MAX, Instant::now()),
        });
        let may = match doing {
            Doing::Gone | Doing::Stopped | Doing::Elsewhere => false,
            Doing::Copying => {
                self.peer_segment.complain();
                true
            }
            Doing::Running(ticks) if ran == u64::MAX => {
                self.seen = Some((ticks, since));
                true
            }
            Doing::Running(ticks) if ticks.saturating_sub(ran) > MAX_SLICE_TICKS => {
                self.peer_segment.report_violation("does not end a transfer, though it runs");
                false
            }
            Doing::Running(_) => true,
            Doing::Asleep if since.elapsed() > BLIND_TIMEOUT => {
                self.peer_segment.report_violation("does not end a transfer");
                false
            }
            Doing::Asleep => true,
        };
        self.peer_segment.suspect.set(!may);
        may
    }
}
