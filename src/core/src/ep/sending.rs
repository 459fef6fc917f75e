//! The lock on an endpoint's requests and on the transport's state of the sending direction.
//!
//! A transport that polls many connections must not wait for a long post. If another thread has locked a connection,
//! the transport leaves the poll to that thread, which polls after it unlocks.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;

use host::asymmetric;
use host::cold_path;
use host::lock::MutexGuard;

use crate::arena::Object;
use crate::ep::endpoint::Endpoint;
use crate::ep::report::EndpointSink;
use crate::ep::requests::Requests;
use crate::transport::{SeqNo, Transport};

pub(crate) struct Locked<'a, T: Transport> {
    requests: MutexGuard<'a, Requests<T>>,
    /// Dropped after the guard, so that the deferred poll runs without the lock.
    turn: Turn<'a, T>,
}

impl<T: Transport> Locked<'_, T> {
    pub fn unlocked<R>(&mut self, what: impl FnOnce() -> R) -> R {
        // Polls that other threads leave to this thread run only at the drop of `self`.
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

/// When dropped, runs the poll that other threads have left to the holder of the lock.
struct Turn<'a, T: Transport>(&'a Endpoint<T>);

impl<T: Transport> Drop for Turn<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if !T::KEEPS_TX {
            return;
        }
        // SYNC again: pairs with the heavy half in `try_lock_or_defer`; the unlock was the light half.
        if self.0.poll_deferred.load(Ordering::Relaxed) {
            cold_path();
            self.0.run_deferred_poll();
        }
    }
}

/// The locked sending direction of a queue pair ([`Transport::Tx`]).
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
    /// Reports completed requests like [`EndpointSink::requests_done`](crate::transport::EndpointSink::requests_done).
    #[inline(always)]
    #[must_use]
    pub fn request_done(&mut self, reached: SeqNo) -> bool {
        let ep = self.0.turn.0.header().handle();
        self.0.complete_through(ep, reached)
    }
}

impl<T: Transport> Endpoint<T> {
    /// Retries the lock. Returns `None` if another thread still holds it; that thread then polls.
    #[cold]
    #[inline(never)]
    fn try_lock_or_defer(&self) -> Option<MutexGuard<'_, Requests<T>>> {
        self.poll_deferred.store(true, Ordering::Relaxed);
        asymmetric::heavy();
        // SYNC again: the flag was stored before the heavy half. The holder unlocks, a light half, and then loads the
        // flag. So this attempt finds the lock free, or the holder finds the flag.
        self.requests.try_lock()
    }

    #[inline(always)]
    pub(crate) fn requests(&self) -> Locked<'_, T> {
        Locked { requests: self.requests.lock(), turn: Turn(self) }
    }

    pub(crate) fn try_requests(&self) -> Option<Locked<'_, T>> {
        Some(Locked { requests: self.requests.try_lock()?, turn: Turn(self) })
    }

    #[cold]
    #[inline(never)]
    fn run_deferred_poll(&self) {
        while self.poll_deferred.load(Ordering::Relaxed) {
            // SYNC again: a later holder of the lock checks the flag after its unlock.
            let Some(requests) = self.requests.try_lock() else { return };
            self.poll_deferred.store(false, Ordering::SeqCst);
            let qp = requests.qp.clone();
            // Until this unlock, other threads may defer their polls again. The loop then repeats.
            drop(requests);
            qp.inspect(|qp| self.ia.transport.repoll(qp));
        }
    }
}

impl<T: Transport> EndpointSink<T> {
    /// Locks the transport's sending direction. Returns `None` if core has ended the connection. Requires
    /// [`Transport::KEEPS_TX`].
    #[inline(always)]
    pub fn lock_tx(&self) -> Option<TxGuard<'_, T>> {
        self.tx_of(self.endpoint.requests.lock())
    }

    /// Like [`EndpointSink::lock_tx`], but also returns `None` if another thread holds the lock. That thread then calls
    /// [`Transport::repoll`].
    #[inline(always)]
    pub fn try_lock_tx(&self) -> Option<TxGuard<'_, T>> {
        self.tx_of(match self.endpoint.requests.try_lock() {
            Some(requests) => requests,
            None => self.endpoint.try_lock_or_defer()?,
        })
    }

    #[inline(always)]
    fn tx_of<'a>(&'a self, requests: MutexGuard<'a, Requests<T>>) -> Option<TxGuard<'a, T>> {
        let locked = Locked { requests, turn: Turn(&self.endpoint) };
        (locked.life == self.life).then(|| TxGuard(locked))
    }
}
