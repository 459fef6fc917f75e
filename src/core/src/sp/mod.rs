//! Service points and connection requests.

mod cr;
mod csp;
mod point;
mod psp;
mod rsp;

pub use cr::Cr;
pub use csp::Csp;
pub use point::{ListenerSink, ServicePoint};
pub use psp::{Psp, PspMode};
pub use rsp::Rsp;
