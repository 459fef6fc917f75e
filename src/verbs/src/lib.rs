//! The transport verbs: connections over the kernel's RDMA stack, InfiniBand, RoCE, iWARP
//! or Soft-RoCE.
//!
//! From the outside in: [`adapter`] is the transport that the core calls. An open adapter shares a [`device`] with its one
//! [`thread`], which handles connections ([`cm`], [`rejection`]), asynchronous events and the ends of queue pairs ([`ending`]).
//! [`cq`] reports completions, which [`channels`] announce, [`qp`] is one end of a connection, [`work_queue`] the work of one of its directions, [`srq`] a
//! shared receive queue, [`memory`] has zones and regions, [`window`] windows. [`locate`] finds the device that a configuration
//! names, [`attributes`] reads its limits, [`status`] translates its errors. All calls into the two libraries are in
//! [`sys`].

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod adapter;
pub mod attributes;
pub mod channels;
pub mod cm;
pub mod cq;
pub mod device;
pub mod ending;
pub mod locate;
pub mod memory;
pub mod qp;
mod qp_table;
pub mod rejection;
pub mod srq;
pub mod status;
pub mod sys;
pub mod thread;
pub mod window;
pub mod work_queue;

pub use adapter::Verbs;
