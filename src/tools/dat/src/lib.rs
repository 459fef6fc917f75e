//! A safe binding to uDAPL: the functions of libdat2.so.2 and libdat.so.1, which the process loads at run time.
//!
//! The types follow uDAPL 2.0. [`Library`] loads either version. Attributes that uDAPL 1.2 lacks are an `Option`.
//!
//! An object keeps alive the objects that it refers to, and is freed when its last clone is dropped. So an endpoint is
//! freed before its dispatchers, and all objects before their adapter. A function fails if its uDAPL call fails.
//!
//! This program prints the adapters, and the IP address of the first. `examples/message.rs` sends a message to another
//! process.
//!
//! ```no_run
//! use dat::{Api, Ia, Library};
//!
//! fn main() -> dat::Result<()> {
//!     let library = Library::find(Api::V20)?;
//!     let adapters = library.adapters()?;
//!     for adapter in &adapters {
//!         println!("{}: {}", adapter.name.to_string_lossy(), adapter.request);
//!     }
//!     if let Some(first) = adapters.first() {
//!         let ia = Ia::open(library, &first.name, first.request)?;
//!         println!("{:?}", ia.attributes()?.address);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # Limits
//!
//! - A post has one segment and default completion flags.
//! - There are no remote memory regions, reserved or common service points, watermarks, calls that modify an object,
//!   and extended operations.
//! - [`sys`] has types and constants, but no functions.

mod abi;
mod attributes;
mod ep;
mod error;
mod evd;
mod ia;
mod library;
mod memory;
mod object;
mod sp;

pub use attributes::{Attributes, Attributes20, IaAttributes, ProviderAttributes};
pub use ep::{Ep, Evds, Srq};
pub use error::{Error, Result};
pub use evd::{Cno, Completion, Connection, Evd, Event, event_name, status_name};
pub use ia::{Ia, Request};
pub use library::{Adapter, Api, Library, is_libdat};
pub use memory::{Pz, Region, Remote, Segment};
pub use object::{EpId, Object};
pub use sp::{Cr, Peer, Psp};

/// The types and constants of uDAPL 2.0.
pub mod sys {
    pub use dat_udat20::dat::*;
    pub use dat_udat20::dat_platform_specific::*;
    pub use dat_udat20::udat::*;
}
