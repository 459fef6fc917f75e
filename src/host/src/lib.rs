//! What the libraries need of the operating system, written once.
//!
//! libdat.so.1, the core and every transport stand on this crate. It knows no object of the
//! interface and no version of it, and nothing of a transport's hardware.
//!
//! | module | what it holds |
//! |---|---|
//! | [`doorbell`] | an event descriptor that wakes whoever sleeps on it |
//! | [`poll`] | sleeping on descriptors: a few of them, or a set |
//! | [`timers`] | what is to happen at which time |
//! | [`cancel`] | where `pthread_cancel` may end a thread |
//! | [`signal`] | threads of ours run none of the program's signal handlers |
//! | [`descriptor`] | flags of descriptors that somebody else has made |
//! | [`fork`] | descriptors that the child of a fork must not keep open |
//! | [`zone`] | numbers of protection zones |
//! | [`limit`] | how much the process may have |
//! | [`net`] | network interfaces and their addresses |
//! | [`sysfs`] | RDMA devices and their network interfaces, as the kernel lists them |
//! | [`environment`] | environment variables, read only where that is safe |
//! | [`diagnostics`] | when a line may be written to standard error, and how |
//! | [`cstr`] | names that C programs hand in |
//!
//! Each shared library is linked with its own copy, so what is static here belongs to one library.

pub mod cancel;
pub mod cstr;
pub mod descriptor;
pub mod diagnostics;
pub mod doorbell;
pub mod environment;
pub mod fork;
pub mod limit;
pub mod net;
pub mod poll;
pub mod signal;
pub mod sysfs;
pub mod timers;
pub mod zone;
