//! Access to the operating system, without knowledge of objects, versions of the interface and transports.
//!
//! | module | contents |
//! |---|---|
//! | [`event_fd`], [`poll`], [`futex`], [`pause`] | sleeping on descriptors and words; pauses between polls |
//! | [`timers`] | a queue of timers |
//! | [`cancel`], [`signal`] | thread cancellation, signal masks |
//! | [`thread`], [`per_thread`], [`static_tls`] | threads and thread-specific values |
//! | [`fork`], [`descriptor`] | locks and descriptors during a fork, flags of descriptors |
//! | [`zone`] | numbers of protection zones |
//! | [`limit`], [`net`], [`sysfs`], [`environment`] | resource limits, network interfaces, RDMA devices, variables |
//! | [`diagnostics`], [`topic`], [`print`](mod@print) | log messages, their sections in troubleshooting.md, standard output |
//! | [`cstr`], [`va_list`] | C strings, the variable arguments of a C function |
//! | [`symbol`], [`own_library`] | symbols, the library that contains the code |
//! | [`asymmetric`], [`epoch`] | a fence that costs nothing on one side, reclamation without locked instructions |
//! | [`word`] | atomic words, real or in a model |
//! | [`lock`], [`memory`], [`address_space`] | locks that allocate nothing, allocation that can fail, reserved addresses |
//!
//! Each shared library contains its own copy of this crate and its statics.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod address_space;
pub mod asymmetric;
pub mod cancel;
pub mod cstr;
pub mod descriptor;
pub mod diagnostics;
pub mod environment;
pub mod epoch;
pub mod event_fd;
pub mod fork;
pub mod futex;
pub mod limit;
pub mod lock;
pub mod memory;
pub mod net;
pub mod own_library;
pub mod pause;
pub mod per_thread;
pub mod poll;
pub mod print;
pub mod signal;
pub mod static_tls;
pub mod symbol;
pub mod sysfs;
pub mod thread;
pub mod timers;
pub mod topic;
pub mod va_list;
pub mod word;
pub mod zone;

/// Marks the calling path as unlikely, like `std::hint::cold_path` (stable only since Rust 1.95). Leaves no call when
/// inlined.
#[cold]
#[inline(always)]
pub const fn cold_path() {}
