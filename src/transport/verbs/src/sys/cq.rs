//! Completion queues and completion channels.

use std::ffi::c_int;
use std::io;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host::cancel::uncancelled;
use host::memory::{self, NoMemory};
use rdma_sys::*;

use super::device::Context;
use super::{Owned, code, made, zeroed};

/// A completion channel, which becomes readable when an armed queue gets a completion.
pub type Channel = Owned<ibv_comp_channel, Arc<Context>, 1>;

impl Channel {
    pub fn new(context: &Arc<Context>) -> io::Result<Arc<Self>> {
        // SAFETY: an open context.
        let make = |context: &Arc<Context>| made(|| unsafe { ibv_create_comp_channel(context.as_ptr()) });
        Ok(memory::arc(Owned::with_descriptors(context.clone(), make, |raw| [raw.fd])?)?)
    }

    /// Reads all events, and sets their queues' flags. Returns whether there were events.
    pub fn drain(&self) -> bool {
        let mut any = false;
        let mut cq = ptr::null_mut();
        let mut cookie = ptr::null_mut();
        // SAFETY: a live channel, and two writable places.
        while uncancelled(|| unsafe { ibv_get_cq_event(self.as_ptr(), &raw mut cq, &raw mut cookie) }) == 0 {
            // SAFETY: the cookie is the flag of `RawCq::new`. It outlives the queue, whose destruction waits for the
            // acknowledgement.
            unsafe { &*cookie.cast::<AtomicBool>() }.store(true, Ordering::Release);
            // SAFETY: the queue's event was read above, and is acknowledged once.
            unsafe { ibv_ack_cq_events(cq, 1) };
            any = true;
        }
        any
    }
}

/// Maximum number of completions per poll.
pub const BATCH: usize = 16;

pub type Batch = [ibv_wc; BATCH];

pub fn batch() -> Result<Box<Batch>, NoMemory> {
    memory::boxed(zeroed())
}

/// A completion queue that only occupies an offset, and receives no completions.
pub type UnusedCq = Owned<ibv_cq, Arc<Context>>;

/// Depth at which a queue takes 1 MiB of memory, and so covers offset 0x90000.
const DEPTH_OVER_INVALID_KEY: c_int = 32 << 10;

impl UnusedCq {
    /// Creates a completion queue over offset 0x90000 of a soft-iWARP context. It must be the context's first queue.
    ///
    /// The kernel maps each queue at the lowest free offset. The driver (rdma-core 44 to 56) rejects 0x90000 as
    /// invalid, so the creation of a queue that begins there would fail.
    pub fn over_invalid_key(context: &Arc<Context>) -> io::Result<Self> {
        // SAFETY: an open context; a completion queue needs no channel and no cookie.
        Owned::made(context.clone(), |context| unsafe {
            ibv_create_cq(context.as_ptr(), DEPTH_OVER_INVALID_KEY, ptr::null_mut(), ptr::null_mut(), 0)
        })
    }
}

/// A completion queue, with a flag that `Channel::drain` sets when it reads an event of the queue.
pub type RawCq = Owned<ibv_cq, (Arc<Channel>, Box<AtomicBool>)>;

impl RawCq {
    pub fn new(channel: &Arc<Channel>, depth: usize) -> io::Result<Arc<Self>> {
        let depth = i32::try_from(depth).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
        let parents = (channel.clone(), memory::boxed(AtomicBool::new(false))?);
        // SAFETY: an open context and its live channel; the library does not dereference the flag.
        let cq = Owned::made(parents, |(channel, announced)| unsafe {
            let cookie = announced.as_ptr().cast();
            ibv_create_cq(channel.parent().as_ptr(), depth, cookie, channel.as_ptr(), 0)
        })?;
        Ok(memory::arc(cq)?)
    }

    pub fn depth(&self) -> usize {
        // The caller must not resize concurrently.
        usize::try_from(self.cqe).unwrap_or(0)
    }

    /// Removes and returns the oldest completions, up to [`BATCH`]. An error is the errno of the call.
    #[inline]
    pub fn poll<'a>(&self, batch: &'a mut Batch) -> Result<&'a [ibv_wc], c_int> {
        // SAFETY: a live queue, and an array of `BATCH` entries.
        let got = unsafe { ibv_poll_cq(self.as_ptr(), BATCH as c_int, batch.as_mut_ptr()) };
        match usize::try_from(got) {
            Ok(got) => Ok(&batch[..got.min(BATCH)]),
            Err(_) => Err(got.saturating_neg()),
        }
    }

    /// Requests an event for the next completion; if `solicited`, for the next solicited or failed one.
    pub fn arm(&self, solicited: bool) -> io::Result<()> {
        // SAFETY: a live queue.
        code(|| unsafe { ibv_req_notify_cq(self.as_ptr(), solicited.into()) })
    }

    /// Clears the flag of an event. Returns whether it was set.
    pub fn take_announced(&self) -> bool {
        self.parent().1.load(Ordering::Relaxed) && self.parent().1.swap(false, Ordering::AcqRel)
    }

    pub fn is_announced(&self) -> bool {
        self.parent().1.load(Ordering::Acquire)
    }

    /// Resizes the queue to at least `depth` completions.
    pub fn resize(&self, depth: usize) -> io::Result<()> {
        memory::must_be_mappable(depth.saturating_mul(MAX_COMPLETION_SIZE))?;
        let depth = i32::try_from(depth).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
        // SAFETY: a live queue.
        code(|| unsafe { ibv_resize_cq(self.as_ptr(), depth) })
    }
}

/// Upper limit of a driver's bytes per completion, rounding included.
const MAX_COMPLETION_SIZE: usize = 256;
