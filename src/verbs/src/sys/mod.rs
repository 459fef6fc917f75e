//! Owning wrappers around the objects of libibverbs and librdmacm.
//!
//! Every value owns the objects it was made from (a queue pair its zone and completion queues, a zone its device), so
//! that nothing is closed while something still needs it. Both libraries promise that any thread may call them at any
//! time, and this makes these types `Send` and `Sync`.
//!
//! Neither library watches its own locks over a fork. Calls of librdmacm, those that list, open and close devices, and
//! those that make descriptors are therefore made by [`undivided`]; the others take only locks of the objects that they
//! are called for, which a child never touches.

pub mod cm;
pub mod cq;
pub mod device;
pub mod memory;
pub mod qp;

use std::ffi::c_int;
use std::io;
use std::os::fd::BorrowedFd;

use host::descriptor;
use host::fork::undivided;
use rdma_sys::ibv_fork_init;

/// The result of a call that returns 0 or an errno.
fn code(answer: c_int) -> io::Result<()> {
    match answer {
        0 => Ok(()),
        // Some providers return a negative errno; others return -1 and set errno.
        -1 => Err(io::Error::last_os_error()),
        errno => Err(io::Error::from_raw_os_error(errno.abs())),
    }
}

/// Makes sure that memory which is registered stays the parent's when the process forks. Kernels since 5.12 copy such
/// pages for the child at once, which the library finds out and then does nothing. Under older ones it keeps the pages
/// from the child. Must be called before anything is registered.
fn keep_memory_over_forks() {
    // SAFETY: the call takes no arguments; it is made undivided, since the library notes its outcome without a lock.
    let failed = unsafe { ibv_fork_init() };
    if failed != 0 {
        log::warn!("after a fork, registered memory may not show what arrives: error {failed}");
    }
}

/// Makes a descriptor never block, and close with an exec.
fn nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    descriptor::never_block(fd)?;
    // If this fails, the descriptor only lives longer than it should.
    let _ = descriptor::close_on_exec(fd);
    Ok(())
}
