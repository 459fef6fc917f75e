//! The shm provider: connections between processes of one host, and within one.
//!
//! From the outside in: [`adapter`] is the transport that the core calls; a [`node`] is this process as its peers see
//! it, with one [`thread`] that handles what [`cm`] says about connections; a [`link`] is a pair of processes; a
//! [`conn`] is one end of a connection, with a sending ([`tx`]) and a receiving ([`rx`]) direction; [`copy`] moves the
//! bytes. These lie in what processes show to each other: [`home`] is what one publishes, [`pair`] the memory that two
//! of them share, [`ring`] carries records there, [`regions`] tells what memory peers may use. No module uses one that
//! stands above it in docs/architecture.md, which tells the whole story.

mod adapter;
mod cm;
mod conn;
mod copy;
mod home;
mod link;
mod node;
mod nodes;
mod os;
mod pair;
mod process;
mod record;
mod recvq;
mod regions;
mod ring;
mod rx;
mod srq;
mod thread;
mod tx;
mod watch;
mod wire;

pub use adapter::Shm;

dat_provider12::export_provider!(Shm, "libdaplshm");
