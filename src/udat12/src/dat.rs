//! What user-level and kernel-level interface have in common

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
