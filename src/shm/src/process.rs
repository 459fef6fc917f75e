//! What the process as a whole is to the system: its user, its signals, its children.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, Ordering};

use once_cell::sync::OnceCell;

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

fn page_size() -> usize {
    // SAFETY: a number is asked for.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Whether all of a range is mapped.
pub fn is_mapped(addr: u64, len: u64) -> bool {
    const PAGES: usize = 4096;
    let page = page_size();
    let mut at = addr as usize / page * page;
    let Some(end) = (addr as usize).checked_add(len as usize) else { return false };
    let mut resident = [0_u8; PAGES];
    while at < end {
        let part = (end - at).min(PAGES * page);
        // What is resident is not wanted, only whether there is a gap.
        // SAFETY: reads no memory of the range, and writes a byte a page to a buffer that has room.
        if unsafe { libc::mincore(std::ptr::without_provenance_mut(at), part, resident.as_mut_ptr()) } != 0 {
            return false;
        }
        at += part;
    }
    true
}

/// Whether the first and the last page of a mapped range can be read, and written if
/// `write` is set. Pages are touched as if they were used. Says yes where the kernel cannot
/// tell.
pub fn is_accessible(addr: u64, len: u64, write: bool) -> bool {
    static KNOWN: OnceCell<bool> = OnceCell::new();
    let populate = |addr: usize, write: bool| {
        let advice = if write { libc::MADV_POPULATE_WRITE } else { libc::MADV_POPULATE_READ };
        let page = page_size();
        let first = std::ptr::without_provenance_mut(addr / page * page);
        // SAFETY: faults one page in and changes no byte of it.
        unsafe { libc::madvise(first, page, advice) == 0 }
    };
    let own = 0_u8;
    let known = *KNOWN.get_or_init(|| populate((&raw const own).addr(), true));
    let last = addr + (len - 1);
    !known || (populate(addr as usize, write) && populate(last as usize, write))
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
