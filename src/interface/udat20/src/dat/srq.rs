//! Shared receive queues

pub use dat_udat::dat::srq::*;

c_members! {
    DAT_SRQ_STATE;
    DAT_SRQ_STATE_ERROR = 0, "Broken.";
    DAT_SRQ_STATE_OPERATIONAL = 1, "Operational.";
    DAT_SRQ_STATE_SHUTDOWN = 2, "Being destroyed.";
}
