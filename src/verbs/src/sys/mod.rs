//! Owning wrappers around what libibverbs and librdmacm hand out.
//!
//! Every value owns what it was made from (a queue pair its zone and completion queues, a
//! zone its device), so that nothing is closed under something that needs it. Calls into
//! the two libraries may be made from any thread at any time; that is what they promise
//! and what makes these types `Send` and `Sync`.

pub mod cm;
pub mod cq;
pub mod device;
pub mod memory;
pub mod qp;

use std::ffi::c_int;
use std::io;
use std::os::fd::BorrowedFd;

use host::descriptor;

/// The result of a call that answers 0 or an errno.
fn code(answer: c_int) -> io::Result<()> {
    match answer {
        0 => Ok(()),
        // Some providers answer a negative errno, some -1 and set errno.
        -1 => Err(io::Error::last_os_error()),
        errno => Err(io::Error::from_raw_os_error(errno.abs())),
    }
}

/// Has a descriptor never block, and end with exec.
fn nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    descriptor::never_block(fd)?;
    // Without it only the descriptor lives longer than it should.
    let _ = descriptor::close_on_exec(fd);
    Ok(())
}
