//! A transport and a little program for tests: of this crate, of transports, of faces.
//!
//! [`Fake`] is a transport that needs no other process and no device, and moves nothing: the test plays the peer and
//! reports what it wants through the sinks.
//!
//! [`Adapter`], [`End`] and [`Buffer`] are what a program makes, over any transport; the
//! functions of this module wait for events with a deadline.
//!
//! All of it panics where something does not work, since that ends a test. It exists only
//! with the cargo feature `testing`, so nothing of it is in the product.

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
