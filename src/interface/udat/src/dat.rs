//! Common part of the user-level and the kernel-level interface

pub mod ep;
pub mod event;
pub mod ia;
pub mod memory;
pub mod sp;
pub mod srq;
pub mod types;

pub use ep::*;
pub use event::*;
pub use ia::*;
pub use memory::*;
pub use sp::*;
pub use srq::*;
pub use types::*;
