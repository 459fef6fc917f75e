//! Requests that not all API versions have: writes with immediate data, atomic operations, sends that revoke a window,
//! reads into a remote key.
//!
//! An API version without these operations has no events for them. So a post of the first three kinds fails if the
//! transport knows that the peer's API version lacks them ([`Transport::takes_extended`]).

use crate::ep::endpoint::Endpoint;
use crate::ep::requests::{Requests, Work};
use crate::error::{Access, Arg, Error, Result};
use crate::event::{CompletionFlags, Transfer};
use crate::lmr::Lmr;
use crate::lmr_table::{LocalSegment, SegmentList};
use crate::mem::Rights;
use crate::rmr::Rmr;
use crate::transport::{Change, Operation, RemoteSegment, Transport};

impl<T: Transport> Endpoint<T> {
    /// Posts an RDMA write with immediate data, possibly without segments. The write consumes a receive of the peer.
    ///
    /// # Errors
    /// [`Error::ModelNotSupported`] if the transport or the peer does not support the operation; errors of
    /// [`Endpoint::post`].
    pub fn post_write_immediate<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        to: RemoteSegment,
        value: u32,
        completion: CompletionFlags,
    ) -> Result<()> {
        if !self.ia.attributes().immediate {
            return Err(Error::ModelNotSupported);
        }
        let solicited = completion.contains(CompletionFlags::SOLICITED_WAIT);
        self.post_any(self.requests(), segments, cookie, completion, (Transfer::Write, true), |requests, total, _| {
            self.require_extended(requests)?;
            let len = requests.length(Transfer::Write, total, to.len)?;
            let operation = Operation::WriteImmediate { to, value, solicited };
            Ok((operation, Work::Transfer(Transfer::WriteImmediate, len), len))
        })
    }

    /// Posts an atomic operation on 8 bytes of the peer's memory. The only local segment receives the old value.
    ///
    /// # Errors
    /// * [`Error::ModelNotSupported`] if the transport or the peer does not support atomic operations
    /// * errors of [`Endpoint::post`]
    /// * [`Arg::SegmentCount`] unless there is one segment
    /// * [`Error::LengthError`] if the local or the remote segment is shorter than 8 bytes
    /// * [`Arg::Remote`] if the remote segment is misaligned
    pub fn post_atomic<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        remote: RemoteSegment,
        change: Change,
        completion: CompletionFlags,
    ) -> Result<()> {
        if !self.ia.attributes().atomics {
            return Err(Error::ModelNotSupported);
        }
        let RemoteSegment { addr, len, key } = remote;
        let kind = match change {
            Change::Add(_) => Transfer::FetchAdd,
            Change::Swap { .. } => Transfer::CompareSwap,
        };
        let count = segments.count();
        self.post_any(
            self.requests(),
            segments,
            cookie,
            completion,
            (Transfer::Read, false),
            |requests, total, checked| {
                self.require_extended(requests)?;
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
                let operation = Operation::Atomic { addr, key, change };
                Ok((operation, Work::Transfer(kind, Work::ATOMIC), Work::ATOMIC))
            },
        )
    }

    /// Posts a send that revokes the peer's RMR with the remote key `key` before the peer's receive completes.
    ///
    /// # Errors
    /// [`Error::ModelNotSupported`] if the transport or the peer does not support the operation; errors of
    /// [`Endpoint::post`].
    pub fn post_send_invalidate<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        key: u32,
        completion: CompletionFlags,
    ) -> Result<()> {
        if !self.ia.attributes().invalidate {
            return Err(Error::ModelNotSupported);
        }
        let solicited = completion.contains(CompletionFlags::SOLICITED_WAIT);
        self.post_any(self.requests(), segments, cookie, completion, (Transfer::Send, true), |requests, total, _| {
            self.require_extended(requests)?;
            let len = requests.length(Transfer::Send, total, 0)?;
            Ok((Operation::SendInvalidate { solicited, key }, Work::Transfer(Transfer::Send, len), len))
        })
    }

    /// Posts an RDMA read into the memory of an LMR or RMR of this adapter. The context of `local` is the remote key of
    /// this LMR or RMR.
    ///
    /// # Errors
    /// * [`Error::PrivilegesViolation`] for an unknown key, or without the right to write
    /// * [`Error::ProtectionViolation`] for another zone, or a key that only another connection can use
    /// * [`Arg::Segments`] for a range outside the LMR or RMR
    /// * errors of [`Endpoint::post`]
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

    /// Fails if the peer does not accept extended operations. Succeeds without a queue pair, because core then flushes
    /// the request.
    fn require_extended(&self, requests: &Requests<T>) -> Result<()> {
        let takes = requests.qp.as_deref().is_none_or(T::takes_extended);
        if takes { Ok(()) } else { Err(Error::ModelNotSupported) }
    }

    /// Replaces the remote key in a segment by the context of the key's LMR. If the key belongs to an RMR, also
    /// replaces the address by the address in the LMR.
    fn behind_key(&self, named: &LocalSegment) -> Result<LocalSegment> {
        let unknown = Error::PrivilegesViolation(Access::Write);
        let arena = self.ia.arena;
        let owner = self.ia.remote_keys.owner(named.context).ok_or(unknown)?;
        if let Some(lmr) = arena.get::<Lmr<T>>(owner) {
            return Ok(LocalSegment { context: lmr.context, ..*named });
        }
        let rmr = arena.get::<Rmr<T>>(owner).ok_or(unknown)?;
        let state = rmr.state();
        let bound = state.binding.as_ref().filter(|bound| bound.status.remote_key == named.context).ok_or(unknown)?;
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

    pub(super) fn forget_binding(&self, key: u32) {
        let rmr = self.ia.remote_keys.owner(key).and_then(|owner| self.ia.arena.get::<Rmr<T>>(owner));
        if let Some(rmr) = rmr {
            rmr.forget(|binding| binding.status.remote_key == key);
        }
    }
}
