//! Access to the operating system, without knowledge of objects, versions of the interface and transports.
//!
//! | module | contents |
//! |---|---|
//! | [`event_fd`] | an eventfd that wakes threads |
//! | [`poll`] | sleep on descriptors |
//! | [`futex`] | sleep on a word of memory |
//! | [`timers`] | a queue of timers |
//! | [`cancel`] | control of thread cancellation |
//! | [`signal`] | signal masks |
//! | [`thread`] | threads of the libraries; identity of the calling thread |
//! | [`descriptor`] | flags of descriptors |
//! | [`fork`] | locks and descriptors during a fork |
//! | [`static_tls`] | thread-local data without allocation; one fast word per thread |
//! | [`zone`] | numbers of protection zones |
//! | [`limit`] | resource limits |
//! | [`net`] | network interfaces |
//! | [`sysfs`] | RDMA devices |
//! | [`environment`] | environment variables |
//! | [`diagnostics`] | log messages |
//! | [`topic`] | sections of docs/troubleshooting.md, which messages name |
//! | [`print`] | standard output |
//! | [`cstr`] | C strings from programs |
//! | [`symbol`] | symbols of the process |
//! | [`own_library`] | the library that contains the code |
//! | [`asymmetric`] | a fence that costs nothing on one side |
//! | [`epoch`] | reclamation without locked instructions |
//! | [`lock`] | locks that allocate nothing |
//! | [`pause`] | back-off for polls |
//! | [`memory`] | the allocator with its reserve; fallible allocation |
//! | [`per_thread`] | thread-specific values |
//!
//! Each shared library contains its own copy of this crate and its statics.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

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
pub mod zone;

/// Marks the calling path as unlikely, like `std::hint::cold_path` (stable only since Rust 1.95). Leaves no call when
/// inlined.
#[cold]
#[inline(always)]
pub const fn cold_path() {}
