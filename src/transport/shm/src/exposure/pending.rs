//! Transfers of peers that were under way when something was closed to them, and that may still touch the memory of the
//! program.
//!
//! A call that gives memory back to the program closes it to peers first (the row of a region, the flag of a
//! connection), then takes a [`Pending`] and lets it come to its end. A transfer ends
//!
//! - when its thread leaves the slot, as nearly all do within a millisecond, for a thread copies a slice at a time;
//! - when the door of this process has changed since, and the thread is then seen where it copies nothing: stopped, or
//!   asleep elsewhere. If it is before its copy, that finds nobody, and the thread looks again and finds what was
//!   closed; if it is behind it, the copy is over;
//! - when the peer breaks the rules: no thread takes that much time for a slice. Its link is ended.
//!
//! What the waiting call does about a thread that has not left its slot, once the door is changed:
//!
//! | the thread, as /proc shows it | the call |
//! |---|---|
//! | gone, a zombie, stopped (T, t) or frozen | does not wait: the thread is before its copy, which finds nobody, or behind it |
//! | asleep in another system call, or in none | does not wait, for the same reason |
//! | asleep in process_vm_readv or _writev | waits for that peer alone, with one line in the log |
//! | running | waits until it has run for a quarter of a second, where a slice takes less than a millisecond; then the peer breaks the rules |
//! | asleep where /proc does not show | waits for five seconds; then the peer counts as one that breaks the rules |
//!
//! The link of a peer that breaks the rules is ended, with one line in the log, and nothing waits for it again. A peer
//! that names threads that cannot exist breaks them at once. So once such a call has succeeded, no peer that
//! keeps to the rules writes the memory.
//!
//! Nobody waits here under a lock that another connection needs: the transport answers `Closing::Exposed` to a
//! disconnect, and the core calls `await_end` without its locks. Ends found by a round or by the progress thread close
//! the connection at once, and report them to the endpoint and the peer when the transfers are over, for which the thread
//! looks every millisecond, later every twenty. A link whose socket has ended stays in the list until then.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use host::pause::Pause;

use crate::control_region::ControlRegion;
use crate::copy_target::{Change, Moment};
use crate::os::task::{self, Doing, TICKS_PER_SECOND};
use crate::peer_segment::PeerSegment;
use crate::transfers::{self, Occupant};

/// Time after which the door is changed. A slice takes a small part of it, even if its thread loses the processor.
const GRACE: Duration = Duration::from_millis(5);
/// Time that a thread may run in a slice, which takes it less than a millisecond: this breaks the rules.
const SLICE: u64 = TICKS_PER_SECOND / 4;
/// Time for which a thread is waited for that sleeps where this process may not see it.
const BLIND: Duration = Duration::from_secs(5);

/// The transfers of one or several peers that were under way at some moment.
pub struct Pending {
    transfers: Vec<Transfer>,
    start: Instant,
    since: Moment,
    change: Option<Change>,
}

/// A transfer of a peer.
struct Transfer {
    peer_segment: Arc<PeerSegment>,
    side: u8,
    slot: usize,
    word: Occupant,
    /// Time that the thread had run when it was first seen to run, and the time when it was first looked at.
    seen: Option<(u64, Instant)>,
}

impl Pending {
    /// The transfers that the peers of `pairs` have under way; `None` if there are none. What is to be closed to them
    /// was closed before.
    pub fn new<'a>(control: &ControlRegion, pairs: impl Iterator<Item = &'a Arc<PeerSegment>>) -> Option<Pending> {
        // SYNC moving: the flag of the connection or the row of the region was closed before. Pairs with the fence of a
        // thread that enters a slot: that transfer is refused, or its slot is found here.
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

    /// The time since they were found.
    pub fn age(&self) -> Duration {
        self.start.elapsed()
    }

    /// True once none of them can touch the memory of this process. Does not wait.
    pub fn is_over(&mut self, control: &ControlRegion) -> bool {
        self.transfers.retain(Transfer::is_under_way);
        let others = || self.transfers.iter().filter(|transfer| !transfer.peer_segment.is_local());
        if self.change.is_none()
            && others().next().is_some()
            && (self.start.elapsed() > GRACE || others().all(|transfer| transfer.peer_segment.suspect.get()))
        {
            self.change = Some(control.copy_target.change(self.since));
        }
        if self.change.is_some_and(|change| control.copy_target.is_changed(change)) {
            self.transfers.retain_mut(|transfer| transfer.peer_segment.is_local() || transfer.may_go_on());
        }
        self.transfers.is_empty()
    }

    /// Waits until none of them can touch the memory of this process. To be called with no lock that another
    /// connection needs.
    pub fn wait(mut self, control: &ControlRegion) {
        let mut pause = Pause::new();
        // Most are over soon, without a look at the clock.
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
    /// True if its thread has not left the slot.
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

    /// True if its thread may still copy. The door was changed, so a copy that has not begun by now finds nobody.
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
            Doing::Running(ticks) if ticks.saturating_sub(ran) > SLICE => {
                self.peer_segment.report_violation("does not end a transfer, though it runs");
                false
            }
            Doing::Running(_) => true,
            Doing::Asleep if since.elapsed() > BLIND => {
                self.peer_segment.report_violation("does not end a transfer");
                false
            }
            Doing::Asleep => true,
        };
        self.peer_segment.suspect.set(!may);
        may
    }
}
