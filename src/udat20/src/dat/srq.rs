//! Shared receive queues

use dat_udat::c_members;

pub use dat_udat::dat::srq::*;

c_members! {
    DAT_SRQ_STATE {
        /// Broken.
        DAT_SRQ_STATE_ERROR = 0,
        /// In working order.
        DAT_SRQ_STATE_OPERATIONAL = 1,
        /// Being destroyed.
        DAT_SRQ_STATE_SHUTDOWN = 2,
    }
}
