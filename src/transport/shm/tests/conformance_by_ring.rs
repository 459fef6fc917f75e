//! The conformance suite without copies between processes, so that all bytes use the rings.

mod common;

use std::sync::Once;

use dat_conformance::Network;
use dat_shm::Shm;

fn network() -> Network<Shm> {
    static REFUSED: Once = Once::new();
    // SAFETY: this program and its libraries read the environment only through std, which locks it.
    REFUSED.call_once(|| unsafe { std::env::set_var("DAT_SHM_VM", "0") });
    common::network()
}

dat_conformance::conformance!(network);
