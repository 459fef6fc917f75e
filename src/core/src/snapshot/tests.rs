use std::sync::Arc;

use super::*;
use crate::testing::{Adapter, Fake};

#[test]
fn snapshot_waits_for_no_lock() {
    let adapter = Adapter::<Fake>::open("fake", "");
    let end = adapter.end();
    let sink = AdapterSink { adapter: Arc::downgrade(&adapter.ia) };
    let glance =
        || std::thread::scope(|scope| scope.spawn(|| sink.glance(Instant::now(), 8)).join().expect("no panic"));
    let is_told = || matches!(glance(), Glanced::Told(glance) if glance.name == "fake" && glance.connections == 0);
    assert!(is_told());
    let requests = end.ep.requests();
    assert!(matches!(glance(), Glanced::Busy));
    drop(requests);
    let receives = end.ep.receives.lock();
    assert!(matches!(glance(), Glanced::Busy));
    drop(receives);
    let ended = adapter.ia.ended.lock();
    assert!(matches!(glance(), Glanced::Busy));
    drop(ended);
    assert!(is_told());
    adapter.ia.close_abrupt().expect("it is open");
    assert!(matches!(glance(), Glanced::Closed));
}
