//! The capabilities that a transport may lack, each a trait of a type in [`Transport`].
//!
//! A transport without a capability uses the type [`Unsupported`], which implements all of these traits: functions that
//! create an object return the specified error, and the others cannot be called, because no value exists. Core clears
//! the adapter's attributes that need the capability.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crate::error::{Error, Result};
use crate::transport::datagrams::{Datagram, DatagramSink, Datagrams, Exchange};
use crate::transport::{Alarm, BindTarget, Connect, Handed, QpInit, Recv, Request, Scope, SeqNo, Transport};

/// The type of a capability that a transport lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsupported {}

/// The permit for extended operations of a transport that supports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supported;

/// A permit for extended operations: writes with immediate data, atomic operations, and sends that revoke a window.
/// [`AdapterAttributes`](super::AdapterAttributes) contains which of them the device supports.
pub trait Extended<T: Transport>: Copy + Send + Sync + 'static {
    /// Returns the permit if the peer accepts extended operations ([`QpInit::extended`]), if that is unknown, or
    /// without `qp`, where core flushes the operation. Otherwise the post fails with [`Error::ModelNotSupported`].
    /// Called with the endpoint's requests locked.
    fn permit(qp: Option<&T::Qp>) -> Option<Self>;
}

/// A shared receive queue, at [`Transport::Srq`].
pub trait SharedReceives<T: Transport>: Send + Sync + Sized {
    /// Creates a queue for at least `depth` receives of up to `segments` segments each.
    fn create(transport: &T, zone: &T::Zone, depth: usize, segments: usize) -> Result<Self>;

    /// Posts a receive. There is always room, because core counts receives. Returns whether core must call
    /// [`SharedReceives::kick`], because a message may wait for the receive. Under the lock of
    /// [`EndpointSink::recv_take`](super::EndpointSink::recv_take), which finds the receive afterwards.
    fn post(&self, transport: &T, recv: &Recv<'_>) -> Result<bool>;

    /// Resizes the queue to `depth` receives and keeps the posted ones.
    fn resize(&self, transport: &T, depth: usize) -> Result<()>;

    /// Requests a report of taken receives ([`EndpointSink::recv_taken`](super::EndpointSink::recv_taken),
    /// [`EndpointSink::recv_done`](super::EndpointSink::recv_done)) as soon as fewer than `limit` are left, even if
    /// that is so before the call, and without a poll by core. 0 disarms. Core holds no lock that a report takes.
    fn arm_limit(&self, transport: &T, limit: usize) -> Result<()>;

    /// Resumes messages that wait for a buffer, while `has_buffers` returns `true`. Called without a lock after a post
    /// that requests this.
    fn kick(&self, has_buffers: impl Fn() -> bool);
}

/// A memory window, at [`Transport::Window`].
pub trait Windows<T: Transport>: Send + Sync + Sized {
    /// Creates an unbound window. The scope is an endpoint only with [`super::AdapterAttributes::endpoint_windows`].
    fn create(transport: &T, zone: &T::Zone, scope: Scope) -> Result<Self>;

    /// Binds the window to `target`, or unbinds it for `None`, in order with the other requests of the queue pair in
    /// `to`. `request` is an empty write, which takes the place of the bind. Returns the new remote key, valid
    /// immediately, and the position as in [`Transport::post`].
    fn post_bind(
        &self,
        transport: &T,
        to: (&Arc<T::Qp>, &mut T::Tx),
        request: &Request<'_, T::Extended>,
        target: Option<&BindTarget<'_, T::Region>>,
    ) -> Result<(u32, SeqNo)>;

    /// Waits until no peer accesses the range that the last [`Windows::post_bind`] replaced, unless the transport waits
    /// at the free of the range's region. Called without a lock.
    fn await_rebind(&self, transport: &T);

    /// Revokes the window, which is dropped next although another thread may still hold it, and waits until no peer
    /// accesses its range. After a timeout, the outstanding bind keeps the region registered. Called without a lock.
    fn revoke(&self, transport: &T);
}

/// Defines methods of [`Unsupported`], which cannot be called because it has no values.
macro_rules! uncallable {
    ($(fn $name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        $(fn $name(&self $(, _: $argument)*) $(-> $result)? {
            match *self {}
        })*
    };
}

impl Alarm for Unsupported {
    uncallable! {
        fn word() -> &AtomicU32;
        fn wake();
    }
}

impl<T: Transport> Extended<T> for Unsupported {
    fn permit(_: Option<&T::Qp>) -> Option<Self> {
        None
    }
}

impl<T: Transport> SharedReceives<T> for Unsupported {
    fn create(_: &T, _: &T::Zone, _: usize, _: usize) -> Result<Self> {
        Err(Error::ModelNotSupported)
    }

    uncallable! {
        fn post(&T, &Recv<'_>) -> Result<bool>;
        fn resize(&T, usize) -> Result<()>;
        fn arm_limit(&T, usize) -> Result<()>;
    }

    fn kick(&self, _: impl Fn() -> bool) {
        match *self {}
    }
}

impl<T: Transport> Windows<T> for Unsupported {
    fn create(_: &T, _: &T::Zone, _: Scope) -> Result<Self> {
        Err(Error::NotImplemented)
    }

    uncallable! {
        fn post_bind(
            &T, (&Arc<T::Qp>, &mut T::Tx), &Request<'_, T::Extended>, Option<&BindTarget<'_, T::Region>>
        ) -> Result<(u32, SeqNo)>;
        fn await_rebind(&T);
        fn revoke(&T);
    }
}

impl<T: Transport> Datagrams<T> for Unsupported {
    type Peer = Unsupported;

    fn create(_: &T, _: QpInit<'_, T, DatagramSink<T>>) -> Result<Arc<Self>> {
        Err(Error::ModelNotSupported)
    }

    uncallable! {
        fn post_recv(&Recv<'_>) -> Result<()>;
    }

    fn resolve(self: &Arc<Self>, _: &T, _: &Connect<'_>, _: Exchange<T>) -> Result<()> {
        match **self {}
    }

    fn answer(self: &Arc<Self>, _: &T, _: &mut Option<T::Incoming>, _: &[u8], _: Exchange<T>) -> Result<()> {
        match **self {}
    }

    fn send_to(self: &Arc<Self>, to: &Unsupported, _: &Datagram<'_>) -> Result<Handed> {
        match *to {}
    }

    fn close(_: &T, _: &[Arc<Self>]) {}
}
