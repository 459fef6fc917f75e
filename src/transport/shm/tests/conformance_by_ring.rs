//! The suite that every transport passes, where the kernel refuses copies between processes, so
//! that all bytes go through the rings.

mod common;

use std::sync::Once;

use dat_conformance::Network;
use dat_shm::Shm;

fn network() -> Network<Shm> {
    static REFUSED: Once = Once::new();
    // SAFETY: this program and the libraries in it read the environment through std alone, whose
    // lock is held meanwhile.
    REFUSED.call_once(|| unsafe { std::env::set_var("DAT_SHM_VM", "0") });
    common::network()
}

dat_conformance::conformance!(network);
