//! Endpoints.
//!
//! The methods of [`Endpoint`] are in several files:
//!
//! * `endpoint`: creation, reset and free; `connect`, `end`: connections; `modify`: parameters; `counted`: counters
//! * `usual` in the parent directory: the fast path of posts and completions; `post`, `recv`: the slow path
//! * `extended`: operations that not all API versions have; `bind`: binds of RMRs
//! * `report`: reports of the transport; `sending`: the lock on requests
//! * `service`, `datagram`: datagram endpoints; `internal`: connections over which a transport sends datagrams

mod attr;
mod bind;
mod connect;
mod counted;
mod datagram;
mod end;
pub(crate) mod endpoint;
mod extended;
mod internal;
mod modify;
mod post;
pub(crate) mod receives;
mod recv;
mod report;
pub(crate) mod requests;
mod sending;
mod service;
pub mod table;

pub use crate::ep_state::{EpState, Next, Trigger, next};
pub use attr::{EpAttributes, Watermark};
pub use datagram::{DatagramSink, Exchange};
pub use endpoint::{Endpoint, EpParts, EpStatus};
pub use internal::{InternalConnection, Sending};
pub use modify::{Changes, Value};
pub use report::EndpointSink;
pub use sending::TxGuard;
pub use service::ConnectionOwner;
