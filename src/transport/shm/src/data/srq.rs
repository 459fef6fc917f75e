//! The transport's side of a shared receive queue: that of the core, whose buffers connections of this transport take.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dat_core::transport::Starving;

use crate::conn::Conn;

/// A shared receive queue.
pub type SharedQueue = dat_core::transport::SharedQueue<Conn>;

impl Starving for Conn {
    #[inline]
    fn in_line(&self) -> &AtomicBool {
        &self.in_line
    }

    fn resume(self: &Arc<Self>) {
        self.resume_rx();
    }
}
