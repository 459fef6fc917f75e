//! The parts of the operating system that the libraries need, written once.
//!
//! libdat.so.1, the core and every transport depend on this crate. It knows no object of the interface and no version
//! of it, and nothing about a transport's hardware.
//!
//! | module | contents |
//! |---|---|
//! | [`event_fd`] | an event descriptor that wakes the threads that sleep on it |
//! | [`poll`] | sleeping on descriptors: a few of them, or a set |
//! | [`futex`] | waking threads that sleep on a word of memory |
//! | [`timers`] | things that are due at a time |
//! | [`cancel`] | the places where `pthread_cancel` may end a thread |
//! | [`signal`] | keeps the program's signal handlers off the libraries' threads |
//! | [`thread`] | threads of the libraries; the identity of the calling thread |
//! | [`descriptor`] | flags of descriptors that other libraries or processes have made |
//! | [`fork`] | locks held over a fork; descriptors that the child must not keep open |
//! | [`static_tls`] | keeps the thread-local data of a library where every thread has memory for them; a word a thread |
//! | [`zone`] | numbers of protection zones |
//! | [`limit`] | resource limits of the process |
//! | [`net`] | network interfaces and their addresses |
//! | [`sysfs`] | RDMA devices and their network interfaces, as the kernel lists them |
//! | [`environment`] | environment variables, read only where it is safe |
//! | [`diagnostics`] | lines on standard error: when one may be written, and how |
//! | [`topic`] | sections of docs/troubleshooting.md, which messages name |
//! | [`print`] | lines on the standard output of the program |
//! | [`cstr`] | names that C programs hand in |
//! | [`symbol`] | names that the dynamic loader finds |
//! | [`own_library`] | the library that the code is part of: its path, and keeping it loaded |
//! | [`asymmetric`] | a fence that is free for one side |
//! | [`epoch`] | what a thread uses stays until it has finished, without a locked instruction |
//! | [`lock`] | locks that need no memory |
//! | [`pause`] | waiting for another thread where there is no word to sleep on |
//! | [`memory`] | the allocator with its reserve; memory that may be refused |
//! | [`per_thread`] | a value for each thread |
//!
//! Each shared library is linked with its own copy, so statics in this crate belong to one library.

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

/// Says that its caller is seldom there, as `std::hint::cold_path` does, which compilers have since 1.95 alone. That it is
/// inlined leaves no call, but the mark.
#[cold]
#[inline(always)]
pub const fn cold_path() {}
