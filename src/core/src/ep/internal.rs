//! Connections that a transport opens for itself, to transfer the datagrams of an endpoint.
//!
//! Such a connection has an endpoint without EVDs, so a transport handles it like the connections of programs. A
//! [`ConnectionOwner`] gets the connection's reports and, from the transport, its messages. Sends complete without
//! events.

use std::sync::{Arc, Weak};

use host::lock::Mutex;
use host::memory;
use once_cell::sync::OnceCell;

use crate::arena::Header;
use crate::attached_data::AttachedData;
use crate::ep::attr::EpAttributes;
use crate::ep::datagram::DatagramSink;
use crate::ep::endpoint::{Control, Endpoint};
use crate::ep::receives::Receives;
use crate::ep::report::EndpointSink;
use crate::ep::requests::{InFlight, Requests, Work};
use crate::ep::sending::Locked;
use crate::ep::service::{ConnectionOwner, Service};
use crate::ep_state::EpState;
use crate::error::{Error, Result};
use crate::event::{CompletionFlags, Transfer};
use crate::transport::{Operation, Request, Segment, Transport};

/// A connection that the transport opens for itself, with an endpoint that the program cannot see.
pub struct InternalConnection<T: Transport>(Arc<Endpoint<T>>);

/// The locked sending direction of an [`InternalConnection`].
pub struct Sending<'a, T: Transport>(Locked<'a, T>, &'a T);

type SendingParts<'a, T> = (&'a T, &'a Arc<<T as Transport>::Qp>, &'a mut <T as Transport>::Tx);

impl<T: Transport> InternalConnection<T> {
    /// Creates a connection that transfers datagrams of the endpoint of `sink`. It has no queue pair until
    /// [`InternalConnection::open`].
    pub fn new(sink: &DatagramSink<T>) -> Result<Self> {
        let of = &sink.endpoint;
        Ok(InternalConnection(memory::arc(Endpoint {
            header: Header::part_of(of.header.handle()),
            ia: of.ia.clone(),
            srq: None,
            control: Mutex::new(Control::new(EpState::Unconnected, EpAttributes::defaults(of.ia.attributes()))),
            requests: Mutex::new(Requests::new(None)),
            poll_deferred: Default::default(),
            receives: Mutex::new(Receives::new(None, false)?),
            api_data: AttachedData::default(),
            counter_baseline: AttachedData::default(),
            service: Service::Internal(OnceCell::new()),
        })?))
    }

    /// Returns the adapter's transport.
    pub fn transport(&self) -> &Arc<T> {
        &self.0.ia.transport
    }

    /// Returns the sink to which the queue pair reports.
    pub fn sink(&self) -> EndpointSink<T> {
        EndpointSink { endpoint: self.0.clone(), life: 1 }
    }

    /// Sets the owner and the queue pair. Reserves memory for `requests` outstanding requests.
    pub fn open(&self, owner: Weak<dyn ConnectionOwner>, (qp, tx): (Arc<T::Qp>, T::Tx), requests: usize) -> Result<()> {
        let mut sending = self.0.requests();
        sending.flight.reserve(requests)?;
        (sending.qp, sending.tx) = (Some(qp), tx);
        if let Service::Internal(known) = &self.0.service {
            let _ = known.set(owner);
        }
        Ok(())
    }

    /// Locks the sending direction.
    pub fn sending(&self) -> Sending<'_, T> {
        Sending(self.0.requests(), &self.0.ia.transport)
    }

    /// Returns the queue pair; `None` before the open and after the close.
    pub fn qp(&self) -> Option<Arc<T::Qp>> {
        self.0.requests().qp.clone()
    }

    /// Drops the queue pair, which the transport has closed, and all outstanding requests. Later reports of completed
    /// requests have no effect.
    pub fn close(&self) {
        let (qp, tx) = {
            let mut requests = self.0.requests();
            requests.life += 1;
            while requests.flight.pop().is_some() {}
            (requests.qp.take(), std::mem::take(&mut requests.tx))
        };
        drop((qp, tx));
    }
}

impl<T: Transport> Sending<'_, T> {
    /// Returns the transport, the queue pair and its sending direction; `None` unless the connection is open.
    pub fn parts(&mut self) -> Option<SendingParts<'_, T>> {
        let Requests { qp: Some(qp), tx, .. } = &mut *self.0 else { return None };
        Some((self.1, qp, tx))
    }

    /// Returns the number of outstanding requests.
    pub fn outstanding(&self) -> usize {
        self.0.flight.len()
    }

    /// Posts a request. The transport uses the memory of the segments until the request completes.
    ///
    /// # Errors
    /// Errors of [`Transport::post`]; [`Error::Internal`] if the maximum number of requests is outstanding, or the
    /// connection is not open.
    pub fn post(&mut self, operation: Operation, segments: &[Segment]) -> Result<()> {
        let Requests { qp: Some(qp), tx, flight, draining, .. } = &mut *self.0 else { return Err(Error::Internal) };
        let Some((id, place)) = flight.next_place() else { return Err(Error::Internal) };
        let len = segments.iter().map(|segment| segment.len).sum();
        let handed = self.1.post(qp, tx, &Request { id, operation, segments, len, fence: false, signalled: true })?;
        let work = Work::Transfer(Transfer::Send, len);
        place.fill(InFlight { mark: handed.mark, cookie: 0, flags: CompletionFlags::SUPPRESS, work });
        *draining = true;
        Ok(())
    }

    /// Prevents calls of [`ConnectionOwner::drained`] until the next post.
    pub fn rest(&mut self) {
        self.0.draining = false;
    }
}

impl<T: Transport> Endpoint<T> {
    /// Passes `report` to the owner of an internal connection, and returns `None`. For any other endpoint, returns
    /// `report`.
    pub(super) fn notify_owner<R>(&self, report: R, tell: fn(Arc<dyn ConnectionOwner>, R)) -> Option<R> {
        let Service::Internal(owner) = &self.service else { return Some(report) };
        if let Some(owner) = owner.get().and_then(Weak::upgrade) {
            tell(owner, report);
        }
        None
    }
}
