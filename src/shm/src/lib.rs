//! The transport shm: connections between processes of one host, and within one.
//!
//! From the outside in: [`adapter`] is the transport that the core calls; a [`node`] is
//! this process as its peers see it, with one [`thread`]; a [`link`] is a pair of
//! processes; a [`conn`] is one end of a connection, with a sending ([`tx`]) and a receiving
//! ([`rx`]) direction; [`ring`] carries its records, [`regions`] tells what memory peers
//! may use, [`copy`] moves the bytes. docs/architecture.md tells the whole story.

pub mod adapter;
pub mod cm;
pub mod conn;
pub mod copy;
pub mod link;
pub mod node;
mod os;
mod record;
mod regions;
mod ring;
mod rx;
mod srq;
pub mod thread;
mod tx;
mod wire;

pub use adapter::Shm;
