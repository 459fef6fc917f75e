//! The transport verbs: connections over the kernel's RDMA stack, InfiniBand, RoCE, iWARP or Soft-RoCE.
//!
//! Core calls [`adapter`]. An open adapter shares a [`device`] with its progress [`thread`], which handles connections
//! ([`cm`], [`rejection`]), asynchronous events and the ends of queue pairs ([`ending`]). [`cq`] reports completions;
//! [`channels`] wake sleeping threads. [`qp`] is one end of a connection, [`work_queue`] its send or receive queue,
//! [`datagram`] an endpoint for datagrams. [`locate`] finds the device of a configuration entry, [`attributes`] reads
//! its limits, [`quirks`] lists what software devices do otherwise, [`status`] translates errors. [`sys`] makes all
//! calls into libibverbs and librdmacm.

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
