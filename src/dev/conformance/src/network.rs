//! The environment of a test.

use std::any::Any;
use std::marker::PhantomData;

use dat_core::event::{ConnectionEvent, Status};
use dat_core::testing::{Adapter, End, patience, until};
use dat_core::transport::{FabricKind, Transport};
use dat_core::{ApiCaps, Rights};

/// The rights of a buffer that only this process uses.
pub(crate) const LOCAL: Rights = Rights::LOCAL_READ.union(Rights::LOCAL_WRITE);

/// Adapters that reach each other and, if possible, no others.
pub struct Network<T: Transport> {
    name: String,
    instance: String,
    exact: bool,
    keeps: Option<Box<dyn Any>>,
    transport: PhantomData<fn() -> T>,
}

impl<T: Transport> Network<T> {
    /// Creates a network of adapters with this name and instance data.
    pub fn new(name: &str, instance: &str) -> Self {
        Network {
            name: name.to_owned(),
            instance: instance.to_owned(),
            exact: false,
            keeps: None,
            transport: PhantomData,
        }
    }

    /// Keeps `value` until the test has ended.
    pub fn keeping(mut self, value: impl Any) -> Self {
        self.keeps = Some(Box::new(value));
        self
    }

    /// Declares that the transport guarantees more than the contract, which tests then require:
    /// - Counters include all posted work at the next query.
    /// - Endpoints that wait for a buffer of an SRQ take turns.
    /// - The peer can distinguish a failed from a closed connection.
    /// - The transport knows which peers support extended operations.
    pub fn exact(mut self) -> Self {
        self.exact = true;
        self
    }

    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Expects the condition immediately if the network is exact, otherwise within the time of `patience`.
    #[track_caller]
    pub(crate) fn soon(&self, what: &str, condition: impl Fn() -> bool) {
        if self.exact {
            assert!(condition(), "not at once: {what}");
        } else {
            until(what, condition);
        }
    }

    /// Expects the event at `end` for a failure at its peer.
    #[track_caller]
    pub(crate) fn expect_broken(&self, end: &End<T>) {
        self.expect_end(end, ConnectionEvent::Broken);
    }

    /// Expects the event at `end` for a request of `end` that the peer refused.
    #[track_caller]
    pub(crate) fn expect_refusal(&self, adapter: &Adapter<T>, end: &End<T>) {
        if repeats(adapter) {
            end.is_told(ConnectionEvent::Broken);
        } else {
            self.expect_broken(end);
        }
    }

    /// Expects the event at `end` for a disconnect of its peer.
    #[track_caller]
    pub(crate) fn expect_disconnected(&self, end: &End<T>) {
        self.expect_end(end, ConnectionEvent::Disconnected);
    }

    #[track_caller]
    fn expect_end(&self, end: &End<T>, wanted: ConnectionEvent) {
        let (kind, _) = end.next_connection_event();
        let fits = matches!(kind, ConnectionEvent::Broken | ConnectionEvent::Disconnected);
        assert!(if self.exact { kind == wanted } else { fits }, "{kind:?}");
    }

    pub(crate) fn place(&self) -> (&str, &str) {
        (&self.name, &self.instance)
    }

    pub fn open(&self) -> Adapter<T> {
        Adapter::open(&self.name, &self.instance)
    }

    pub fn open_with(&self, api_caps: ApiCaps) -> Adapter<T> {
        Adapter::open_with(&self.name, &self.instance, api_caps)
    }
}

/// Returns whether a message without a receive is repeated until a receive is posted. On iWARP, it is not: such a
/// message ends the connection. There, sends and writes succeed when the device has their bytes, even if the peer then
/// refuses them.
pub(crate) fn repeats<T: Transport>(adapter: &Adapter<T>) -> bool {
    adapter.ia.attributes().fabric.kind != FabricKind::Iwarp
}

/// Returns whether a write or a read that the peer refuses can end with `status`. The status is `wanted`, except on
/// iWARP: there a write can succeed first, and otherwise the end of the connection fails the request.
pub(crate) fn is_refusal<T: Transport>(adapter: &Adapter<T>, write: bool, status: Status, wanted: Status) -> bool {
    if repeats(adapter) {
        status == wanted
    } else {
        matches!(status, Status::Flushed | Status::LocalEndpoint) || write && status == Status::Success
    }
}

/// Asserts that `arrived` holds after a write has completed. On iWARP, waits for it, because a write completes before
/// its bytes arrive.
#[track_caller]
pub(crate) fn written<T: Transport>(adapter: &Adapter<T>, what: &str, arrived: impl Fn() -> bool) {
    if repeats(adapter) {
        assert!(arrived(), "{what}");
    } else {
        until(what, arrived);
    }
}

/// Returns the number of repetitions: `full`, or an eighth if `DAT_TEST_SCALE` indicates a slow machine.
pub fn rounds(full: usize) -> usize {
    let slow = patience() > std::time::Duration::from_secs(20);
    if slow { full.div_ceil(8) } else { full }
}
