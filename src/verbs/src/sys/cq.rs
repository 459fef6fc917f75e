//! Completion queues and the channels that announce completions.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host::cancel::uncancelled;
use host::memory::{self, NoMemory};
use rdma_sys::*;

use super::device::Context;
use super::{Owned, code, made, must_be_mappable, nonblocking};

/// A completion channel: a descriptor that becomes readable when an armed queue gets a
/// completion.
pub struct Channel {
    pub(super) raw: Owned<ibv_comp_channel, 1>,
    context: Arc<Context>,
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor belongs to a live channel, whose field names it as long as the channel lives.
        unsafe { BorrowedFd::borrow_raw(self.raw.fd) }
    }
}

impl Channel {
    /// Makes a channel whose descriptor does not block.
    pub fn new(context: &Arc<Context>) -> io::Result<Arc<Self>> {
        // SAFETY: an open context.
        let make = || made(|| unsafe { ibv_create_comp_channel(context.raw.as_ptr()) });
        let channel = Channel { raw: Owned::with_descriptors(make, |raw| [raw.fd])?, context: context.clone() };
        nonblocking(channel.as_fd())?;
        Ok(memory::arc(channel)?)
    }

    /// Takes all announcements and notes them in their queues. Returns true if there was one.
    pub fn drain(&self) -> bool {
        let mut any = false;
        let mut cq = ptr::null_mut();
        let mut cookie = ptr::null_mut();
        // SAFETY: both places are writable; the descriptor does not block.
        while uncancelled(|| unsafe { ibv_get_cq_event(self.raw.as_ptr(), &raw mut cq, &raw mut cookie) }) == 0 {
            // SAFETY: the cookie is the flag that `RawCq::new` gave. It lives as long as the queue, which is not
            // destroyed before its announcements are acknowledged.
            unsafe {
                (*cookie.cast::<AtomicBool>()).store(true, Ordering::Release);
                ibv_ack_cq_events(cq, 1);
            }
            any = true;
        }
        any
    }
}

/// A completion queue of the device.
pub struct RawCq {
    pub(super) raw: Owned<ibv_cq>,
    /// Whether an announcement was taken from the channel.
    announced: Box<AtomicBool>,
    _channel: Arc<Channel>,
}

/// Completions fetched at a time.
pub const BATCH: usize = 16;

/// Room for completions that are being fetched.
pub struct Batch {
    entries: Box<[ibv_wc; BATCH]>,
}

impl Batch {
    pub fn new() -> Result<Self, NoMemory> {
        // SAFETY: the structure is plain data, for which zero is a valid value.
        Ok(Batch { entries: memory::boxed(unsafe { std::mem::zeroed() })? })
    }
}

impl RawCq {
    /// Makes a queue for at least `depth` completions, announced on `channel`.
    pub fn new(channel: &Arc<Channel>, depth: usize) -> io::Result<Arc<Self>> {
        let depth = i32::try_from(depth).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
        let announced = memory::boxed(AtomicBool::new(false))?;
        let cookie = announced.as_ptr().cast();
        // SAFETY: an open context and a live channel of it; the cookie is only kept.
        let create = || unsafe { ibv_create_cq(channel.context.raw.as_ptr(), depth, cookie, channel.raw.as_ptr(), 0) };
        let raw = Owned::made(create)?;
        Ok(memory::arc(RawCq { raw, announced, _channel: channel.clone() })?)
    }

    /// The address by which asynchronous events name it.
    pub fn address(&self) -> usize {
        self.raw.as_ptr() as usize
    }

    /// Completions that it has room for.
    pub fn depth(&self) -> usize {
        // A resize changes the field; the caller orders the two.
        usize::try_from(self.raw.cqe).unwrap_or(0)
    }

    /// Fetches completions, oldest first.
    ///
    /// # Errors
    /// The errno of the call.
    #[inline]
    pub fn poll<'a>(&self, batch: &'a mut Batch) -> Result<&'a [ibv_wc], c_int> {
        // SAFETY: the array has that many places.
        let got = unsafe { ibv_poll_cq(self.raw.as_ptr(), BATCH as c_int, batch.entries.as_mut_ptr()) };
        match usize::try_from(got) {
            Ok(got) => Ok(&batch.entries[..got.min(BATCH)]),
            Err(_) => Err(got.saturating_neg()),
        }
    }

    /// Asks for an announcement on the channel of the next completion, or of the next one that is `solicited` or failed.
    pub fn arm(&self, solicited: bool) -> io::Result<()> {
        // SAFETY: a live queue.
        code(|| unsafe { ibv_req_notify_cq(self.raw.as_ptr(), solicited.into()) })
    }

    /// Whether an announcement of this queue was taken from the channel since the last call.
    pub fn take_announced(&self) -> bool {
        self.announced.load(Ordering::Relaxed) && self.announced.swap(false, Ordering::AcqRel)
    }

    /// Whether there is such an announcement; the next [`RawCq::take_announced`] still finds it.
    pub fn is_announced(&self) -> bool {
        self.announced.load(Ordering::Acquire)
    }

    /// Makes room for at least `depth` completions. Loses none.
    pub fn resize(&self, depth: usize) -> io::Result<()> {
        must_be_mappable(depth.saturating_mul(COMPLETION))?;
        let depth = i32::try_from(depth).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
        // SAFETY: a live queue.
        code(|| unsafe { ibv_resize_cq(self.raw.as_ptr(), depth) })
    }
}

/// More bytes than a driver keeps for a completion, rounded up as drivers round depths.
const COMPLETION: usize = 256;
