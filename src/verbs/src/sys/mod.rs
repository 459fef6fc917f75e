//! Owning wrappers around the objects of libibverbs and librdmacm.
//!
//! Every value owns the objects it was made from (a queue pair its zone and completion queues, a zone its device), so
//! that nothing is closed while something still needs it. Both libraries promise that any thread may call them at any
//! time, and this makes these types `Send` and `Sync`.

pub mod cm;
pub mod cq;
pub mod device;
pub mod memory;
pub mod qp;

use std::ffi::c_int;
use std::io;
use std::os::fd::BorrowedFd;

use host::descriptor;

/// The result of a call that returns 0 or an errno.
fn code(answer: c_int) -> io::Result<()> {
    match answer {
        0 => Ok(()),
        // Some providers return a negative errno; others return -1 and set errno.
        -1 => Err(io::Error::last_os_error()),
        errno => Err(io::Error::from_raw_os_error(errno.abs())),
    }
}

/// Makes a descriptor never block, and close with an exec.
fn nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    descriptor::never_block(fd)?;
    // If this fails, the descriptor only lives longer than it should.
    let _ = descriptor::close_on_exec(fd);
    Ok(())
}
