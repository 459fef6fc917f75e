//! The transport verbs: connections over the kernel's RDMA stack, InfiniBand, RoCE, iWARP or Soft-RoCE.
//!
//! From the outside in: [`adapter`] is the transport that the core calls. An open adapter shares a [`device`] with its one
//! [`thread`], which handles connections ([`cm`], [`rejection`]), asynchronous events and the ends of queue pairs
//! ([`ending`]). [`cq`] reports completions, which [`channels`] announce, [`qp`] is one end of a connection, [`work_queue`]
//! one of its directions, [`srq`] a shared receive queue, [`memory`] has zones and regions, [`window`] windows,
//! [`datagram`] what endpoints for datagrams have instead. [`locate`] finds the device that a configuration names,
//! [`attributes`] reads its limits, [`status`] translates its errors. All calls into the two libraries are in [`sys`].

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
pub mod rejection;
mod srq;
mod status;
mod sys;
mod thread;
mod window;
mod work_queue;

pub use adapter::Verbs;
