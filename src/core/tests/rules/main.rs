//! The rules of the core: states, books, references, waits, over a transport whose peer is the
//! test.

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

/// The qualifier that ends connect to.
const QUALIFIER: u64 = 5;

fn open() -> Adapter<Fake> {
    Adapter::open("fake", "")
}

fn fake(adapter: &Adapter<Fake>) -> &Fake {
    &adapter.ia.transport
}

/// Asks for a connection.
fn ask(end: &End<Fake>) -> Result<()> {
    request(end, &Address::loopback(), QUALIFIER, None, b"")
}

/// Connects an endpoint; where its queue pair reports to.
fn establish(adapter: &Adapter<Fake>, end: &End<Fake>) -> EndpointSink<Fake> {
    ask(end).unwrap();
    let sink = fake(adapter).last_qp();
    sink.connection(ConnectionReport::Established(Vec::new()));
    end.is_told(ConnectionEvent::Established);
    sink
}

/// A connected endpoint, and where its queue pair reports to.
fn connected(adapter: &Adapter<Fake>) -> (End<Fake>, EndpointSink<Fake>) {
    let end = adapter.end();
    let sink = establish(adapter, &end);
    (end, sink)
}

/// A message of 9 bytes has come into a receive.
fn received(id: u64) -> RecvDone {
    RecvDone { id, status: Status::Success, len: 9, solicited: false }
}
