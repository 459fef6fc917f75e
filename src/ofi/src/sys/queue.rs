//! Completion queues.

use std::os::fd::RawFd;
use std::ptr;
use std::sync::Arc;

use arrayvec::ArrayVec;

use super::abi::{CqAttr, CqErrEntry, CqMsgEntry, FI_CQ_FORMAT_MSG, FI_EAVAIL, FI_WAIT_FD, FidCq};
use super::{Fabric, FiError, close, descriptor, shared};

/// Completions that are read at a time.
pub const BATCH: usize = 32;

/// The completion of a send or a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What it was posted with.
    pub context: u64,
    /// Bytes received.
    pub len: usize,
    /// It has failed.
    pub failed: bool,
}

/// A completion queue.
pub struct Cq {
    pub(super) cq: *mut FidCq,
    fd: RawFd,
    fabric: Arc<Fabric>,
}

// SAFETY: libfabric's queues may be used by any thread.
unsafe impl Send for Cq {}
// SAFETY: as for Send.
unsafe impl Sync for Cq {}

impl Cq {
    /// Makes a queue, with room for `size` completions at first.
    ///
    /// # Errors
    /// What libfabric says.
    pub fn open(fabric: &Arc<Fabric>, size: usize) -> Result<Arc<Cq>, FiError> {
        let mut attr = CqAttr {
            size,
            flags: 0,
            format: FI_CQ_FORMAT_MSG,
            wait_obj: FI_WAIT_FD,
            signaling_vector: 0,
            wait_cond: 0,
            wait_set: ptr::null_mut(),
        };
        let mut cq = ptr::null_mut();
        // SAFETY: an open domain has its operations, and the places are as they should be.
        let result =
            unsafe { ((*(*fabric.domain).ops).cq_open)(fabric.domain, &raw mut attr, &raw mut cq, ptr::null_mut()) };
        FiError::check(result as isize)?;
        // SAFETY: it was made with FI_WAIT_FD.
        match unsafe { descriptor(cq.cast()) } {
            Ok(fd) => {
                fabric.descriptors.keep(fd);
                fabric.descriptors.keep_pairs(&fabric.before);
                shared(Cq { cq, fd, fabric: fabric.clone() })
            }
            Err(error) => {
                // SAFETY: it is open, and nobody uses it.
                let _ = unsafe { close(cq.cast()) };
                Err(error)
            }
        }
    }

    /// The descriptor that is readable when there is something to read, after [`Fabric::try_wait`].
    pub fn fd(&self) -> RawFd {
        self.fd
    }

    /// Takes care of these descriptors.
    pub(super) fn keep_these(&self, fds: &[RawFd]) {
        self.fabric.descriptors.keep_these(fds);
    }

    /// Forgets descriptors that are about to be closed.
    pub(super) fn forget(&self, closing: &[RawFd]) {
        self.fabric.descriptors.forget(closing);
    }

    /// Lets libfabric move bytes, and reads what is complete.
    pub fn read(&self, into: &mut ArrayVec<Completion, BATCH>) {
        let empty = CqMsgEntry { op_context: ptr::null_mut(), flags: 0, len: 0 };
        let mut entries = [empty; BATCH];
        let room = BATCH - into.len();
        // SAFETY: an open queue has its operations; there is room for as many entries.
        let read = unsafe { ((*(*self.cq).ops).read)(self.cq, entries.as_mut_ptr().cast(), room) };
        match FiError::check(read) {
            Ok(count) => into.extend(entries[..count.min(room)].iter().map(|entry| Completion {
                context: entry.op_context.addr() as u64,
                len: entry.len,
                failed: false,
            })),
            Err(FiError(FI_EAVAIL)) => self.read_failed(into),
            Err(_) => {}
        }
    }

    /// Reads completions that have failed.
    #[cold]
    fn read_failed(&self, into: &mut ArrayVec<Completion, BATCH>) {
        while !into.is_full() {
            let mut entry = CqErrEntry {
                op_context: ptr::null_mut(),
                flags: 0,
                len: 0,
                buf: ptr::null_mut(),
                data: 0,
                tag: 0,
                olen: 0,
                err: 0,
                prov_errno: 0,
                err_data: ptr::null_mut(),
                err_data_size: 0,
            };
            // SAFETY: an open queue has its operations, and the entry is one of theirs.
            let read = unsafe { ((*(*self.cq).ops).readerr)(self.cq, &raw mut entry, 0) };
            if !FiError::check(read).is_ok_and(|count| count > 0) {
                return;
            }
            into.push(Completion { context: entry.op_context.addr() as u64, len: 0, failed: true });
        }
    }
}

impl Drop for Cq {
    fn drop(&mut self) {
        self.fabric.descriptors.forget_all();
        // SAFETY: it is open, and the endpoints that were bound to it are closed, as they keep it alive.
        let _ = unsafe { close(self.cq.cast()) };
    }
}
