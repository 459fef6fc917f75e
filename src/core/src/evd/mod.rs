//! Event dispatchers (EVDs): each has one queue for the events of all its streams.
//!
//! The events of one report are queued under one lock. If [`Evd::busy`] is clear, a dequeue first polls the transport
//! once, without this lock. DTO completions are stored field by field for a direct copy to the program.
//!
//! An endpoint may use an EVD of another adapter for connection events. An abrupt close of that adapter frees the EVD
//! anyway (`Use::is_gone`).

mod queue;

use std::fmt::Display;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use host::lock::{Mutex, MutexGuard};

use queue::PendingWakeup;
pub(crate) use queue::{Batch, More, Queue, Queued, refuses};

use crate::adaptive_spin::AdaptiveSpin;
use crate::arena::{Handle, Header, Kind};
use crate::attached_data::AttachedData;
use crate::cno::Cno;
use crate::error::{Arg, Error, Resource, Result, Role, StateError};
use crate::event::{AsyncReason, Event, Feed, Streams};
use crate::fifo::Fifo;
use crate::ia::Ia;
use crate::transport::{Poll, QueueKind, QueueSnapshot, Transport};
use crate::users::Use;

/// The changeable parameters of an EVD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvdStatus {
    /// Capacity in events.
    pub qlen: usize,
    /// `true` if events trigger the CNO.
    pub enabled: bool,
    /// `true` if threads may wait on the EVD.
    pub waitable: bool,
    /// Most restrictive configuration of the endpoints' streams that complete on the EVD; `None` without a stream.
    pub feed: Option<Feed>,
}

/// The counters of an EVD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvdCounts {
    /// Waits that began.
    pub waits: u64,
    /// Waits that slept.
    pub slept: u64,
    /// Events taken without a wait.
    pub dequeued: u64,
    /// Connection events queued.
    pub connection_events: u64,
}

/// An event dispatcher: a queue of events, on which at most one thread waits.
pub struct Evd<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    /// The streams whose events the EVD accepts.
    pub streams: Streams,
    pub(crate) cq: Option<T::Cq>,
    pub(crate) queue: Mutex<Queue<T>>,
    /// Set while the queue contains an event or has a waiter. If it is clear after a poll, a dequeue takes no lock.
    pub(crate) busy: AtomicBool,
    /// Number of other adapters that use the EVD for asynchronous events.
    pub(crate) lent: AtomicUsize,
    /// Set by the close of the adapter, until the EVD is freed.
    orphan: AtomicBool,
    /// Set once an event has waited for room in the queue.
    had_late: AtomicBool,
    pub(crate) adaptive_spin: AdaptiveSpin,
    pub(crate) slept: AtomicU64,
    connection_events: AtomicU64,
    /// Number of events and connection requests for which the queue had no room.
    lost: AtomicU64,
    /// The counter values at the last reset, which the API layer stores and subtracts in queries.
    pub counter_baseline: AttachedData,
    /// Held while the attached CNO changes, both here and in the CNO's list of EVDs.
    tie: Mutex<()>,
}

impl<T: Transport> Evd<T> {
    /// Creates an EVD for `qlen` events.
    ///
    /// # Errors
    /// [`Arg::QueueLength`] for 0, [`Error::InsufficientResources`] above the adapter's limit or without memory,
    /// [`Role::Cno`] if the CNO is being freed.
    pub fn create(ia: &Arc<Ia<T>>, qlen: usize, cno: Option<&Arc<Cno<T>>>, streams: Streams) -> Result<Arc<Self>> {
        if qlen == 0 {
            return Err(Error::InvalidParameter(Arg::QueueLength));
        }
        if qlen > ia.attributes().max_evd_qlen {
            return Err(Error::InsufficientResources(Resource::Evd));
        }
        ia.room_for(Kind::Evd)?;
        let cq = streams.contains(Streams::TRANSFERS).then(|| ia.transport.cq_create(qlen)).transpose()?;
        let cno = cno.map(|cno| Use::of(cno).ok_or(Error::InvalidHandle(Role::Cno))).transpose()?;
        let mut queue = Queue::new(qlen)?;
        // An asynchronous event reports if another EVD loses the completion of a request. So completions of requests
        // must wake a waiter of this EVD.
        queue.requests += usize::from(streams.contains(Streams::ASYNC));
        let evd = ia.adopt(Evd {
            header: Header::default(),
            ia: ia.clone(),
            streams,
            cq,
            queue: Mutex::new(queue),
            busy: AtomicBool::new(false),
            lent: AtomicUsize::new(0),
            orphan: AtomicBool::new(false),
            had_late: AtomicBool::new(false),
            adaptive_spin: AdaptiveSpin::default(),
            slept: AtomicU64::new(0),
            connection_events: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            counter_baseline: AttachedData::default(),
            tie: Mutex::default(),
        })?;
        let handle = evd.header.handle();
        if let Some(cno) = cno {
            if let Err(error) = cno.attach(handle) {
                evd.free_anyway();
                ia.discount(Kind::Evd);
                return Err(error);
            }
            evd.queue().set_cno(Some(cno));
        }
        log::debug!(target: host::diagnostics::EVD, "event dispatcher {handle}: created for {qlen} events");
        Ok(evd)
    }

    /// Frees the EVD, with the errors of [`Evd::free`]. Returns the queued events.
    pub(crate) fn free_unused(&self) -> Result<Fifo<Queued>> {
        {
            // While this lock is held, no thread can begin to wait.
            let queue = self.queue();
            let waiter = queue.wait.is_some();
            if waiter && self.header.users.count() == 0 {
                return Err(Error::InvalidState(StateError::EvdWaiter));
            }
            if waiter || !self.header.users.retire() {
                return Err(Error::InvalidState(StateError::EvdInUse));
            }
        }
        Ok(self.free_anyway())
    }

    pub(crate) fn free_anyway(&self) -> Fifo<Queued> {
        self.header.users.retire_anyway();
        log::debug!(target: host::diagnostics::EVD, "event dispatcher {}: freed", self.header.handle());
        // Keeps the handle from reuse until the end of this function, because the CNO may still use it.
        let _dying = self.ia.disown(self);
        let _tie = self.tie.lock();
        let ((events, _shown), cno, waker) = {
            let mut queue = self.queue();
            queue.die();
            (queue.take_all(), queue.set_cno(None), queue.waker())
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        if let Some(cno) = cno {
            cno.detach(self.header.handle());
            cno.forget(self.header.handle());
        }
        events
    }

    /// Frees the EVD because its adapter is closed. If other adapters use the EVD for asynchronous events, the last of
    /// them frees it.
    pub(crate) fn orphan(&self) {
        self.orphan.store(true, Ordering::SeqCst);
        self.free_if_orphaned();
    }

    pub(crate) fn free_if_orphaned(&self) {
        if self.lent.load(Ordering::SeqCst) == 0 && self.orphan.swap(false, Ordering::SeqCst) {
            self.free_anyway();
        }
    }

    /// Returns the parameters.
    pub fn status(&self) -> EvdStatus {
        let queue = self.queue();
        EvdStatus { qlen: queue.qlen, enabled: queue.enabled, waitable: queue.is_waitable(), feed: queue.feed() }
    }

    /// Returns a snapshot for tools; `None` if another thread holds the lock on the queue.
    pub(crate) fn glance(&self) -> Option<QueueSnapshot> {
        let queue = self.queue.try_lock()?;
        Some(QueueSnapshot {
            handle: self.header.handle(),
            kind: QueueKind::Evd,
            streams: self.streams,
            size: queue.qlen,
            filled: queue.len(),
            low_watermark: 0,
            lost: self.lost.load(Ordering::Relaxed),
            has_waiter: queue.wait.is_some(),
        })
    }

    /// Returns whether the queue is full; `false` if another thread holds its lock.
    pub(crate) fn is_full(&self) -> bool {
        self.queue.try_lock().is_some_and(|queue| queue.len() >= queue.qlen)
    }

    /// Returns the attached CNO.
    pub fn cno(&self) -> Option<Arc<Cno<T>>> {
        self.queue().cno().map(|cno| cno.object().clone())
    }

    /// Replaces the attached CNO by `cno`, or only detaches it. Queued events do not trigger the new CNO.
    ///
    /// # Errors
    /// [`Role::Cno`] if the new CNO is being freed, [`Role::Evd`] if this EVD is being freed, [`Resource::Memory`].
    pub fn modify_cno(&self, cno: Option<&Arc<Cno<T>>>) -> Result<()> {
        let new = cno.map(|cno| Use::of(cno).ok_or(Error::InvalidHandle(Role::Cno))).transpose()?;
        let _tie = self.tie.lock();
        if self.queue().dead {
            return Err(Error::InvalidHandle(Role::Evd));
        }
        if let Some(new) = &new {
            new.attach(self.header.handle())?;
        }
        let old = self.queue().set_cno(new);
        if let Some(old) = old {
            let same = cno.is_some_and(|cno| Arc::ptr_eq(cno, old.object()));
            if !same {
                old.detach(self.header.handle());
            }
        }
        Ok(())
    }

    /// Enables triggers of the CNO by new events.
    pub fn enable(&self) {
        self.queue().enabled = true;
    }

    /// Disables triggers of the CNO. Events are still queued, and wake a waiter.
    pub fn disable(&self) {
        self.queue().enabled = false;
    }

    /// Disallows waits. The wait of a waiting thread fails with [`StateError::EvdUnwaitable`].
    pub fn set_unwaitable(&self) {
        let waker = self.queue().refuse_waits();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Allows waits again.
    pub fn clear_unwaitable(&self) {
        self.queue().set_waitable(true);
    }

    /// Changes the capacity to `qlen` events, and keeps all events.
    ///
    /// # Errors
    /// [`Arg::QueueLength`] for 0, [`StateError::EvdTooShort`] if more than `qlen` events are queued or awaited by a
    /// thread, [`Error::InsufficientResources`] above the adapter's limit.
    pub fn resize(&self, qlen: usize) -> Result<()> {
        if qlen == 0 {
            return Err(Error::InvalidParameter(Arg::QueueLength));
        }
        if qlen > self.ia.attributes().max_evd_qlen {
            return Err(Error::InsufficientResources(Resource::Evd));
        }
        self.queue().resize(qlen)?;
        log::debug!(target: host::diagnostics::EVD, "event dispatcher {}: resized to {qlen} events", self.header.handle());
        Ok(())
    }

    /// Queues a software event.
    ///
    /// # Errors
    /// [`Arg::Evd`] if the EVD does not accept software events, [`Error::QueueFull`].
    pub fn post_software(&self, pointer: usize) -> Result<()> {
        if !self.streams.contains(Streams::SOFTWARE) {
            return Err(Error::InvalidParameter(Arg::Evd));
        }
        if self.offer(Event::Software { pointer }) { Ok(()) } else { Err(Error::QueueFull) }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn take_any(&self) -> Result<Event> {
        let queued = self.queue().take()?;
        Ok(queued.settle())
    }

    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }

    /// Returns the counters.
    pub fn counts(&self) -> EvdCounts {
        let (waits, dequeued) = self.queue().counts();
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        EvdCounts { waits, slept: of(&self.slept), dequeued, connection_events: of(&self.connection_events) }
    }

    pub(crate) fn push_connection(&self, event: Event) {
        self.connection_events.fetch_add(1, Ordering::Relaxed);
        self.push(|| Queued::event(event), || true);
    }

    #[inline]
    pub(crate) fn queue(&self) -> Locked<'_, T> {
        Locked { queue: self.queue.lock(), busy: &self.busy }
    }

    #[inline]
    pub(crate) fn poll(&self) {
        self.ia.transport.poll(self.cq.as_ref(), Poll::IfFree);
    }

    pub(crate) fn announce(&self) {
        let tell = self.queue().announce();
        self.tell(tell);
    }

    /// Queues a notification event. Returns `false` if the queue is full.
    pub(crate) fn offer(&self, event: Event) -> bool {
        self.fill(|batch| batch.add(Queued::event(event), true)) == 0
    }

    /// Queues an asynchronous event as a notification event. If the queue is full, the event of a watermark waits until
    /// there is room. Returns `false` if the event is lost.
    pub(crate) fn offer_async(&self, object: Handle, reason: AsyncReason) -> bool {
        if !reason.is_watermark() {
            return self.offer(Event::Async { object, reason });
        }
        let lost = self.fill(|batch| {
            if batch.add_or_delay(object, reason) {
                self.had_late.store(true, Ordering::Release);
            }
        });
        lost == 0
    }

    /// Removes the events of a freed object that wait for room in the queue.
    pub(crate) fn forget_late(&self, object: Handle) {
        if self.had_late.load(Ordering::Acquire) {
            self.queue().forget_late(object);
        }
    }

    /// Ends [`Evd::push`]: wakes a waiter or triggers the CNO. If the event was not `kept`, reports the loss.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_push(&self, mut queue: MutexGuard<'_, Queue<T>>, kept: bool, notifies: bool) {
        if kept {
            let tell = queue.tell(usize::from(notifies));
            drop(queue);
            self.tell(tell);
        } else {
            // [`Evd::push`] has set the flag, but a freed EVD has an empty queue, of capacity 0.
            self.busy.store(queue.is_busy(), Ordering::Release);
            drop(queue);
            self.report_loss(1);
        }
    }

    /// Queues the events that `add` adds to the batch, under one lock. Reports the events for which there is no room.
    pub(crate) fn push_all(&self, add: impl FnOnce(&mut Batch<'_, T>)) {
        let lost = self.fill(add);
        if lost > 0 {
            self.report_loss(lost);
        }
    }

    fn fill(&self, add: impl FnOnce(&mut Batch<'_, T>)) -> usize {
        let (lost, tell) = {
            let mut queue = self.queue();
            let mut batch = Batch::new(&mut queue);
            add(&mut batch);
            batch.end()
        };
        if let Some(tell) = tell {
            self.tell(tell);
        }
        lost
    }

    /// Counts events for which the queue has no room, and warns of the first loss. `what` names their kind.
    #[cold]
    pub(crate) fn note_loss(&self, lost: usize, what: &dyn Display) {
        self.note_lack(lost, "overflow", &format_args!("{lost} lost ({what})"));
    }

    /// Counts a connection request for which the queue has no room. Like [`Evd::note_loss`], but the message reports a
    /// rejection instead of an overflow.
    #[cold]
    pub(crate) fn note_rejection(&self) {
        self.note_lack(1, "full", &"connection request rejected");
    }

    #[cold]
    fn note_lack(&self, lost: usize, state: &str, lack: &dyn Display) {
        let (qlen, dead) = {
            let queue = self.queue();
            (queue.qlen, queue.dead)
        };
        let before = self.lost.fetch_add(lost as u64, Ordering::Relaxed);
        let handle = self.header.handle();
        if before == 0 && !dead {
            log::warn!("event dispatcher {handle}: {state} ({qlen} entries): {lack}; later losses are only counted");
        } else {
            log::debug!(target: host::diagnostics::EVD, "event dispatcher {handle}: {state}: {lack}, {before} lost before");
        }
    }

    #[cold]
    fn report_loss(&self, lost: usize) {
        self.note_loss(lost, &self.streams);
        (0..lost).for_each(|_| self.ia.raise(self.header.handle(), AsyncReason::EvdOverflow));
    }

    /// Performs a wakeup. The queue must be unlocked.
    #[cold]
    fn tell(&self, tell: PendingWakeup<T>) {
        match tell {
            PendingWakeup::Nobody => {}
            PendingWakeup::Waiter(waker) => waker.wake(),
            PendingWakeup::Object(cno, times) => (0..times).for_each(|_| cno.trigger(self.header.handle())),
        }
    }

    /// Counts an endpoint's stream that completes on the EVD. If it is a stream of `requests`, wakes the waiting
    /// thread, which must arm again for completions of requests.
    pub(crate) fn add_feed(&self, feed: Feed, requests: bool) {
        let waker = {
            let mut queue = self.queue();
            queue.feeds[feed as usize] += 1;
            queue.requests += usize::from(requests);
            queue.waker().filter(|_| requests)
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn remove_feed(&self, feed: Feed, requests: bool) {
        let mut queue = self.queue();
        queue.feeds[feed as usize] -= 1;
        queue.requests -= usize::from(requests);
    }
}

/// The locked queue. The drop updates [`Evd::busy`].
pub(crate) struct Locked<'a, T: Transport> {
    queue: MutexGuard<'a, Queue<T>>,
    busy: &'a AtomicBool,
}

impl<T: Transport> Deref for Locked<'_, T> {
    type Target = Queue<T>;

    #[inline]
    fn deref(&self) -> &Queue<T> {
        &self.queue
    }
}

impl<T: Transport> DerefMut for Locked<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Queue<T> {
        &mut self.queue
    }
}

impl<T: Transport> Drop for Locked<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.busy.store(self.queue.is_busy(), Ordering::Release);
    }
}
