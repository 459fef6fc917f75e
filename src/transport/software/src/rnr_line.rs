//! The connections that wait for a buffer of an SRQ.
//!
//! Core stores the buffers. A connection that finds no buffer joins the line and tries again. So either a post sees the
//! connection in the line, or the connection finds the posted buffer: core's lock on the buffers orders the post and
//! the second try.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use dat_core::error::Result;
use dat_core::transport::{Recv, SharedReceives, Transport};
use host::lock::Mutex;
use host::memory::{self, Room};

/// Number of connections for which the line initially has room.
const LINE: usize = 256;

/// A connection that may be receiver-not-ready (RNR).
pub trait RnrWaiter {
    /// Returns the flag that is set while the connection is in the line. With an SRQ, only the line changes it.
    fn rnr(&self) -> &AtomicBool;

    /// Resumes a message that waited for a buffer. Called without a lock.
    fn resume(self: &Arc<Self>);
}

/// The line of connections of type `C` at an SRQ.
pub struct RnrLine<C>(Arc<Line<C>>);

struct Line<C> {
    /// `false` if no connection waits.
    waits: AtomicBool,
    conns: Mutex<VecDeque<Weak<C>>>,
}

impl<C> Clone for RnrLine<C> {
    fn clone(&self) -> Self {
        RnrLine(self.0.clone())
    }
}

impl<C: RnrWaiter> RnrLine<C> {
    fn new() -> Result<Self> {
        let conns = Mutex::new(VecDeque::from(memory::vec(LINE)?));
        Ok(RnrLine(memory::arc(Line { waits: AtomicBool::new(false), conns })?))
    }

    /// Reserves room for another waiting connection, so that [`RnrLine::join`] does not allocate.
    ///
    /// # Errors
    /// [`Resource::Memory`](dat_core::error::Resource::Memory).
    pub fn expect(&self) -> Result<()> {
        // Each connection has a reference to the line, so this is at least the number of connections.
        let conns = Arc::strong_count(&self.0);
        let mut line = self.0.conns.lock();
        line.retain(|conn| conn.strong_count() > 0);
        let more = conns.saturating_sub(line.len());
        line.room(more)?;
        Ok(())
    }

    /// Adds a connection that found no buffer. The caller must then try again to take one. Even if this succeeds, a
    /// later post resumes the connection.
    pub fn join(&self, conn: &Arc<C>) {
        let mut line = self.0.conns.lock();
        // A connection is in the line only once, even after several failed attempts.
        if !conn.rnr().swap(true, Ordering::Relaxed) {
            line.push_back(Arc::downgrade(conn));
            self.0.waits.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether a connection waits. Called under the lock on the buffers.
    #[inline(always)]
    fn waits(&self) -> bool {
        self.0.waits.load(Ordering::Relaxed)
    }

    fn resume_while(&self, has_buffers: impl Fn() -> bool) {
        while has_buffers() {
            let Some(next) = self.next() else { return };
            if let Some(conn) = next {
                conn.resume();
            }
        }
    }

    /// Removes the first entry of the line. Returns `None` if the line is empty, `Some(None)` if the connection no
    /// longer exists.
    fn next(&self) -> Option<Option<Arc<C>>> {
        let mut line = self.0.conns.lock();
        let next = line.pop_front()?.upgrade();
        self.0.waits.store(!line.is_empty(), Ordering::Relaxed);
        Some(next.inspect(|conn| conn.rnr().store(false, Ordering::Relaxed)))
    }
}

impl<T: Transport<Qp: RnrWaiter>> SharedReceives<T> for RnrLine<T::Qp> {
    fn create(_: &T, _: &T::Zone, _depth: usize, _segments: usize) -> Result<Self> {
        RnrLine::new()
    }

    #[inline(always)]
    fn post(&self, _: &T, _: &Recv<'_>) -> Result<bool> {
        Ok(self.waits())
    }

    fn resize(&self, _: &T, _depth: usize) -> Result<()> {
        Ok(())
    }

    fn arm_limit(&self, _: &T, _limit: usize) -> Result<()> {
        // Needs no arming, because each taken buffer is reported immediately.
        Ok(())
    }

    fn kick(&self, has_buffers: impl Fn() -> bool) {
        self.resume_while(has_buffers);
    }
}

#[cfg(test)]
mod tests;
