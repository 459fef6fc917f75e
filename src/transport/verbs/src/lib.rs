//! The transport verbs: connections over the kernel's RDMA stack (InfiniBand, RoCE, iWARP, in hardware or software).
//!
//! Each module uses only modules of its own item in this list and of later items. `tests-c/layers.sh` reads this list.
//!
//! * [`adapter`]: the transport that core calls
//! * [`thread`]: the progress thread of an open adapter
//! * [`device`]: the state of an open adapter, with lists of its objects. The objects use this state and each other.
//!   They are: [`cm`], connections; [`qp`], one end of a connection; [`work_queue`], its send or receive queue;
//!   [`ending`], its end; [`datagram`], an endpoint for datagrams; [`srq`]; [`cq`], which reports completions;
//!   [`channels`], which wake sleeping threads; [`memory`], zones and regions; [`window`]
//! * [`attributes`]: the limits of a device
//! * [`locate`]: finds the device that a configuration entry describes; [`quirks`]: how software devices deviate;
//!   [`rejection`]: private data of rejected requests; [`status`]: translation of errors
//! * [`sys`]: all calls into libibverbs and librdmacm

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod adapter;
mod attributes;
mod channels;
pub mod cm;
mod cq;
mod datagram;
mod device;
mod ending;
mod locate;
mod memory;
mod qp;
mod quirks;
pub mod rejection;
mod srq;
mod status;
mod sys;
mod thread;
mod window;
mod work_queue;

pub use adapter::Verbs;
