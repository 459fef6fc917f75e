//! The transport's side of a shared receive queue: that of the core, whose buffers connections of this transport take.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dat_core::transport::RnrWaiter;

use crate::conn::Conn;

/// A shared receive queue.
pub type SharedQueue = dat_core::transport::SharedQueue<Conn>;

impl RnrWaiter for Conn {
    #[inline]
    fn rnr_queued(&self) -> &AtomicBool {
        &self.rnr_queued
    }

    fn resume(self: &Arc<Self>) {
        self.resume_rx();
    }
}
