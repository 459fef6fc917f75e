//! Resource limits of the process.
//!
//! rustix assumes that getrlimit succeeds, but seccomp can make it fail. So these functions call libc.

use std::io;

/// Returns the maximum number of open files; `None` if unlimited.
pub fn open_files() -> io::Result<Option<u64>> {
    soft(libc::RLIMIT_NOFILE)
}

/// Returns the maximum size of locked memory in bytes, including memory registered with devices; `None` if unlimited.
pub fn locked_memory() -> io::Result<Option<u64>> {
    soft(libc::RLIMIT_MEMLOCK)
}

/// Returns the maximum size of the address space in bytes; `None` if unlimited.
pub fn address_space() -> io::Result<Option<u64>> {
    soft(libc::RLIMIT_AS)
}

/// Returns the maximum size of a file, including shared memory, in bytes; `None` if unlimited. By default, extending a
/// file beyond this size ends the process by a signal.
pub fn file_size() -> io::Result<Option<u64>> {
    soft(libc::RLIMIT_FSIZE)
}

/// Returns whether `error` means that the process or the system has no file descriptors left.
pub fn lacks_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Returns whether `error` means that memory or descriptors are exhausted.
pub fn is_lack(error: &io::Error) -> bool {
    lacks_descriptors(error)
        || error.kind() == io::ErrorKind::OutOfMemory
        || error.raw_os_error() == Some(libc::ENOBUFS)
}

#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

fn soft(resource: Resource) -> io::Result<Option<u64>> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is writable.
    if unsafe { libc::getrlimit(resource, &raw mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur))
}

#[cfg(test)]
mod tests;
