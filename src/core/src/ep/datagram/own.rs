//! The receives that are posted to an endpoint for datagrams itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use host::lock::Mutex;
use host::memory::Room;
use once_cell::sync::OnceCell;

use crate::ep::datagram::Peers;
use crate::ep::endpoint::Endpoint;
use crate::ep::receives::{Ended, Receives};
use crate::error::Result;
use crate::event::{CompletionFlags, Status};
use crate::ia::Ia;
use crate::lmr_table::SegmentList;
use crate::mem::Rights;
use crate::pz::Pz;
use crate::srq::Srq;
use crate::transport::{Checked, Poll, Transport};

/// The receives that are posted to an endpoint. Their queue is made for the first one, or for the first lane, in the zone
/// that the endpoint has then.
pub(super) struct Own<T: Transport> {
    queue: OnceCell<Arc<Srq<T>>>,
    /// The entries that the queue is to have.
    entries: AtomicUsize,
    posts: Mutex<Posts>,
}

/// In which order receives were posted.
#[derive(Default)]
struct Posts {
    count: u64,
    /// The count at the last post of each buffer.
    when: Vec<u64>,
}

impl<T: Transport> Own<T> {
    /// No receives, and no queue yet.
    pub fn new() -> Self {
        Own { queue: OnceCell::new(), entries: AtomicUsize::new(0), posts: Mutex::default() }
    }
}

impl<T: Transport> Peers<T> {
    /// Makes room for `recvs` receives.
    pub fn room(&self, recvs: usize) -> Result<()> {
        let Some(own) = &self.own else { return Ok(()) };
        let entries = own.entries.fetch_max(recvs, Ordering::Relaxed);
        own.queue.get().map_or(Ok(()), |queue| queue.make_room(entries.max(recvs)))
    }

    /// Whether receives that are posted can be found in this zone.
    pub fn admits_zone(&self, pz: Option<&Arc<Pz<T>>>) -> bool {
        let queue = self.own.as_ref().and_then(|own| own.queue.get());
        queue.is_none_or(|queue| pz.is_some_and(|pz| pz.id() == queue.zone))
    }

    /// The queue of the receives posted to the endpoint, if it has no shared queue of the program's.
    pub(super) fn own_queue(&self, ia: &Arc<Ia<T>>, pz: Option<&Arc<Pz<T>>>) -> Result<Option<Arc<Srq<T>>>> {
        let Some(own) = &self.own else { return Ok(None) };
        let pz = pz.ok_or_else(crate::ep::endpoint::not_ready)?;
        let make = || Srq::of_endpoint(ia, pz, own.entries.load(Ordering::Relaxed));
        Ok(Some(own.queue.get_or_try_init(make)?.clone()))
    }

    /// The receives posted to the endpoint that no datagram has filled.
    pub fn receives(&self) -> usize {
        let queue = self.own.as_ref().and_then(|own| own.queue.get());
        queue.map_or(0, |queue| queue.accounting.lock().available)
    }

    /// Flushes the receives that are left when all lanes have ended, in the order in which they were posted.
    pub fn flush(&self, ep: &Endpoint<T>, receives: &mut Receives<T>) {
        let Some(Own { queue, posts, .. }) = &self.own else { return };
        let Some(queue) = queue.get() else { return };
        let posts = posts.lock();
        let mut left = queue.accounting.lock().all_available();
        left.sort_by_key(|id| posts.when.get(*id as usize));
        for completed in left.into_iter().filter_map(|id| queue.complete(id)) {
            let flushed = Ended::unfilled(Status::Flushed);
            receives.complete(ep.header.handle(), completed.cookie, &flushed, false, None);
        }
    }
}

impl<T: Transport> Endpoint<T> {
    /// Posts a receive to an endpoint for datagrams. It takes only what comes after it.
    pub(in crate::ep) fn post_datagram_recv<S: SegmentList + ?Sized>(
        &self,
        peers: &Peers<T>,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<()> {
        self.ia.transport.poll(None, Poll::IfFree);
        let made = {
            let control = self.live()?;
            let pz = control.pz.as_ref().map(|pz| pz.object());
            pz.map_or(Ok(None), |pz| peers.own_queue(&self.ia, Some(pz)))?
        };
        let mut receives = self.receives.lock();
        let (Some(queue), Some(own), Some(zone)) = (made, &peers.own, receives.zone) else {
            return Err(receives.refusal(completion));
        };
        if !receives.admits(segments.count(), completion) {
            return Err(receives.refusal(completion));
        }
        let mut checked = Checked::new();
        self.ia.lmrs.check_all(segments, zone, Rights::LOCAL_WRITE, &mut checked)?;
        if receives.flush {
            receives.flushed += 1;
            receives.complete(self.header.handle(), cookie, &Ended::unfilled(Status::Flushed), false, None);
            return Ok(());
        }
        if queue.accounting.lock().available >= receives.capacity {
            return Err(crate::ep::post::full());
        }
        let mut posts = own.posts.lock();
        let more = queue.accounting.lock().len().saturating_sub(posts.when.len());
        posts.when.room(more)?;
        let id = queue.hand_in(&checked, cookie)? as usize;
        posts.count += 1;
        let (now, len) = (posts.count, posts.when.len().max(id + 1));
        posts.when.resize(len, 0);
        posts.when[id] = now;
        receives.next_id += 1;
        Ok(())
    }
}
