//! Shared receive queues

pub use dat_udat::dat::srq::*;

c_members! {
    DAT_SRQ_STATE;
    DAT_SRQ_STATE_OPERATIONAL = 0, "Operational.";
    DAT_SRQ_STATE_ERROR = 1, "Broken.";
}
