//! Posting of requests.
//!
//! The fast path in `usual` ([`Endpoint::post`]) passes requests that it cannot post to `post_any`. It returns only two
//! errors itself: a send is too long, or [`Transport::post`] fails. In `post_any`, [`SegmentList::check`] checks the
//! list, `Requests::zone_for` state, flags and number of segments, [`check_all`](crate::LmrTable::check_all) the
//! memory, `length` the lengths. `make_room` checks that the queue has room. If the endpoint is disconnected,
//! `post_any` flushes the request.

use crate::ep::endpoint::Endpoint;
use crate::ep::requests::{InFlight, Requests, Work};
use crate::ep::sending::Locked;
use crate::ep_state::EpState;
use crate::error::{Error, Result};
use crate::event::{CompletionFlags, Status, Transfer};
use crate::lmr_table::SegmentList;
use crate::transport::{Checked, Handed, Operation, Request, SeqNo, Transport};

impl<T: Transport> Endpoint<T> {
    /// Posts any request. `like` contains the ordinary transfer whose limits and rights apply, and whether the request
    /// consumes a receive of the peer. `prepare` gets the total length and the segments, and returns the operation, its
    /// [`Work`] and its number of bytes.
    #[inline(never)]
    pub(crate) fn post_any<S: SegmentList + ?Sized>(
        &self,
        mut requests: Locked<'_, T>,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
        like: (Transfer, bool),
        prepare: impl FnOnce(&Requests<T>, u64, &mut Checked) -> Result<(Operation, Work, u64)>,
    ) -> Result<()> {
        segments.check()?;
        let (transfer, takes) = like;
        let (most, right) = requests.needs(transfer);
        let zone = requests.zone_for(completion, takes, segments.count() > most)?;
        let mut checked = Checked::new();
        let total = self.ia.lmrs.check_all(segments, zone, right, &mut checked)?;
        let (operation, work, len) = prepare(&requests, total, &mut checked)?;
        if !self.make_room(&mut requests)? {
            self.flush(&requests, cookie, completion, work);
            return Ok(());
        }
        let Requests { qp: Some(qp), tx, flight, .. } = &mut *requests else { return Err(requests.state.into()) };
        let Some((id, place)) = flight.next_place() else { return Err(Error::NO_MEMORY) };
        let fence = completion.contains(CompletionFlags::BARRIER_FENCE);
        let signalled = !completion.contains(CompletionFlags::SUPPRESS);
        let request = Request { id, operation, segments: &checked, len, fence, signalled };
        let handed = self.ia.transport.post(qp, tx, &request)?;
        place.fill(InFlight { mark: handed.mark, cookie, flags: completion, work });
        self.note_posted(&mut requests, handed, cookie, work);
        Ok(())
    }

    /// Counts a posted request, and completes it if the transport has already done so (`handed.done`).
    pub(super) fn note_posted(&self, requests: &mut Requests<T>, handed: Handed, cookie: u64, work: Work) {
        work.show_posted(self.header.handle(), cookie);
        requests.count(work);
        if handed.done {
            let _ = requests.complete_through(self.header.handle(), handed.mark);
        }
    }

    #[cold]
    pub(super) fn flush(&self, requests: &Requests<T>, cookie: u64, flags: CompletionFlags, work: Work) {
        let request = InFlight { mark: SeqNo::default(), cookie, flags, work };
        work.show_posted(self.header.handle(), cookie);
        requests.complete(self.header.handle(), &request, Status::Flushed);
    }

    /// Ensures a free entry for a request. If the queue is full, polls for completions. Returns `false` if the
    /// connection has ended: the caller must flush the request.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&self, requests: &mut Locked<'_, T>) -> Result<bool> {
        if requests.state == EpState::Disconnected {
            return Ok(false);
        }
        if requests.flight.is_full() {
            if let Some(qp) = requests.qp.clone() {
                let ia = &self.ia;
                requests.unlocked(|| ia.transport.reap(&qp));
                requests.admit()?;
            }
        }
        if requests.flight.is_full() { Err(Error::NO_MEMORY) } else { Ok(requests.state != EpState::Disconnected) }
    }

    pub(crate) fn drain_completions(&self) {
        let qp = self.requests().qp.clone();
        if let Some(qp) = qp {
            self.ia.transport.reap(&qp);
        }
    }
}
