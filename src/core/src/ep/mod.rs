//! Endpoints.
//!
//! The methods of [`Endpoint`] are in several files: `endpoint` creates and frees; `usual` next to this directory is
//! the fast path, `post` and `recv` the slow path; `extended` posts operations that not all API versions have; `bind`
//! binds RMRs; `connect` and `end` begin and end connections; `modify` changes parameters; `report` handles reports of
//! the transport; `sending` is the lock on requests.

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
pub mod table;

pub use crate::ep_state::{EpState, Next, Trigger, next};
pub use attr::{EpAttributes, Watermark};
pub use counted::{AdapterSnapshot, Glanced};
pub use datagram::{DatagramSink, Exchange};
pub use endpoint::{Endpoint, EpParts, EpStatus};
pub use internal::{ConnectionOwner, InternalConnection, Sending};
pub use modify::{Changes, Value};
pub use report::EndpointSink;
pub use sending::TxGuard;
