//! Owning wrappers around what libibverbs and librdmacm hand out.
//!
//! Every value owns what it was made from (a queue pair its zone and completion queues, a
//! zone its device), so that nothing is closed under something that needs it. Calls into
//! the two libraries may be made from any thread at any time; that is what they promise
//! and what makes these types `Send` and `Sync`.

pub mod cm;
pub mod cq;
pub mod device;
pub mod fds;
pub mod memory;
pub mod qp;

use std::io;

use libc::c_int;

/// The result of a call that answers 0 or an errno.
fn code(answer: c_int) -> io::Result<()> {
    match answer {
        0 => Ok(()),
        // Some providers answer a negative errno, some -1 and set errno.
        -1 => Err(io::Error::last_os_error()),
        errno => Err(io::Error::from_raw_os_error(errno.abs())),
    }
}

/// Makes a descriptor one that never blocks and ends with exec.
fn nonblocking(fd: c_int) -> io::Result<()> {
    // SAFETY: changes flags of a descriptor; no memory is involved.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    // SAFETY: as above.
    if flags < 0 || unsafe { libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    Ok(())
}
