//! The transport verbs: connections over the kernel's RDMA stack, InfiniBand, RoCE, iWARP or Soft-RoCE.
//!
//! Modules use modules of their own item and of later items. `tests-c/layers.sh` reads this list.
//!
//! * [`adapter`]: the transport that core calls
//! * [`thread`]: the progress thread of an open adapter
//! * [`device`]: an open adapter, which lists its objects. The objects refer to it, and to each other: [`cm`]: connections;
//!   [`qp`]: one end of a connection; [`work_queue`]: its send or receive queue; [`ending`]: its end; [`datagram`]: an
//!   endpoint for datagrams; [`srq`]; [`cq`], which reports completions; [`channels`], which wake sleeping threads;
//!   [`memory`]: zones and regions; [`window`]
//! * [`attributes`]: the limits of a device
//! * [`locate`]: the device of a configuration entry; [`quirks`]: what software devices do otherwise; [`rejection`]: the
//!   data of rejections; [`status`]: translation of errors
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
