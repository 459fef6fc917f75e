//! Completion queues.

use std::os::fd::{BorrowedFd, RawFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use arrayvec::ArrayVec;

use super::abi::{CqAttr, CqErrEntry, CqMsgEntry, FI_CQ_FORMAT_MSG, FI_EAVAIL, FI_WAIT_FD, FI_WAIT_NONE, FidCq};
use super::queues::Wakes;
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
    /// libfabric's descriptor, if a thread sleeps on that.
    pub(super) fd: Option<RawFd>,
    /// What the kernel tells of its sockets by.
    pub(super) token: u64,
    /// How many endpoints it has.
    pub(super) endpoints: AtomicUsize,
    /// There may be something to read, whatever its sockets have: completions, or bytes that libfabric has read before.
    pub(super) is_due: AtomicBool,
    /// The next read will not be enough: libfabric learns in one read which sockets it waits for room of, and looks at them in
    /// the next.
    is_due_twice: AtomicBool,
    /// What libfabric has opened for it.
    descriptors: Vec<RawFd>,
    wakes: Arc<Wakes>,
    fabric: Arc<Fabric>,
}

// SAFETY: libfabric's queues may be used by any thread.
unsafe impl Send for Cq {}
// SAFETY: as for Send.
unsafe impl Sync for Cq {}

impl Cq {
    /// Makes a queue, with room for `size` completions at first; with a descriptor of libfabric's if `descriptor` is set.
    ///
    /// # Errors
    /// What libfabric says.
    pub(super) fn open(
        fabric: &Arc<Fabric>,
        wakes: &Arc<Wakes>,
        size: usize,
        token: u64,
        with_descriptor: bool,
    ) -> Result<Arc<Cq>, FiError> {
        let mut attr = CqAttr {
            size,
            flags: 0,
            format: FI_CQ_FORMAT_MSG,
            wait_obj: if with_descriptor { FI_WAIT_FD } else { FI_WAIT_NONE },
            signaling_vector: 0,
            wait_cond: 0,
            wait_set: ptr::null_mut(),
        };
        let mut cq = ptr::null_mut();
        let (attr, place) = (&raw mut attr, &raw mut cq);
        let (result, descriptors) = fabric.descriptors.keep_pairs(|| {
            // SAFETY: an open domain has its operations, and the places are as they should be.
            unsafe { ((*(*fabric.domain).ops).cq_open)(fabric.domain, attr, place, ptr::null_mut()) }
        });
        FiError::check(result as isize)?;
        wakes.queues.fetch_add(1, Ordering::AcqRel);
        let mut queue = Cq {
            cq,
            fd: None,
            token,
            endpoints: AtomicUsize::new(0),
            is_due: AtomicBool::new(false),
            is_due_twice: AtomicBool::new(false),
            descriptors,
            wakes: wakes.clone(),
            fabric: fabric.clone(),
        };
        if with_descriptor {
            // SAFETY: it was made with FI_WAIT_FD.
            let fd = unsafe { descriptor(cq.cast()) }?;
            queue.descriptors.extend(fabric.descriptors.keep(fd));
            queue.fd = Some(fd);
        }
        shared(queue)
    }

    /// Has the queue read soon: something was posted to an endpoint.
    pub(super) fn note_posted(&self) {
        self.is_due.store(true, Ordering::SeqCst);
        self.wakes.wake();
    }

    /// Has the queue read as the kernel has something; there is `room` in a socket that had none.
    pub(super) fn note_ready(&self, room: bool) {
        if room {
            self.is_due_twice.store(true, Ordering::SeqCst);
        }
        self.is_due.store(true, Ordering::SeqCst);
    }

    /// Has the kernel tell what the socket of an endpoint has, which is connected.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn watch(&self, socket: RawFd) -> std::io::Result<()> {
        if self.fd.is_some() {
            return Ok(());
        }
        // SAFETY: libfabric has it open as long as its endpoint is.
        self.wakes.watch(unsafe { BorrowedFd::borrow_raw(socket) }, self.token)
    }

    /// Has it not tell any more.
    pub(super) fn unwatch(&self, socket: RawFd) {
        if self.fd.is_none() {
            // SAFETY: as for `watch`.
            self.wakes.unwatch(unsafe { BorrowedFd::borrow_raw(socket) });
        }
    }

    /// Whether a thread can sleep, as far as libfabric has to be asked.
    pub(super) fn try_wait(&self) -> bool {
        self.fd.is_none() || self.fabric.try_wait(self)
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
        // What is posted from now on makes it due again.
        self.is_due.store(false, Ordering::SeqCst);
        if self.is_due_twice.swap(false, Ordering::SeqCst) {
            self.is_due.store(true, Ordering::SeqCst);
        }
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
        // There may be more.
        if into.is_full() {
            self.is_due.store(true, Ordering::SeqCst);
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
        self.wakes.queues.fetch_sub(1, Ordering::AcqRel);
        self.fabric.descriptors.forget(&self.descriptors);
        // SAFETY: it is open, and the endpoints that were bound to it are closed, as they keep it alive.
        let _ = unsafe { close(self.cq.cast()) };
    }
}
