//! Shared receive queues

use dat_udat::c_members;

pub use dat_udat::dat::srq::*;

c_members! {
    DAT_SRQ_STATE {
        /// In working order.
        DAT_SRQ_STATE_OPERATIONAL = 0,
        /// Broken.
        DAT_SRQ_STATE_ERROR = 1,
    }
}
