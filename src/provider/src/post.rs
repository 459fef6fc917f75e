//! The fast slots: posts and dequeues.
//!
//! They neither allocate nor format, and no input makes them panic: core requests only segments below the count that it
//! has checked.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use dat_core::error::{Arg, Error, Role};
use dat_core::event::Transfer;
use dat_core::transport::{MAX_SEGMENTS, RemoteSegment};
use dat_core::{CompletionFlags, Endpoint, Evd, Handle, LocalSegment, SegmentList, Srq};
use dat_udat::*;

use crate::call::{fast, fast_path};
use crate::evd::Event;
use crate::handle::find;
use crate::ptr::{InPtr, OutPtr};
use crate::{Answer, At, Fault, Positions, Provider, Version};

pub(crate) type LmrTriplet<F> = <<F as Provider>::Version as Version>::LmrTriplet;
type RmrTriplet<F> = <<F as Provider>::Version as Version>::RmrTriplet;

/// Positions of the arguments of a send or receive.
pub const TRANSFER: Positions = &[(Arg::SegmentCount, 2), (Arg::Segments, 3), (Arg::Flags, 5)];
const RDMA: Positions = &[(Arg::SegmentCount, 2), (Arg::Segments, 3), (Arg::Flags, 6)];

// The core's flags have the bits of the interface.
const _: () = {
    assert!(CompletionFlags::DEFAULT.bits() == DAT_COMPLETION_DEFAULT_FLAG);
    assert!(CompletionFlags::SUPPRESS.bits() == DAT_COMPLETION_SUPPRESS_FLAG);
    assert!(CompletionFlags::SOLICITED_WAIT.bits() == DAT_COMPLETION_SOLICITED_WAIT_FLAG);
    assert!(CompletionFlags::UNSIGNALLED.bits() == DAT_COMPLETION_UNSIGNALLED_FLAG);
    assert!(CompletionFlags::BARRIER_FENCE.bits() == DAT_COMPLETION_BARRIER_FENCE_FLAG);
    assert!(CompletionFlags::EVD_THRESHOLD.bits() == DAT_COMPLETION_EVD_THRESHOLD_FLAG);
};

/// Wraps completion flags. Core rejects unknown bits.
#[inline(always)]
pub fn completion_flags(flags: DAT_COMPLETION_FLAGS) -> CompletionFlags {
    CompletionFlags::from_bits_retain(flags)
}

/// The segments of a post.
pub struct Segments<V: Version> {
    count: usize,
    list: *const V::LmrTriplet,
}

impl<V: Version> Segments<V> {
    /// Wraps the segments of a post.
    ///
    /// # Safety
    /// During the call, `list` must be NULL, or `count` triplets must be readable.
    #[inline(always)]
    pub unsafe fn new(count: DAT_COUNT, list: *const V::LmrTriplet) -> Self {
        // As an unsigned number, a negative count exceeds every limit.
        Segments { count: count as u32 as usize, list }
    }
}

impl<V: Version> SegmentList for Segments<V> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.count
    }

    #[inline(always)]
    fn segment(&self, at: usize) -> LocalSegment {
        assert!(at < self.count && !self.list.is_null());
        // SAFETY: the assertion checks index and pointer; `new` requires `count` readable triplets.
        V::local_segment(&unsafe { self.list.wrapping_add(at).read_unaligned() })
    }

    #[inline(always)]
    fn is_single(&self) -> bool {
        self.count == 1 && !self.list.is_null()
    }

    fn check(&self) -> dat_core::Result<()> {
        if self.count > MAX_SEGMENTS {
            return Err(Error::InvalidParameter(Arg::SegmentCount));
        }
        if self.list.is_null() && self.count > 0 {
            return Err(Error::InvalidParameter(Arg::Segments));
        }
        Ok(())
    }
}

/// Returns the bits of a cookie or context.
#[inline]
pub fn word(context: DAT_CONTEXT) -> u64 {
    // SAFETY: all members have 8 bytes, and any value is a valid integer.
    unsafe { context.as_64 }
}

/// Returns the remote segment of an RDMA operation, the argument at `position`. If this argument is NULL, fails with
/// the fault of the `local` segments, or for valid ones with the fault of this argument.
#[inline(always)]
pub fn remote<V: Version>(
    triplet: InPtr<V::RmrTriplet>,
    local: &Segments<V>,
    positions: Positions,
    position: u32,
) -> Answer<RemoteSegment> {
    match triplet.get() {
        Some(triplet) => Ok(V::remote_segment(&triplet)),
        None => local.check().at(positions).and(Err(Fault::Argument(position))),
    }
}

/// Defines the slot of a post to the first argument. A second function handles objects that the fast lookup does not
/// find, so that the slot needs few registers.
macro_rules! post {
    (
        $name:ident($object:ident: $type:ident as $role:ident, $segments:ident, $cookie:ident $(,
            $argument:ident: $argument_type:ty)*) $body:block
    ) => {
        #[doc = concat!("Slot of ", stringify!($name), ".")]
        ///
        /// # Safety
        /// `local_iov` is NULL or has `num_segments` elements.
        #[inline(always)]
        pub unsafe fn $name<F: Provider>(
            handle: DAT_HANDLE,
            num_segments: DAT_COUNT,
            local_iov: *mut LmrTriplet<F>,
            user_cookie: DAT_DTO_COOKIE,
            $($argument: $argument_type,)*
        ) -> DAT_RETURN {
            #[inline(always)]
            unsafe fn body<F: Provider>(
                $object: &$type<F::Transport>,
                num_segments: DAT_COUNT,
                local_iov: *mut LmrTriplet<F>,
                user_cookie: DAT_DTO_COOKIE,
                $($argument: $argument_type,)*
            ) -> Answer<()> {
                // SAFETY: NULL or `num_segments` elements, as the slot requires.
                let $segments = &unsafe { Segments::<F::Version>::new(num_segments, local_iov) };
                let $cookie = word(user_cookie);
                $body
            }

            // With the C ABI, the arguments stay in their registers.
            #[cold]
            #[inline(never)]
            unsafe extern "C" fn otherwise<F: Provider>(
                handle: DAT_HANDLE,
                num_segments: DAT_COUNT,
                local_iov: *mut LmrTriplet<F>,
                user_cookie: DAT_DTO_COOKIE,
                $($argument: $argument_type,)*
            ) -> DAT_RETURN {
                fast::<F>(move || {
                    let held = find::<F, $type<F::Transport>>(handle, Role::$role)?;
                    // SAFETY: NULL or `num_segments` elements, as the slot requires.
                    unsafe { body::<F>(&held, num_segments, local_iov, user_cookie $(, $argument)*) }
                })
            }

            fast_path::<F, $type<F::Transport>>(
                handle,
                |_| true,
                // SAFETY: NULL or `num_segments` elements, as the slot requires.
                move |held| unsafe { body::<F>(held, num_segments, local_iov, user_cookie $(, $argument)*) },
                // SAFETY: NULL or `num_segments` elements, as the slot requires.
                move || unsafe { otherwise::<F>(handle, num_segments, local_iov, user_cookie $(, $argument)*) },
            )
        }
    };
}

post! {
    dat_ep_post_send(ep: Endpoint as Ep, segments, cookie, flags: DAT_COMPLETION_FLAGS) {
        ep.post(segments, cookie, completion_flags(flags), Transfer::Send, &RemoteSegment::NONE).at(TRANSFER)
    }
}

post! {
    dat_ep_post_recv(ep: Endpoint as Ep, segments, cookie, flags: DAT_COMPLETION_FLAGS) {
        ep.post_recv(segments, cookie, completion_flags(flags)).at(TRANSFER)
    }
}

post! {
    dat_ep_post_rdma_read(ep: Endpoint as Ep, segments, cookie, remote: InPtr<RmrTriplet<F>>, flags: DAT_COMPLETION_FLAGS) {
        let remote = self::remote(remote, segments, RDMA, 5)?;
        ep.post(segments, cookie, completion_flags(flags), Transfer::Read, &remote).at(RDMA)
    }
}

post! {
    dat_ep_post_rdma_write(ep: Endpoint as Ep, segments, cookie, remote: InPtr<RmrTriplet<F>>, flags: DAT_COMPLETION_FLAGS) {
        let remote = self::remote(remote, segments, RDMA, 5)?;
        ep.post(segments, cookie, completion_flags(flags), Transfer::Write, &remote).at(RDMA)
    }
}

post! {
    dat_srq_post_recv(srq: Srq as Srq, segments, cookie) {
        srq.post_recv(segments, cookie).at(TRANSFER)
    }
}

#[inline(always)]
pub fn dat_evd_dequeue<F: Provider>(evd_handle: DAT_EVD_HANDLE, event: OutPtr<Event<F>>) -> DAT_RETURN {
    fast_path::<F, Evd<F::Transport>>(
        evd_handle,
        |evd| event.is_null() || evd.look(),
        |evd| take::<F>(evd, evd_handle, event),
        || dequeue_otherwise::<F>(evd_handle, event),
    )
}

#[inline(always)]
fn take<F: Provider>(evd: &Evd<F::Transport>, handle: DAT_EVD_HANDLE, event: OutPtr<Event<F>>) -> Answer<()> {
    let (out, handle) = (event.required(2)?, Handle(handle.addr()));
    let taken = evd.take(
        |completion| F::Version::completion(out, handle, completion, 0),
        |other| F::Version::event::<F>(out, handle, other),
    );
    taken.at(&[])
}

#[cold]
#[inline(never)]
fn dequeue_otherwise<F: Provider>(evd_handle: DAT_EVD_HANDLE, event: OutPtr<Event<F>>) -> DAT_RETURN {
    fast::<F>(|| {
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?;
        if event.is_null() || evd.look() {
            take::<F>(&evd, evd_handle, event)
        } else {
            Err(Fault::Core(Error::QueueEmpty))
        }
    })
}
