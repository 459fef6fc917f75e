//! Resource limits of the process.
//!
//! These call libc, because rustix assumes that the system answers, and a filter of system calls can prevent that.

use std::io;

/// Open files; `None` for no limit.
pub fn open_files() -> io::Result<Option<u64>> {
    soft(libc::RLIMIT_NOFILE)
}

/// Bytes of locked memory, which registered memory is; `None` for no limit.
pub fn locked_memory() -> io::Result<Option<u64>> {
    soft(libc::RLIMIT_MEMLOCK)
}

/// The size to which a file may grow, in bytes; `None` for no limit. Shared memory is a file too. A thread that makes a
/// file grow beyond this gets a signal that ends the process.
pub fn file_size() -> io::Result<Option<u64>> {
    soft(libc::RLIMIT_FSIZE)
}

/// The type of a limit's number, which is not the same in every libc.
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
