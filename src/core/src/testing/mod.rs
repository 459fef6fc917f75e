//! A transport and helper functions for the tests of core, transports and API layers.
//!
//! * [`Fake`]: a transport whose peer is the test, which reports through the sinks.
//! * [`Adapter`], [`End`], [`Buffer`]: objects of a program, over any transport. Functions that wait panic after
//!   [`patience`].
//!
//! All functions panic on an error. No product enables the cargo feature `testing`, which includes this module.

#![allow(missing_docs, reason = "the helpers are named after what they do")]

mod adapter;
mod buffer;
mod end;
mod events;
mod fake;

pub use adapter::Adapter;
pub use buffer::Buffer;
pub use end::{Completion, End, connect, next_request, request};
pub use events::{next, patience, quiet, until, wait, wait_for_trigger};
pub use fake::{Call, Fake};

use crate::ep_state::EpState;

impl EpState {
    /// All states.
    pub const ALL: [EpState; 9] = [
        EpState::Unconnected,
        EpState::Reserved,
        EpState::PassiveConnectionPending,
        EpState::ActiveConnectionPending,
        EpState::TentativeConnectionPending,
        EpState::CompletionPending,
        EpState::Connected,
        EpState::DisconnectPending,
        EpState::Disconnected,
    ];
}
