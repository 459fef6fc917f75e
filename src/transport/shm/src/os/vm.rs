//! Copies between the memories of two processes, each with one system call and one copy.
//!
//! The remote addresses come from the peer. The kernel checks only that they exist; [`crate::regions::PeerRegions`] is
//! checked before for whether the peer has registered them.
//!
//! Pieces are copied in the order of the lists. Where one begins in either list, the kernel begins another copy, so
//! that a caller whose last piece is the last word of the destination has that word stored last.
//!
//! Whether the kernel permits such copies is found out with a probe when a link is made, for which Yama is asked first.

use std::fs;
use std::io;
use std::ptr;

use arrayvec::ArrayVec;
use dat_core::transport::MAX_SEGMENTS;
use dat_memory::user::{Source, Target};
use host::environment;
use rustix::process::{PTracer, set_ptracer};

const _: () = assert!(usize::BITS == 64, "addresses and lengths of peers are 64 bits wide");

/// The most pieces of a list: those of a request, and the last word.
const MOST: usize = MAX_SEGMENTS + 1;

/// A list of pieces.
type Vecs = ArrayVec<libc::iovec, MOST>;

/// The reason why a copy failed. Part of it may have been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VmError {
    /// An address is invalid or cannot be accessed in this way.
    Fault,
    /// This process may not access the other one.
    Denied,
    /// The kernel, or a filter of its calls, does not offer the call.
    Unsupported,
    /// The process no longer exists.
    Gone,
    /// The two lists have different lengths, or more pieces than a transfer has.
    Length,
    /// Any other error, by its number.
    Other(i32),
}

impl VmError {
    fn from_errno(errno: i32) -> VmError {
        match errno {
            libc::EFAULT => VmError::Fault,
            libc::EPERM | libc::EACCES => VmError::Denied,
            libc::ENOSYS => VmError::Unsupported,
            libc::ESRCH => VmError::Gone,
            errno => VmError::Other(errno),
        }
    }
}

/// Copies from the `remote` pieces (address, bytes) of the process `pid` to `local`.
/// Allocates nothing.
///
/// # Errors
/// [`VmError`]; with [`VmError::Length`] nothing was copied.
pub fn read_from(pid: libc::pid_t, remote: &[(u64, u64)], local: &[Target<'_>]) -> Result<(), VmError> {
    // SAFETY: each target can be written (contract of `Target::new`).
    unsafe { transfer(libc::process_vm_readv, pid, Target::as_vecs(local), remote) }
}

/// Copies from `local` to the `remote` pieces (address, bytes) of the process `pid`.
/// Allocates nothing.
///
/// # Errors
/// [`VmError`]; with [`VmError::Length`] nothing was copied.
pub fn write_to(pid: libc::pid_t, local: &[Source<'_>], remote: &[(u64, u64)]) -> Result<(), VmError> {
    // SAFETY: each source can be read (contract of `Source::new`), and this direction only reads the memory of this
    // process.
    unsafe { transfer(libc::process_vm_writev, pid, Source::as_vecs(local), remote) }
}

type Call = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> libc::ssize_t;

/// Repeats `call` until everything is copied.
///
/// # Safety
/// The access of `call` to the `local` pieces must be allowed.
unsafe fn transfer(call: Call, pid: libc::pid_t, local: &[libc::iovec], remote: &[(u64, u64)]) -> Result<(), VmError> {
    let sum = |sum: u64, len: u64| sum.checked_add(len);
    let total = local.iter().map(|vec| vec.iov_len as u64).try_fold(0, sum);
    let (Some(mut left), 0..=MOST, 0..=MOST) = (total, local.len(), remote.len()) else { return Err(VmError::Length) };
    if remote.iter().map(|piece| piece.1).try_fold(0, sum) != total {
        return Err(VmError::Length);
    }
    let mut ours: Vecs = local.iter().copied().collect();
    // These are no addresses of this process and must never be dereferenced here.
    let vec =
        |&(addr, len)| libc::iovec { iov_base: ptr::without_provenance_mut(addr as usize), iov_len: len as usize };
    let mut theirs: Vecs = remote.iter().map(vec).collect();
    while left > 0 {
        // SAFETY: the arrays have as many entries; the local ones are within pieces for which the caller vouches, and
        // the remote ones are looked up in the other process.
        let copied = unsafe { call(pid, ours.as_ptr(), ours.len() as _, theirs.as_ptr(), theirs.len() as _, 0) };
        let copied = result_of(copied)?;
        left -= copied;
        if left > 0 {
            advance(&mut ours, copied as usize);
            advance(&mut theirs, copied as usize);
        }
    }
    Ok(())
}

/// Takes the first `bytes` off a list.
#[cold]
fn advance(vecs: &mut Vecs, mut bytes: usize) {
    let is_over = |vec: &&libc::iovec| {
        let over = vec.iov_len <= bytes;
        if over {
            bytes -= vec.iov_len;
        }
        over
    };
    let over = vecs.iter().take_while(is_over).count();
    vecs.drain(..over);
    if let Some(first) = vecs.first_mut() {
        first.iov_base = first.iov_base.wrapping_byte_add(bytes);
        first.iov_len -= bytes;
    }
}

/// The bytes that a call has copied, as it says; 0 if it was interrupted before.
fn result_of(copied: libc::ssize_t) -> Result<u64, VmError> {
    match copied {
        1.. => Ok(copied as u64),
        // Nothing was copied, without a reason: trying again would not help.
        0 => Err(VmError::Fault),
        _ => match io::Error::last_os_error().raw_os_error().unwrap_or(0) {
            libc::EINTR => Ok(0),
            errno => Err(VmError::from_errno(errno)),
        },
    }
}

/// Whether to try copies between processes. With `DAT_SHM_VM=0` in the environment the transport behaves as if the
/// kernel refused them.
pub fn is_wanted() -> bool {
    environment::secure("DAT_SHM_VM").is_none_or(|value| value != "0")
}

/// Whether the process `pid` lets this process read its memory and holds `expected` at `remote_addr`. This tests both
/// the permission and the peer's identity.
pub fn probe(pid: libc::pid_t, remote_addr: u64, expected: u64) -> bool {
    let mut word = [0_u8; 8];
    let read = read_from(pid, &[(remote_addr, 8)], &[Target::of(&mut word)]);
    if let Err(error) = read {
        log::debug!("shm: the memory of process {pid} cannot be read: {error:?}");
    }
    read.is_ok() && u64::from_ne_bytes(word) == expected
}

/// Lets other processes of the same user copy from and to this process's memory, even where Yama allows that only to a
/// process's parents.
pub fn allow_tracing() {
    match fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope") {
        Ok(scope) if scope.trim() == "1" => {}
        Ok(scope) if scope.trim() == "3" => {
            log::warn!("shm: kernel.yama.ptrace_scope is 3: large transfers use shared memory, which is slower");
            return;
        }
        _ => return,
    }
    if let Err(error) = set_ptracer(PTracer::Any) {
        log::debug!("shm: peers may not be able to copy from our memory: {error}");
    }
}

#[cfg(test)]
mod tests;
