//! Shared receive queues, and the books on where each of their buffers is.
//!
//! A posted buffer is *available* until an endpoint takes it and *outstanding* until the
//! program has dequeued its completion. Outstanding buffers are counted by
//! [`Charge`]s: a charge comes into being with a post, travels with the buffer into the
//! completion event, and whatever becomes of that event, dropping the charge takes the
//! buffer off the books.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::error::{Arg, Error, Refusal, Resource, Result, Role};
use crate::event::AsyncReason;
use crate::ia::Ia;
use crate::lmr::LocalSegment;
use crate::mem::Rights;
use crate::pz::Pz;
use crate::slab::{Header, Kind, Object};
use crate::transport::{Checked, Poll, Recv, RecvId, Transport};
use crate::users::{Counted, Use, Users};

/// A shared receive queue.
pub struct Srq<T: Transport> {
    header: Header,
    users: Users,
    ia: Arc<Ia<T>>,
    zone: u32,
    pz: Mutex<Option<Use<Pz<T>>>>,
    max_segments: usize,
    queue: T::Srq,
    books: Mutex<Books>,
    outstanding: Arc<AtomicUsize>,
}

/// What [`Srq::query`] shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SrqStatus {
    /// Entries that the queue has.
    pub max_recvs: usize,
    /// Segments that a receive can have.
    pub max_segments: usize,
    /// The watermark last set.
    pub low_watermark: usize,
    /// Buffers that endpoints can take.
    pub available: usize,
    /// Entries occupied.
    pub outstanding: usize,
}

/// One outstanding buffer of a shared receive queue.
pub struct Charge<T: Transport> {
    outstanding: Arc<AtomicUsize>,
    queue: std::marker::PhantomData<fn() -> T>,
}

impl<T: Transport> Drop for Charge<T> {
    fn drop(&mut self) {
        self.outstanding.fetch_sub(1, Ordering::AcqRel);
    }
}

struct Books {
    max_recvs: usize,
    available: usize,
    low_watermark: usize,
    armed: bool,
    /// Cookies of buffers that are available or taken, by receive number.
    cookies: Vec<Entry>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Free,
    Available,
    Taken,
}

struct Entry {
    cookie: u64,
    place: Place,
}

impl<T: Transport> Object for Srq<T> {
    const KIND: Kind = Kind::Srq;

    fn header(&self) -> &Header {
        &self.header
    }
}

impl<T: Transport> Counted for Srq<T> {
    fn users(&self) -> &Users {
        &self.users
    }
}

impl<T: Transport> Srq<T> {
    /// Makes a queue for `max_recvs` receives of up to `max_segments` segments, to which
    /// no endpoint is attached (uDAPL 1.2, dat_srq_create).
    ///
    /// # Errors
    /// [`Arg::Attributes`] for a size of 0 or above the adapter's limits,
    /// [`Error::ModelNotSupported`], [`Error::InsufficientResources`].
    pub fn create(ia: &Arc<Ia<T>>, pz: &Arc<Pz<T>>, max_recvs: usize, max_segments: usize) -> Result<Arc<Self>> {
        let limits = ia.transport().attributes();
        if !limits.srq {
            return Err(Error::ModelNotSupported);
        }
        let fits =
            (1..=limits.max_recvs_per_srq).contains(&max_recvs) && (1..=limits.max_segments).contains(&max_segments);
        if !fits {
            return Err(Error::InvalidParameter(Arg::Attributes));
        }
        if ia.count(Kind::Srq) >= limits.max_srqs {
            return Err(Error::InsufficientResources(Resource::Srq));
        }
        let pz = Use::of(pz).ok_or(Error::InvalidHandle(Role::Pz))?;
        let queue = ia.transport().srq_create(pz.zone(), max_recvs, max_segments)?;
        let mut books =
            Books { max_recvs: 0, available: 0, low_watermark: 0, armed: false, cookies: Vec::new(), free: Vec::new() };
        books.grow(max_recvs)?;
        ia.adopt(Srq {
            header: Header::default(),
            users: Users::default(),
            ia: ia.clone(),
            zone: pz.id(),
            pz: Mutex::new(Some(pz)),
            max_segments,
            queue,
            books: Mutex::new(books),
            outstanding: Arc::default(),
        })
    }

    /// Frees the queue; buffers on it vanish (uDAPL 1.2, dat_srq_free).
    ///
    /// # Errors
    /// [`Refusal::SrqInUse`] while an endpoint is attached.
    pub fn free(&self) -> Result<()> {
        if !self.users.retire() {
            return Err(Error::InvalidState(Refusal::SrqInUse));
        }
        self.bury();
        Ok(())
    }

    pub(crate) fn free_anyway(&self) {
        self.users.retire_anyway();
        self.bury();
    }

    fn bury(&self) {
        self.pz.lock().take();
        self.ia.disown(self);
    }

    /// The adapter it belongs to.
    pub fn ia(&self) -> &Arc<Ia<T>> {
        &self.ia
    }

    /// Its protection zone; `None` once freed.
    pub fn pz(&self) -> Option<Arc<Pz<T>>> {
        self.pz.lock().as_ref().map(|pz| pz.object().clone())
    }

    /// The transport's side of it.
    pub fn queue(&self) -> &T::Srq {
        &self.queue
    }

    /// Posts a receive (uDAPL 1.2, dat_srq_post_recv).
    ///
    /// # Errors
    /// [`Arg::SegmentCount`], the errors of [`crate::lmr::LmrTable::check`] with the zone
    /// of the queue, [`Error::InsufficientResources`] if all entries are occupied.
    pub fn post_recv(&self, segments: &[LocalSegment], cookie: u64) -> Result<()> {
        if segments.len() > self.max_segments {
            return Err(Error::InvalidParameter(Arg::SegmentCount));
        }
        let checked = check_recv(&self.ia, segments, self.zone)?;
        {
            let mut books = self.books.lock();
            if self.outstanding.load(Ordering::Acquire) >= books.max_recvs {
                return Err(Error::InsufficientResources(Resource::Memory));
            }
            let Some(id) = books.free.pop() else {
                return Err(Error::InsufficientResources(Resource::Memory));
            };
            self.ia
                .transport()
                .srq_post(&self.queue, &Recv { id: id.into(), segments: &checked })
                .inspect_err(|_| books.free.push(id))?;
            books.cookies[id as usize] = Entry { cookie, place: Place::Available };
            books.available += 1;
            self.outstanding.fetch_add(1, Ordering::AcqRel);
        }
        self.ia.transport().srq_kick(&self.queue);
        Ok(())
    }

    /// The sizes, the watermark and the counters, exact at this moment
    /// (uDAPL 1.2, dat_srq_query).
    pub fn query(&self) -> SrqStatus {
        self.ia.transport().poll(None, Poll::Complete);
        let books = self.books.lock();
        SrqStatus {
            max_recvs: books.max_recvs,
            max_segments: self.max_segments,
            low_watermark: books.low_watermark,
            available: books.available,
            outstanding: self.outstanding.load(Ordering::Acquire),
        }
    }

    /// Changes the number of entries to `max_recvs` (uDAPL 1.2, dat_srq_resize). No
    /// buffer and no message is lost; the watermark stays armed, or not, as it was.
    ///
    /// # Errors
    /// [`Arg::QueueLength`] for 0 or above the adapter's limit, [`Refusal::SrqTooShort`]
    /// below the outstanding buffers or the low watermark,
    /// [`Error::InsufficientResources`].
    pub fn resize(&self, max_recvs: usize) -> Result<()> {
        if max_recvs == 0 || max_recvs > self.ia.transport().attributes().max_recvs_per_srq {
            return Err(Error::InvalidParameter(Arg::QueueLength));
        }
        self.ia.transport().poll(None, Poll::Complete);
        let mut books = self.books.lock();
        let outstanding = self.outstanding.load(Ordering::Acquire);
        if max_recvs < outstanding || max_recvs < books.low_watermark {
            return Err(Error::InvalidState(Refusal::SrqTooShort));
        }
        if max_recvs > books.cookies.len() {
            self.ia.transport().srq_resize(&self.queue, max_recvs)?;
            books.grow(max_recvs)?;
        }
        books.max_recvs = max_recvs;
        Ok(())
    }

    /// Sets the low watermark and arms its event, which is raised at once if fewer
    /// buffers are available already (uDAPL 1.2, dat_srq_set_lw). 0 disarms.
    ///
    /// # Errors
    /// [`Arg::Watermark`] above the number of entries, [`Error::ModelNotSupported`].
    pub fn set_low_watermark(&self, low_watermark: usize) -> Result<()> {
        if !self.ia.transport().attributes().srq_low_watermark {
            return Err(Error::ModelNotSupported);
        }
        self.ia.transport().poll(None, Poll::Complete);
        let fires = {
            let mut books = self.books.lock();
            if low_watermark > books.max_recvs {
                return Err(Error::InvalidParameter(Arg::Watermark));
            }
            books.low_watermark = low_watermark;
            books.armed = true;
            let fires = books.fires();
            let limit = if fires { 0 } else { low_watermark };
            self.ia.transport().srq_arm_limit(&self.queue, limit)?;
            fires
        };
        if fires {
            self.ia.raise(self.header.handle(), AsyncReason::SrqLowWatermark);
        }
        Ok(())
    }

    /// An endpoint took a buffer. Harmless if it was reported already.
    pub(crate) fn taken(&self, id: RecvId) {
        let fires = {
            let mut books = self.books.lock();
            let Some(entry) = books.cookies.get_mut(id as usize) else { return };
            if entry.place != Place::Available {
                return;
            }
            entry.place = Place::Taken;
            books.available -= 1;
            books.fires()
        };
        if fires {
            self.ia.raise(self.header.handle(), AsyncReason::SrqLowWatermark);
        }
    }

    /// A taken buffer is complete: its cookie, and the charge for its event.
    pub(crate) fn complete(&self, id: RecvId) -> Option<(u64, Charge<T>)> {
        let mut books = self.books.lock();
        let entry = books.cookies.get_mut(id as usize).filter(|entry| entry.place == Place::Taken)?;
        entry.place = Place::Free;
        let cookie = entry.cookie;
        books.free.push(id as u32);
        Some((cookie, Charge { outstanding: self.outstanding.clone(), queue: std::marker::PhantomData }))
    }
}

impl Books {
    /// Makes room for `entries` buffers at a time.
    fn grow(&mut self, entries: usize) -> Result<()> {
        let have = self.cookies.len();
        let memory = |_| Error::InsufficientResources(Resource::Memory);
        self.cookies.try_reserve_exact(entries - have).map_err(memory)?;
        self.free.try_reserve_exact(entries - self.free.len()).map_err(memory)?;
        for id in have..entries {
            self.cookies.push(Entry { cookie: 0, place: Place::Free });
            self.free.push(id as u32);
        }
        self.max_recvs = entries;
        Ok(())
    }

    /// Whether the watermark's event is due; true once an arming.
    fn fires(&mut self) -> bool {
        let due = self.armed && self.available < self.low_watermark;
        if due {
            self.armed = false;
        }
        due
    }
}

/// Checks the segments of a receive within `zone`.
pub(crate) fn check_recv<T: Transport>(ia: &Ia<T>, segments: &[LocalSegment], zone: u32) -> Result<Checked> {
    let mut checked = Checked::new();
    for segment in segments.iter().filter(|segment| segment.len > 0) {
        let piece = ia.lmrs().check(segment, zone, Rights::LOCAL_WRITE)?;
        checked.try_push(piece).map_err(|_| Error::InvalidParameter(Arg::SegmentCount))?;
    }
    Ok(checked)
}
