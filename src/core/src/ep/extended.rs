//! Requests and receives that not every version of the interface has: writes that bring a value, atomic operations, sends that
//! revoke a window of the peer, reads into what a key for peers names. None of them is on the fast path.
//!
//! A version without them has no event for such a transfer. So each end of a connection learns whether the other one
//! takes them, if the transport can say it (`Hooks::takes_extended`), and otherwise refuses to post them.

use crate::ep::endpoint::Endpoint;
use crate::ep::requests::{Requests, Work};
use crate::error::{Access, Arg, Error, Result};
use crate::event::{CompletionFlags, Extended, Transfer};
use crate::lmr::Lmr;
use crate::lmr_table::{LocalSegment, SegmentList};
use crate::mem::Rights;
use crate::rmr::Rmr;
use crate::transport::{Change, Operation, RemoteSegment, Transport};

impl<T: Transport> Endpoint<T> {
    /// Posts an RDMA write that takes a receive of the peer behind it, for which it brings `value`. Without segments nothing is
    /// written.
    ///
    /// # Errors
    /// [`Error::ModelNotSupported`] where the transport has no such writes, or the peer does not take them; those of
    /// [`Endpoint::post_write`].
    pub fn post_write_immediate<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        to: RemoteSegment,
        value: u32,
        completion: CompletionFlags,
    ) -> Result<()> {
        if !self.ia.transport.attributes().immediate {
            return Err(Error::ModelNotSupported);
        }
        let solicited = completion.contains(CompletionFlags::SOLICITED_WAIT);
        self.post_any(self.requests(), segments, cookie, completion, (Transfer::Write, true), |requests, total, _| {
            self.check_peer(requests)?;
            let len = requests.length(Transfer::Write, total, to.len)?;
            Ok((Operation::WriteImmediate { to, value, solicited }, Work::Extended(Extended::WriteImmediate, len), len))
        })
    }

    /// Posts an atomic operation on eight bytes of the peer's memory. What they were before goes into the only segment.
    ///
    /// # Errors
    /// [`Error::ModelNotSupported`] where the transport has no such operations, or the peer does not take them; those of
    /// [`Endpoint::post_read`]; [`Arg::SegmentCount`] unless there is one segment, [`Error::LengthError`] if it or the remote one
    /// has less than eight bytes, [`Arg::Remote`] if the remote one is not aligned.
    pub fn post_atomic<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        remote: RemoteSegment,
        change: Change,
        completion: CompletionFlags,
    ) -> Result<()> {
        if !self.ia.transport.attributes().atomics {
            return Err(Error::ModelNotSupported);
        }
        let RemoteSegment { addr, len, key } = remote;
        let kind = match change {
            Change::Add(_) => Extended::FetchAdd,
            Change::Swap { .. } => Extended::CompareSwap,
        };
        let count = segments.count();
        self.post_any(
            self.requests(),
            segments,
            cookie,
            completion,
            (Transfer::Read, false),
            |requests, total, checked| {
                self.check_peer(requests)?;
                if count != 1 {
                    return Err(Error::InvalidParameter(Arg::SegmentCount));
                }
                if addr % Work::ATOMIC != 0 {
                    return Err(Error::InvalidParameter(Arg::Remote));
                }
                match checked.as_mut_slice() {
                    [old] if total >= Work::ATOMIC && len >= Work::ATOMIC => old.len = Work::ATOMIC,
                    _ => return Err(Error::LengthError),
                }
                Ok((Operation::Atomic { addr, key, change }, Work::Extended(kind, Work::ATOMIC), Work::ATOMIC))
            },
        )
    }

    /// Posts a send that revokes the peer's remote memory region of this key before its receive completes.
    ///
    /// # Errors
    /// [`Error::ModelNotSupported`] where the transport has no such sends, or the peer does not take them; those of
    /// [`Endpoint::post_send`].
    pub fn post_send_invalidate<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        key: u32,
        completion: CompletionFlags,
    ) -> Result<()> {
        if !self.ia.transport.attributes().invalidate {
            return Err(Error::ModelNotSupported);
        }
        let solicited = completion.contains(CompletionFlags::SOLICITED_WAIT);
        self.post_any(self.requests(), segments, cookie, completion, (Transfer::Send, true), |requests, total, _| {
            self.check_peer(requests)?;
            let len = requests.length(Transfer::Send, total, 0)?;
            Ok((Operation::SendInvalidate { solicited, key }, Work::Transfer(Transfer::Send, len), len))
        })
    }

    /// Posts an RDMA read into the memory that a key for peers names, of a local region or of a remote memory region that is
    /// bound: `local` has that key for a context.
    ///
    /// # Errors
    /// [`Error::PrivilegesViolation`] for an unknown key, or memory that must not be written; [`Error::ProtectionViolation`] for
    /// that of another zone, or for another connection alone; [`Arg::Segments`] for a range outside; those of
    /// [`Endpoint::post_read`].
    pub fn post_read_to_rmr(
        &self,
        local: LocalSegment,
        cookie: u64,
        remote: RemoteSegment,
        completion: CompletionFlags,
    ) -> Result<()> {
        let requests = self.requests();
        let (most, _) = requests.needs(Transfer::Read);
        requests.zone_for(completion, false, most == 0)?;
        let local = if local.len == 0 { local } else { self.behind_key(&local)? };
        self.post_any(requests, &[local], cookie, completion, (Transfer::Read, false), |requests, total, _| {
            let len = requests.length(Transfer::Read, total, remote.len)?;
            Ok((Operation::Read(remote), Work::Transfer(Transfer::Read, len), len))
        })
    }

    /// Checks that the peer takes extended operations, as long as there is one.
    fn check_peer(&self, requests: &Requests<T>) -> Result<()> {
        let takes = requests.qp.as_ref().is_none_or(|qp| self.ia.transport.takes_extended(qp));
        if takes { Ok(()) } else { Err(Error::ModelNotSupported) }
    }

    /// The segment of a local region that a segment with a key for peers stands for.
    fn behind_key(&self, named: &LocalSegment) -> Result<LocalSegment> {
        let unknown = Error::PrivilegesViolation(Access::Write);
        let slab = self.ia.slab;
        let owner = self.ia.remote_keys.owner(named.context).ok_or(unknown)?;
        if let Some(lmr) = slab.get::<Lmr<T>>(owner) {
            return Ok(LocalSegment { context: lmr.context, ..*named });
        }
        let rmr = slab.get::<Rmr<T>>(owner).ok_or(unknown)?;
        let binding = rmr.binding();
        let bound = binding.as_ref().filter(|bound| bound.status.remote_key == named.context).ok_or(unknown)?;
        if bound.only.is_some_and(|only| only != self.header.handle()) {
            return Err(Error::ProtectionViolation(Access::Write));
        }
        if !bound.status.rights.contains(Rights::REMOTE_WRITE) {
            return Err(unknown);
        }
        let offset = named.addr.wrapping_sub(bound.first());
        let LocalSegment { context, addr, len } = bound.status.segment;
        if offset.checked_add(named.len).is_none_or(|end| end > len) {
            return Err(Error::InvalidParameter(Arg::Segments));
        }
        Ok(LocalSegment { context, addr: addr + offset, len: named.len })
    }

    /// Forgets the binding of the remote memory region with this key for peers.
    pub(super) fn forget_binding(&self, key: u32) {
        let rmr = self.ia.remote_keys.owner(key).and_then(|owner| self.ia.slab.get::<Rmr<T>>(owner));
        if let Some(rmr) = rmr {
            rmr.forget(|binding| binding.status.remote_key == key);
        }
    }
}
