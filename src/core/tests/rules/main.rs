//! The rules of core, over a transport whose peer is the test.

mod adapters;
mod connections;
mod dispatchers;
mod endings;
mod endpoints;
mod extended;
mod memory;
mod modify;
mod posts;
mod requests;
mod srqs;
mod waits;

use dat_core::addr::Address;
use dat_core::error::Result;
use dat_core::event::{ConnectionEvent, Status};
use dat_core::testing::{Adapter, End, Fake, request};
use dat_core::transport::{ConnectionReport, EndpointSink, FailedRequest, RecvDone, SeqNo};

const QUALIFIER: u64 = 5;

fn open() -> Adapter<Fake> {
    Adapter::open("fake", "")
}

fn fake(adapter: &Adapter<Fake>) -> &Fake {
    &adapter.ia.transport
}

fn ask(end: &End<Fake>) -> Result<()> {
    request(end, &Address::loopback(), QUALIFIER, None, b"")
}

fn establish(adapter: &Adapter<Fake>, end: &End<Fake>) -> EndpointSink<Fake> {
    ask(end).unwrap();
    let sink = fake(adapter).last_qp();
    sink.connection(ConnectionReport::Established(Vec::new()));
    end.is_told(ConnectionEvent::Established);
    sink
}

fn connected(adapter: &Adapter<Fake>) -> (End<Fake>, EndpointSink<Fake>) {
    let end = adapter.end();
    let sink = establish(adapter, &end);
    (end, sink)
}

/// Returns the report of a message of 9 bytes.
fn received(id: u64) -> RecvDone {
    RecvDone { id, status: Status::Success, len: 9, solicited: false }
}
