//! Shared receive queues and memory windows: the traits of [`Transport::Srq`] and [`Transport::Window`]. Core creates
//! these objects only if [`AdapterAttributes`](super::AdapterAttributes) show that the adapter supports them.

use std::sync::Arc;

use crate::error::Result;
use crate::transport::{BindTarget, Recv, Request, Scope, SeqNo, Transport};

/// A shared receive queue: see [`Transport::Srq`].
pub trait SharedReceives<T: Transport>: Send + Sync + Sized {
    /// Creates a queue for at least `depth` receives of up to `segments` segments each.
    fn create(transport: &T, zone: &T::Zone, depth: usize, segments: usize) -> Result<Self>;

    /// Posts a receive. There is always room, because core counts receives. Returns whether core must call
    /// [`SharedReceives::kick`], because a message may wait for the receive. Called under the lock that
    /// [`EndpointSink::recv_take`](super::EndpointSink::recv_take) takes, so that a later `recv_take` finds the
    /// receive.
    fn post(&self, transport: &T, recv: &Recv<'_>) -> Result<bool>;

    /// Resizes the queue to `depth` receives, and keeps the posted receives.
    fn resize(&self, transport: &T, depth: usize) -> Result<()>;

    /// Requests that the transport reports taken receives
    /// ([`EndpointSink::recv_taken`](super::EndpointSink::recv_taken),
    /// [`EndpointSink::recv_done`](super::EndpointSink::recv_done)) without a poll by core, as soon as fewer than
    /// `limit` are left. If fewer are left already, it reports immediately. 0 disarms. Core holds no lock that a report
    /// takes.
    fn arm_limit(&self, transport: &T, limit: usize) -> Result<()>;

    /// Resumes messages that wait for a buffer, while `has_buffers` returns `true`. Called without a lock, after a
    /// [`SharedReceives::post`] that returned `true`.
    fn kick(&self, has_buffers: impl Fn() -> bool);
}

/// A memory window: see [`Transport::Window`].
pub trait Windows<T: Transport>: Send + Sync + Sized {
    /// Creates an unbound window. `scope` is [`Scope::Endpoint`] only with
    /// [`super::AdapterAttributes::endpoint_windows`].
    fn create(transport: &T, zone: &T::Zone, scope: Scope) -> Result<Self>;

    /// Binds the window to `target`, or unbinds it for `None`, in order with the other requests of the queue pair in
    /// `to`. `request` is an empty write with the bind's number and flags. A transport can post this write instead of a
    /// bind request. Returns the new remote key, valid immediately, and the position as in [`Transport::post`].
    fn post_bind(
        &self,
        transport: &T,
        to: (&Arc<T::Qp>, &mut T::Tx),
        request: &Request<'_>,
        target: Option<&BindTarget<'_, T::Region>>,
    ) -> Result<(u32, SeqNo)>;

    /// Waits until no peer accesses the range that the last [`Windows::post_bind`] replaced. A transport may wait
    /// instead at the free of the range's region ([`super::RegisteredRegion::await_peers`]). Called without a lock.
    fn await_rebind(&self, transport: &T);

    /// Revokes the window, and waits until no peer accesses its range. If the wait times out, the outstanding bind
    /// keeps the region registered. Core drops the window next, although another thread may still hold it. Called
    /// without a lock.
    fn revoke(&self, transport: &T);
}
