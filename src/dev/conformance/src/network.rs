//! Where the adapters of a test meet.

use std::any::Any;
use std::marker::PhantomData;

use dat_core::ApiCaps;
use dat_core::event::{ConnectionEvent, Status};
use dat_core::testing::{Adapter, End, patience, until};
use dat_core::transport::{FabricKind, Transport};

/// Where the adapters of one test meet each other and, as far as possible, no others.
pub struct Network<T: Transport> {
    name: String,
    instance: String,
    exact: bool,
    keeps: Option<Box<dyn Any>>,
    transport: PhantomData<fn() -> T>,
}

impl<T: Transport> Network<T> {
    /// The network of the adapters that `name` and `instance` describe.
    pub fn new(name: &str, instance: &str) -> Self {
        Network {
            name: name.to_owned(),
            instance: instance.to_owned(),
            exact: false,
            keeps: None,
            transport: PhantomData,
        }
    }

    /// Keeps a value until the test has ended.
    pub fn keeping(mut self, value: impl Any) -> Self {
        self.keeps = Some(Box::new(value));
        self
    }

    /// States more than the trait asks for: within one process whatever was posted has
    /// happened when counters are asked for next; endpoints that wait for a buffer of a shared
    /// queue get one in turn; the peer of a connection that failed, or was ended, is told
    /// which of both; and it is known which peers take extended operations.
    pub fn exact(mut self) -> Self {
        self.exact = true;
        self
    }

    /// Whether [`Network::exact`] was stated.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The condition holds: at once where the network is exact, else soon.
    #[track_caller]
    pub(crate) fn soon(&self, what: &str, condition: impl Fn() -> bool) {
        if self.exact {
            assert!(condition(), "not at once: {what}");
        } else {
            until(what, condition);
        }
    }

    /// The next event of `end` says that its connection failed, for a reason at the other end.
    #[track_caller]
    pub(crate) fn is_told_of_a_failure(&self, end: &End<T>) {
        self.is_told_of_the_end(end, ConnectionEvent::Broken);
    }

    /// The next event of `end` says that its connection failed, because the peer refused a request of `end`.
    #[track_caller]
    pub(crate) fn is_told_of_a_refusal(&self, adapter: &Adapter<T>, end: &End<T>) {
        if repeats(adapter) {
            end.is_told(ConnectionEvent::Broken);
        } else {
            self.is_told_of_a_failure(end);
        }
    }

    /// The next event of `end` says that its peer ended the connection, perhaps in the middle of
    /// something.
    #[track_caller]
    pub(crate) fn is_told_of_a_farewell(&self, end: &End<T>) {
        self.is_told_of_the_end(end, ConnectionEvent::Disconnected);
    }

    #[track_caller]
    fn is_told_of_the_end(&self, end: &End<T>, wanted: ConnectionEvent) {
        let (kind, _) = end.news();
        let fits = matches!(kind, ConnectionEvent::Broken | ConnectionEvent::Disconnected);
        assert!(if self.exact { kind == wanted } else { fits }, "{kind:?}");
    }

    /// The name and the text with which its adapters are opened.
    pub(crate) fn place(&self) -> (&str, &str) {
        (&self.name, &self.instance)
    }

    /// Opens an adapter.
    ///
    /// # Panics
    /// Where that fails.
    pub fn open(&self) -> Adapter<T> {
        Adapter::open(&self.name, &self.instance)
    }

    /// Opens an adapter with habits.
    ///
    /// # Panics
    /// Where that fails.
    pub fn open_with(&self, api_caps: ApiCaps) -> Adapter<T> {
        Adapter::open_with(&self.name, &self.instance, api_caps)
    }
}

/// Returns whether the network repeats a message that finds no receive until there is one. On iWARP such a message ends the
/// connection. There a send or a write succeeds as soon as the device has its bytes, and only the end of the connection
/// shows that the peer refused it.
pub(crate) fn repeats<T: Transport>(adapter: &Adapter<T>) -> bool {
    adapter.ia.transport.attributes().fabric.kind != FabricKind::Iwarp
}

/// The status of a send or a write that the peer refuses with `status`, where the network returns that.
pub(crate) fn refused<T: Transport>(adapter: &Adapter<T>, status: Status) -> Status {
    if repeats(adapter) { status } else { Status::Success }
}

/// How often to repeat what is worth repeating: `full` times, less on a machine for which
/// `DAT_TEST_SCALE` says that it is slow.
pub fn rounds(full: usize) -> usize {
    let slow = patience() > std::time::Duration::from_secs(20);
    if slow { full.div_ceil(8) } else { full }
}
