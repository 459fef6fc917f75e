//! Copies between the memories of two processes: one system call and one copy each.
//!
//! The kernel checks only that remote addresses exist; the caller must have checked with
//! [`crate::regions::PeerRegions`] that the peer has registered them.
//!
//! Pieces are copied in list order, and each piece of either list starts a separate copy in the kernel. So a last piece
//! that is the destination's last word is stored last.
//!
//! A probe tests the kernel's permission when a link is established, after the peer has permitted the access with Yama.

use std::io;
use std::ptr;

use arrayvec::ArrayVec;
use dat_census::copies;
use dat_core::transport::MAX_SEGMENTS;
use dat_software::user::{Source, Target};
use rustix::process::{PTracer, set_ptracer};

const _: () = assert!(usize::BITS == 64, "addresses and lengths of peers are 64 bits wide");

/// Maximum number of pieces of a list: the segments of a request, and the last word.
const MAX_PIECES: usize = MAX_SEGMENTS + 1;

type Vecs = ArrayVec<libc::iovec, MAX_PIECES>;

/// The reason why a copy failed, possibly after some of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VmError {
    /// An address of either process is invalid, or its page forbids the read or the write.
    Fault,
    Gone,
    /// The lists have different lengths or too many pieces.
    Length,
    /// Refused by the kernel or a seccomp filter, with this errno.
    Refused(i32),
}

/// Copies from the `remote` pieces (address, bytes) of process `pid` to `local`. With [`VmError::Length`] no byte is
/// copied. Does not allocate.
pub fn read_from(pid: libc::pid_t, remote: &[(u64, u64)], local: &[Target<'_>]) -> Result<(), VmError> {
    // SAFETY: each target can be written (contract of `Target::new`).
    unsafe { transfer(libc::process_vm_readv, pid, Target::as_vecs(local), remote) }
}

/// Copies from `local` to the `remote` pieces (address, bytes) of process `pid`. With [`VmError::Length`] no byte is
/// copied. Does not allocate.
pub fn write_to(pid: libc::pid_t, local: &[Source<'_>], remote: &[(u64, u64)]) -> Result<(), VmError> {
    // SAFETY: each source can be read (contract of `Source::new`), and this direction only reads local memory.
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

/// # Safety
/// `call` must be allowed to access the `local` pieces.
unsafe fn transfer(call: Call, pid: libc::pid_t, local: &[libc::iovec], remote: &[(u64, u64)]) -> Result<(), VmError> {
    let sum = |sum: u64, len: u64| sum.checked_add(len);
    let total = local.iter().map(|vec| vec.iov_len as u64).try_fold(0, sum);
    let (Some(mut left), 0..=MAX_PIECES, 0..=MAX_PIECES) = (total, local.len(), remote.len()) else {
        return Err(VmError::Length);
    };
    if remote.iter().map(|piece| piece.1).try_fold(0, sum) != total {
        return Err(VmError::Length);
    }
    let mut ours: Vecs = local.iter().copied().collect();
    // Addresses of the other process, never dereferenced here.
    let vec =
        |&(addr, len)| libc::iovec { iov_base: ptr::without_provenance_mut(addr as usize), iov_len: len as usize };
    let mut theirs: Vecs = remote.iter().map(vec).collect();
    while left > 0 {
        // SAFETY: the lengths match the arrays. The local entries are within pieces that the caller permits to access;
        // the kernel checks the remote ones.
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

/// Returns the number of bytes that a call has copied; 0 if it was interrupted.
fn result_of(copied: libc::ssize_t) -> Result<u64, VmError> {
    match copied {
        1.. => Ok(copied as u64),
        // The call has copied nothing without an error, so a retry would not help.
        0 => Err(VmError::Fault),
        _ => match io::Error::last_os_error().raw_os_error().unwrap_or(0) {
            libc::EINTR => Ok(0),
            libc::EFAULT => Err(VmError::Fault),
            libc::ESRCH => Err(VmError::Gone),
            errno => Err(VmError::Refused(errno)),
        },
    }
}

/// Returns whether this process may read the memory of process `pid`, and finds `expected` at `remote_addr`, which
/// shows that this is the expected process.
pub fn probe(pid: libc::pid_t, remote_addr: u64, expected: u64) -> bool {
    let mut word = [0_u8; 8];
    let read = read_from(pid, &[(remote_addr, 8)], &[Target::of(&mut word)]);
    if let Err(error) = read {
        log::debug!("shm: process {pid}: cannot read its memory: {error:?}");
    }
    read.is_ok() && u64::from_ne_bytes(word) == expected
}

/// Permits this user's processes to access this process's memory even if Yama restricts that to parents.
pub fn allow_tracing() {
    match copies::yama_scope() {
        Some(1) => {}
        Some(3) => {
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
