//! The limits that an adapter reports.

use std::sync::Arc;

use dat_core::ep::EpParts;
use dat_core::error::{Error, Result};
use dat_core::transport::{Scope, Transport};
use dat_core::{Base, Endpoint, Evd, Kind, Lmr, Memory, Pz, Rights, Rmr, Srq, Streams};

use crate::Network;

/// Limits above this are not tested, because creating that many objects takes too long.
const MAX_TESTED: usize = 20_000;

/// Creates objects of a kind up to the adapter's limit, and expects that more are refused. `live` returns their number.
/// Does nothing if the limit exceeds [`MAX_TESTED`].
fn fill<T: Transport, O>(
    network: &Network<T>,
    kind: Kind,
    make: impl Fn() -> Result<Arc<O>>,
    live: impl Fn() -> usize,
) {
    let (most, lacking) = network.open().ia.attributes().most(kind);
    assert!(most > 0, "{kind:?}");
    let refused = |made: Result<Arc<O>>| made.err() == Some(Error::InsufficientResources(lacking));
    if most > MAX_TESTED {
        return;
    }
    while live() < most {
        if let Err(error) = make() {
            // Other processes may use objects of the same device.
            assert_eq!((error, network.is_exact()), (Error::InsufficientResources(lacking), false), "{kind:?}");
            return;
        }
    }
    assert!(refused(make()) && refused(make()), "{kind:?}");
    assert_eq!(live(), most, "{kind:?}");
}

/// uDAPL 2.0, whose lengths have 32 bits, relies on this.
pub fn max_transfer_fits_32_bits<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let limits = adapter.ia.attributes();
    assert!(u32::try_from(limits.max_transfer).is_ok());
}

pub fn unknown_device_counter_is_0<T: Transport>(network: &Network<T>) {
    assert_eq!(network.open().ia.attributes().fabric.counter("no_such_counter"), 0);
}

pub fn object_limits_are_exact<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let ia = &adapter.ia;
    let buffer = adapter.buffer(64);
    let at = buffer.at(0, 64).addr;
    let live = |kind| move || ia.count(kind);
    fill(network, Kind::Pz, || Pz::create(ia), live(Kind::Pz));
    let lmr = || Lmr::create(ia, Memory::Virtual(at), None, 64, &adapter.pz, Rights::LOCAL_READ, Base::Address);
    fill(network, Kind::Lmr, lmr, live(Kind::Lmr));
    if ia.attributes().rmr {
        fill(network, Kind::Rmr, || Rmr::create(&adapter.pz, Scope::Zone), live(Kind::Rmr));
    }
    fill(network, Kind::Evd, || Evd::create(ia, 1, None, Streams::SOFTWARE), live(Kind::Evd));
    fill(network, Kind::Ep, || Endpoint::create(ia, &EpParts::default(), None), live(Kind::Ep));
    if ia.attributes().srq {
        fill(network, Kind::Srq, || Srq::create(ia, &adapter.pz, 1, 1), live(Kind::Srq));
    }
}
