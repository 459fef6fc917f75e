//! The lock on the requests of an endpoint, which is also that on what the transport keeps of its sending direction.
//!
//! A transport that polls many connections does not wait for one in which another thread is in the middle of a post, which
//! may be a long one. It tries the lock, and if that fails it leaves the poll of this connection to the holder: every
//! holder, whatever it has locked the requests for, checks after unlocking whether a poll was left to it, and then has the
//! transport poll the queue pair again.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;

use host::asymmetric;
use host::cold_path;
use host::lock::MutexGuard;

use crate::ep::endpoint::Endpoint;
use crate::ep::report::EndpointSink;
use crate::ep::requests::Requests;
use crate::slab::{Handle, Object};
use crate::transport::{SeqNo, Transport};

/// The locked requests of an endpoint.
pub(crate) struct Locked<'a, T: Transport> {
    requests: MutexGuard<'a, Requests<T>>,
    /// Dropped behind the guard.
    turn: Turn<'a, T>,
}

impl<T: Transport> Locked<'_, T> {
    /// Calls `what` while the requests are not locked.
    pub fn unlocked<R>(&mut self, what: impl FnOnce() -> R) -> R {
        // A poll that another thread leaves to this one until then is made when this guard is dropped.
        MutexGuard::unlocked(&mut self.requests, what)
    }
}

impl<T: Transport> Deref for Locked<'_, T> {
    type Target = Requests<T>;

    #[inline(always)]
    fn deref(&self) -> &Requests<T> {
        &self.requests
    }
}

impl<T: Transport> DerefMut for Locked<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Requests<T> {
        &mut self.requests
    }
}

/// The duty to make the polls that other threads left to this one while it held the lock.
struct Turn<'a, T: Transport>(&'a Endpoint<T>);

impl<T: Transport> Drop for Turn<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if !T::KEEPS_TX {
            return;
        }
        // SYNC again: pairs with the heavy half in `now_or_later`; freeing the lock was the light one.
        if self.0.poll_deferred.load(Ordering::Relaxed) {
            cold_path();
            self.0.run_deferred_poll();
        }
    }
}

/// What the transport keeps of the sending direction ([`Parts::Tx`](crate::transport::Parts::Tx)), locked.
pub struct TxGuard<'a, T: Transport>(Locked<'a, T>);

impl<T: Transport> Deref for TxGuard<'_, T> {
    type Target = T::Tx;

    #[inline(always)]
    fn deref(&self) -> &T::Tx {
        &self.0.tx
    }
}

impl<T: Transport> DerefMut for TxGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T::Tx {
        &mut self.0.tx
    }
}

impl<T: Transport> TxGuard<'_, T> {
    /// Reports what [`EndpointSink::requests_done`](crate::transport::EndpointSink::requests_done) does.
    #[inline(always)]
    #[must_use]
    pub fn request_done(&mut self, reached: SeqNo) -> bool {
        let ep = self.ep();
        self.0.complete_through(ep, reached)
    }

    #[inline(always)]
    fn ep(&self) -> Handle {
        self.0.turn.0.header().handle()
    }
}

impl<T: Transport> Endpoint<T> {
    /// Tries the lock again, which was not free a moment ago. `None` if another thread still has it: the poll is left to that
    /// one.
    #[cold]
    #[inline(never)]
    fn try_lock_or_defer(&self) -> Option<MutexGuard<'_, Requests<T>>> {
        self.poll_deferred.store(true, Ordering::Relaxed);
        asymmetric::heavy();
        // SYNC again: the flag was stored before the heavy half; the holder frees the lock, which is a light half, and
        // then loads the flag. So either this attempt finds the lock free, or the holder finds the flag, and no poll is
        // lost.
        self.requests.try_lock()
    }

    /// Locks the requests.
    #[inline(always)]
    pub(crate) fn requests(&self) -> Locked<'_, T> {
        Locked { requests: self.requests.lock(), turn: Turn(self) }
    }

    /// The same, unless another thread has them locked.
    pub(crate) fn try_requests(&self) -> Option<Locked<'_, T>> {
        Some(Locked { requests: self.requests.try_lock()?, turn: Turn(self) })
    }

    /// Has the transport poll the queue pair again for threads that left that to this one.
    #[cold]
    #[inline(never)]
    fn run_deferred_poll(&self) {
        while self.poll_deferred.load(Ordering::Relaxed) {
            // SYNC again: a thread that has locked the requests meanwhile finds the flag as well when it frees them,
            // and need not be waited for.
            let Some(requests) = self.requests.try_lock() else { return };
            self.poll_deferred.store(false, Ordering::SeqCst);
            if let Some(qp) = &requests.qp {
                self.ia.transport.repoll(qp);
            }
            // Another poll may be left until this thread has freed the lock.
            drop(requests);
        }
    }
}

impl<T: Transport> EndpointSink<T> {
    /// Locks what the transport keeps of the sending direction; `None` once the connection, or the attempt at one, has ended
    /// for the core. For transports with [`Transport::KEEPS_TX`].
    #[inline(always)]
    pub fn lock_tx(&self) -> Option<TxGuard<'_, T>> {
        self.tx_of(self.endpoint.requests.lock())
    }

    /// As [`EndpointSink::lock_tx`], but does not wait for another thread that has the requests of the endpoint locked, in a
    /// report or in a call of the program. The answer is `None` then, and
    /// [`Hooks::repoll`](crate::transport::Hooks::look_again) is called when that thread is done.
    #[inline(always)]
    pub fn try_lock_tx(&self) -> Option<TxGuard<'_, T>> {
        self.tx_of(match self.endpoint.requests.try_lock() {
            Some(requests) => requests,
            None => self.endpoint.try_lock_or_defer()?,
        })
    }

    /// What the transport keeps, if it belongs to the life of this sink.
    #[inline(always)]
    fn tx_of<'a>(&'a self, requests: MutexGuard<'a, Requests<T>>) -> Option<TxGuard<'a, T>> {
        let locked = Locked { requests, turn: Turn(&self.endpoint) };
        (locked.life == self.life).then(|| TxGuard(locked))
    }
}
