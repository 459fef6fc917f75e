//! Endpoints.
//!
//! [`Endpoint`] is spread over files by subject: `endpoint` has what it is made of, `usual` beside this folder posts and
//! completes in the usual case, `post` and `recv` in any case, `extended` posts what only some versions have, `bind` binds
//! remote memory regions, `connect` and `end` begin and end connections, `modify` changes parameters, `report` takes what
//! the transport reports, `sending` has the lock on requests.

mod attr;
mod bind;
mod connect;
mod counted;
mod datagram;
mod end;
pub(crate) mod endpoint;
mod extended;
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
pub use endpoint::{Endpoint, EpParts, EpStatus};
pub use modify::{Changes, Value};
pub use report::EndpointSink;
pub use sending::TxGuard;
