//! The fast slots: posting and dequeuing.
//!
//! Nothing here allocates, formats or makes a system call. Nothing that a program passes makes it panic: the core asks for
//! segments within the count that it has checked, and an assertion, behind which a pointer is read, holds it to that.

use dat_core::error::{Arg, Error, Role};
use dat_core::transport::{MAX_SEGMENTS, RemoteSegment};
use dat_core::{CompletionFlags, Endpoint, Evd, Handle, LocalSegment, SegmentList, Srq};
use dat_udat::*;

use crate::call::{fast, polling, quickly};
use crate::evd::Event;
use crate::handle::find;
use crate::ptr::{InPtr, OutPtr};
use crate::{Answer, At, Fault, Positions, Provider, Version};

/// A segment of registered memory in the form of a face.
pub(crate) type LmrTriplet<F> = <<F as Provider>::Version as Version>::LmrTriplet;
/// A segment of a peer's memory in the form of a face.
type RmrTriplet<F> = <<F as Provider>::Version as Version>::RmrTriplet;

/// The positions of the arguments of a send or receive.
pub const TRANSFER: Positions = &[(Arg::SegmentCount, 2), (Arg::Segments, 3), (Arg::Flags, 5)];
/// The positions of the arguments of an RDMA operation.
const RDMA: Positions = &[(Arg::SegmentCount, 2), (Arg::Segments, 3), (Arg::Flags, 6)];

// The core has the bits of the interface, so that flags need no translation.
const _: () = {
    assert!(CompletionFlags::DEFAULT.bits() == DAT_COMPLETION_DEFAULT_FLAG);
    assert!(CompletionFlags::SUPPRESS.bits() == DAT_COMPLETION_SUPPRESS_FLAG);
    assert!(CompletionFlags::SOLICITED_WAIT.bits() == DAT_COMPLETION_SOLICITED_WAIT_FLAG);
    assert!(CompletionFlags::UNSIGNALLED.bits() == DAT_COMPLETION_UNSIGNALLED_FLAG);
    assert!(CompletionFlags::BARRIER_FENCE.bits() == DAT_COMPLETION_BARRIER_FENCE_FLAG);
    assert!(CompletionFlags::EVD_THRESHOLD.bits() == DAT_COMPLETION_EVD_THRESHOLD_FLAG);
};

/// Completion flags in the terms of the core, which refuses bits that are no flags.
#[inline(always)]
pub fn completion_flags(flags: DAT_COMPLETION_FLAGS) -> CompletionFlags {
    CompletionFlags::from_bits_retain(flags)
}

/// The segments of a post, in the program's memory.
pub struct Segments<V: Version> {
    count: usize,
    list: *const V::LmrTriplet,
}

impl<V: Version> Segments<V> {
    /// The `count` segments of a post.
    ///
    /// # Safety
    /// During the call `list` must be NULL, or `count` triplets there can be read.
    #[inline(always)]
    pub unsafe fn new(count: DAT_COUNT, list: *const V::LmrTriplet) -> Self {
        // A negative count is above any limit then.
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
        // SAFETY: `at` is below the count, and `new` was promised that many if the list is not NULL.
        V::local_segment(&unsafe { self.list.add(at).read_unaligned() })
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

/// The bits of a cookie or context.
#[inline]
pub fn word(context: DAT_CONTEXT) -> u64 {
    // SAFETY: all members are 8 bytes, of which any value is a number.
    unsafe { context.as_64 }
}

/// The remote segment of an RDMA operation, its argument at `position`, which is looked at behind the `local` ones.
///
/// # Errors
/// The fault of the local segments, or of an argument that is NULL.
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

/// Defines the slot of a post to the object behind its first argument; the segments and the cookie are the next ones. Each has
/// two functions: one for objects that can be entered in the quickest way, and another one, so that the first one keeps few
/// values at a time.
macro_rules! post {
    (
        $name:ident($object:ident: $type:ident as $role:ident, $segments:ident, $cookie:ident $(,
            $argument:ident: $argument_type:ty)*) $body:block
    ) => {
        #[doc = concat!("Slot of ", stringify!($name), ".")]
        ///
        /// # Safety
        /// `local_iov` is NULL or has that many elements.
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
                // SAFETY: the caller's promise.
                let $segments = &unsafe { Segments::<F::Version>::new(num_segments, local_iov) };
                let $cookie = word(user_cookie);
                $body
            }

            // In the form of C, the arguments stay in the registers in which they came.
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
                    // SAFETY: the arguments are passed on as they came.
                    unsafe { body::<F>(&held, num_segments, local_iov, user_cookie $(, $argument)*) }
                })
            }

            quickly::<F, $type<F::Transport>>(
                handle,
                |_| true,
                // SAFETY: the arguments are passed on as they came.
                move |held| unsafe { body::<F>(held, num_segments, local_iov, user_cookie $(, $argument)*) },
                // SAFETY: the arguments are passed on as they came.
                move || unsafe { otherwise::<F>(handle, num_segments, local_iov, user_cookie $(, $argument)*) },
            )
        }
    };
}

post! {
    dat_ep_post_send(ep: Endpoint as Ep, segments, cookie, flags: DAT_COMPLETION_FLAGS) {
        ep.post_send(segments, cookie, completion_flags(flags)).at(TRANSFER)
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
        ep.post_read(segments, cookie, remote, completion_flags(flags)).at(RDMA)
    }
}

post! {
    dat_ep_post_rdma_write(ep: Endpoint as Ep, segments, cookie, remote: InPtr<RmrTriplet<F>>, flags: DAT_COMPLETION_FLAGS) {
        let remote = self::remote(remote, segments, RDMA, 5)?;
        ep.post_write(segments, cookie, remote, completion_flags(flags)).at(RDMA)
    }
}

post! {
    dat_srq_post_recv(srq: Srq as Srq, segments, cookie) {
        srq.post_recv(segments, cookie).at(TRANSFER)
    }
}

/// Slot of dat_evd_dequeue.
#[inline(always)]
pub fn dat_evd_dequeue<F: Provider>(evd_handle: DAT_EVD_HANDLE, event: OutPtr<Event<F>>) -> DAT_RETURN {
    quickly::<F, Evd<F::Transport>>(
        evd_handle,
        |evd| event.is_null() || evd.look(),
        |evd| take::<F>(evd, evd_handle, event),
        || dequeue_otherwise::<F>(evd_handle, event),
    )
}

/// Writes the next event of a dispatcher.
#[inline(always)]
fn take<F: Provider>(evd: &Evd<F::Transport>, handle: DAT_EVD_HANDLE, event: OutPtr<Event<F>>) -> Answer<()> {
    let (out, handle) = (event.required(2)?, Handle(handle.addr()));
    let taken = evd.take(
        |completion| F::Version::completion(out, handle, completion),
        |other| F::Version::event::<F>(out, handle, other),
    );
    taken.at(&[])
}

/// Does what the slot does where the dispatcher cannot be entered in the quickest way.
#[cold]
#[inline(never)]
fn dequeue_otherwise<F: Provider>(evd_handle: DAT_EVD_HANDLE, event: OutPtr<Event<F>>) -> DAT_RETURN {
    polling::<F>(|| {
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?;
        if event.is_null() || evd.look() {
            take::<F>(&evd, evd_handle, event)
        } else {
            Err(Fault::Core(Error::QueueEmpty))
        }
    })
}
