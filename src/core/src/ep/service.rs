//! The service of an endpoint: a connection, datagrams, or a connection that the transport opens for itself.

mod number;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};

use host::lock::Mutex;
use once_cell::sync::OnceCell;

use self::number::Number;
use crate::ah::Ah;
use crate::error::Result;
use crate::transport::{ConnectionReport, Transport};

pub(super) enum Service<T: Transport> {
    Connection,
    Datagrams(UdEndpoint<T>),
    /// A connection over which the transport transfers datagrams, with the owner that receives its reports.
    Internal(OnceCell<Weak<dyn ConnectionOwner>>),
}

pub(super) struct UdEndpoint<T: Transport> {
    pub number: Number,
    pub handles: Mutex<Vec<Arc<Ah<T>>>>,
    /// Number of datagrams that were lost after their completion, or arrived without a receive.
    pub lost: AtomicU64,
}

impl<T: Transport> UdEndpoint<T> {
    pub fn new() -> Result<Self> {
        Ok(UdEndpoint { number: Number::new()?, handles: Mutex::default(), lost: AtomicU64::new(0) })
    }
}

/// The owner of an [`InternalConnection`](super::InternalConnection). Its methods are called without a lock.
pub trait ConnectionOwner: Send + Sync {
    /// Handles a change of the connection. [`EndpointSink::failed`](super::EndpointSink::failed) calls it with
    /// [`ConnectionReport::Broken`].
    fn connection(self: Arc<Self>, report: ConnectionReport);

    /// Handles a report after which no request of [`Sending::post`](super::Sending::post) was outstanding; others may
    /// have been posted since.
    fn drained(self: Arc<Self>);
}
