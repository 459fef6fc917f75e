//! What the process as a whole is to the system: its user, its signals, its children.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, Ordering};

/// Keeps the program's signal handlers from running on the calling thread.
pub fn block_all_signals() {
    // SAFETY: plain data, for which zero is a value.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: writes to a live variable.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: reads a live variable; the old mask is not wanted.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut()) };
}

/// Refuses peers of other users.
pub fn same_user(uid: u32) -> io::Result<()> {
    // SAFETY: takes nothing and cannot fail.
    if uid == unsafe { libc::geteuid() } {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("a process of user {uid}")))
}

/// Whether copies between processes are to be tried; `DAT_SHM_VM=0` in the environment
/// makes the transport do as where the kernel refuses them.
pub fn vm_allowed() -> bool {
    dat_registry::environment::secure("DAT_SHM_VM").is_none_or(|value| value != "0")
}

/// Sockets that a child of fork must not keep open: a peer takes the end of the socket
/// for the end of the process. 0 is a free place.
static SOCKETS: [AtomicI32; 4096] = [const { AtomicI32::new(0) }; 4096];

/// Remembers a socket.
pub fn note_socket(fd: RawFd) {
    for place in &SOCKETS {
        if place.load(Ordering::Relaxed) == 0
            && place.compare_exchange(0, fd, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            return;
        }
    }
}

/// Forgets a socket that is about to be closed.
pub fn forget_socket(fd: RawFd) {
    if let Some(place) = SOCKETS.iter().find(|place| place.load(Ordering::Relaxed) == fd) {
        let _ = place.compare_exchange(fd, 0, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// Closes the parent's sockets in the child of a fork; takes no lock.
pub fn close_all_in_child() {
    for place in &SOCKETS {
        let fd = place.swap(0, Ordering::AcqRel);
        if fd > 0 {
            // SAFETY: the child's copy of a socket whose owner, a value that the child
            // never touches again, is left alone.
            unsafe { libc::close(fd) };
        }
    }
}
