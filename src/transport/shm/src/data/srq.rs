//! Shared receive queues of connections of this transport.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dat_core::transport::RnrWaiter;

use crate::conn::Conn;

pub type SharedQueue = dat_core::transport::SharedQueue<Conn>;

impl RnrWaiter for Conn {
    #[inline]
    fn rnr_queued(&self) -> &AtomicBool {
        &self.base.rnr_queued
    }

    fn resume(self: &Arc<Self>) {
        self.resume_rx();
    }
}
