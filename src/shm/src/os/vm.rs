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

use host::environment;
use rustix::process::{PTracer, set_ptracer};

use super::user::{Source, Target};

const _: () = assert!(usize::BITS == 64, "addresses and lengths of peers are 64 bits wide");

/// The number of entries handed to the kernel at a time: 32 pieces, the last word, and room for a piece that begins in
/// the middle.
const BATCH: usize = 34;

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
    /// The two lists have different lengths.
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
    let total = sum(local).ok_or(VmError::Length)?;
    if sum(remote) != Some(total) {
        return Err(VmError::Length);
    }
    if total == 0 {
        return Ok(());
    }
    let mut ours = Cursor { pieces: local, first: 0, offset: 0, done: 0 };
    let mut theirs = Cursor { pieces: remote, first: 0, offset: 0, done: 0 };
    if let (&[(addr, len)], 1..=BATCH) = (remote, local.len()) {
        // Nearly always this is all there is to do.
        let place = libc::iovec { iov_base: ptr::without_provenance_mut(addr as usize), iov_len: len as usize };
        // SAFETY: as many entries as are there; the local ones are pieces for which the caller vouches, and the remote
        // one is looked up in the other process.
        let copied = unsafe { call(pid, local.as_ptr(), local.len() as _, &raw const place, 1, 0) };
        let copied = result_of(copied)?;
        if copied == total {
            return Ok(());
        }
        ours.advance(copied);
        theirs.advance(copied);
    }
    let mut local_vecs = [EMPTY; BATCH];
    let mut remote_vecs = [EMPTY; BATCH];
    while ours.done < total {
        let local_count = ours.fill(&mut local_vecs);
        let remote_count = theirs.fill(&mut remote_vecs);
        // SAFETY: the arrays have as many entries; the local ones are within pieces for which the caller vouches, and
        // the remote ones are looked up in the other process.
        let copied =
            unsafe { call(pid, local_vecs.as_ptr(), local_count as _, remote_vecs.as_ptr(), remote_count as _, 0) };
        let copied = result_of(copied)?;
        ours.advance(copied);
        theirs.advance(copied);
    }
    Ok(())
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

const EMPTY: libc::iovec = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };

/// A piece of either list.
trait Piece {
    fn base(&self) -> *mut libc::c_void;
    fn len(&self) -> u64;
}

impl Piece for libc::iovec {
    fn base(&self) -> *mut libc::c_void {
        self.iov_base
    }

    fn len(&self) -> u64 {
        self.iov_len as u64
    }
}

impl Piece for (u64, u64) {
    fn base(&self) -> *mut libc::c_void {
        // This is not an address of this process and must never be dereferenced here.
        ptr::without_provenance_mut(self.0 as usize)
    }

    fn len(&self) -> u64 {
        self.1
    }
}

/// Bytes in a list.
fn sum<P: Piece>(pieces: &[P]) -> Option<u64> {
    pieces.iter().try_fold(0_u64, |sum, piece| sum.checked_add(piece.len()))
}

/// The progress within a list.
struct Cursor<'a, P> {
    pieces: &'a [P],
    /// The next piece, and the number of its bytes that are done.
    first: usize,
    offset: u64,
    /// Bytes done.
    done: u64,
}

impl<P: Piece> Cursor<'_, P> {
    /// Fills `vecs` with the next pieces. Returns the number of entries.
    fn fill(&self, vecs: &mut [libc::iovec; BATCH]) -> usize {
        let mut offset = self.offset;
        let pieces = self.pieces.iter().skip(self.first);
        let mut count = 0;
        for (vec, piece) in vecs.iter_mut().zip(pieces) {
            let iov_len = (piece.len() - offset) as usize;
            *vec = libc::iovec { iov_base: piece.base().wrapping_byte_add(offset as usize), iov_len };
            count += 1;
            offset = 0;
        }
        count
    }

    fn advance(&mut self, mut bytes: u64) {
        self.done += bytes;
        while let Some(piece) = self.pieces.get(self.first) {
            let rest = piece.len() - self.offset;
            if bytes < rest {
                self.offset += bytes;
                return;
            }
            bytes -= rest;
            self.first += 1;
            self.offset = 0;
        }
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
        _ => return,
    }
    if let Err(error) = set_ptracer(PTracer::Any) {
        log::debug!("shm: peers may not be able to copy from our memory: {error}");
    }
}

#[cfg(test)]
mod tests;
