//! Binds over an endpoint's connection, and bindings that only this connection can use.

use std::sync::Arc;

use host::memory::Room;

use crate::arena::{Handle, Object};
use crate::ep::endpoint::Endpoint;
use crate::ep::requests::{InFlight, Requests, Work};
use crate::error::{Access, Arg, Error, Result, Role};
use crate::event::CompletionFlags;
use crate::ia::Ia;
use crate::lmr::Lmr;
use crate::lmr_table::LocalSegment;
use crate::mem::{Base, Rights};
use crate::rmr::{Binding, Rmr, RmrState, RmrStatus};
use crate::transport::{BindTarget, Operation, RemoteSegment, Request, Scope, Transport, Windows};
use crate::users::Use;

impl<T: Transport> Endpoint<T> {
    /// Posts a bind of `rmr` to a part of `lmr`, or an unbind for length 0. `base` specifies whether the peers'
    /// addresses start at 0. Returns the remote key for peers; 0 for an unbind, or if the endpoint is disconnected,
    /// which flushes the bind.
    ///
    /// # Errors
    /// * [`Error::ModelNotSupported`] for [`Base::Zero`] if the transport does not support it
    /// * [`crate::error::StateError::Endpoint`] unless connected or disconnected
    /// * [`crate::error::StateError::EndpointNotReady`] without a zone
    /// * [`Arg::Flags`]
    /// * [`Arg::Segments`] without a region, for a freed region, or for a range outside the region
    /// * [`Error::ProtectionViolation`] unless region, window and endpoint have the same zone
    /// * [`Error::PrivilegesViolation`] for a remote right without the local one
    /// * [`Arg::Endpoint`] if `rmr` is bound only for the connection of a different endpoint
    /// * [`Error::InsufficientResources`]
    #[allow(clippy::too_many_arguments)] // the arguments of the call
    pub fn post_bind(
        &self,
        rmr: &Rmr<T>,
        lmr: Option<&Arc<Lmr<T>>>,
        segment: LocalSegment,
        rights: Rights,
        base: Base,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<u32> {
        let target = lmr.filter(|_| segment.len > 0);
        if target.is_some() && base == Base::Zero && !self.ia.attributes().zero_based {
            return Err(Error::ModelNotSupported);
        }
        let mut requests = self.requests();
        let zone = requests.zone_for(completion, false, false)?;
        if rmr.zone != zone {
            return Err(Error::ProtectionViolation(Access::RemoteRead));
        }
        let offset = match target {
            Some(lmr) => check_bind(lmr, &segment, zone, rights)?,
            None if segment.len > 0 => return Err(Error::InvalidParameter(Arg::Segments)),
            None => 0,
        };
        let ep = self.header.handle();
        self.check_only(&rmr.state())?;
        let work = Work::Bind(rmr.header().handle());
        if !self.make_room(&mut requests)? {
            self.flush(&requests, cookie, completion, work);
            return Ok(0);
        }
        let only = (rmr.scope == Scope::Endpoint).then_some(ep);
        if only.is_some() && target.is_some() {
            requests.note_window(&self.ia, ep, rmr)?;
        }
        let Requests { qp: Some(qp), tx, flight, .. } = &mut *requests else { return Err(requests.state.into()) };
        let Some((id, place)) = flight.next_place() else { return Err(Error::NO_MEMORY) };
        // The use `bound` keeps the region registered. The RMR's `state` stays locked until it describes the new range.
        let bound = target.map(|lmr| Use::of(lmr).ok_or(Error::InvalidParameter(Arg::Segments))).transpose()?;
        let region = target.map(|lmr| lmr.region().ok_or(Error::InvalidParameter(Arg::Segments))).transpose()?;
        let mut state = rmr.state();
        self.check_only(&state)?;
        let window = state.window.clone().ok_or(Error::InvalidHandle(Role::Rmr))?;
        let bind = region.as_ref().zip(target).map(|(region, lmr)| BindTarget {
            region: &**region,
            addr: lmr.start + offset,
            len: segment.len,
            rights,
            first: base.first(segment.addr),
        });
        let fence = completion.contains(CompletionFlags::BARRIER_FENCE);
        let signalled = !completion.contains(CompletionFlags::SUPPRESS);
        let operation = Operation::Write(RemoteSegment::default());
        let request = Request { id, operation, segments: &[], len: 0, fence, signalled };
        let (key, mark) = window.post_bind(&self.ia.transport, (qp, tx), &request, bind.as_ref())?;
        // Dropped while the use still exists. A later drop could be the last one, and deregister the region instead of
        // the LMR's free.
        drop(region);
        place.fill(InFlight { mark, cookie, flags: completion, work });
        work.show_posted(ep, cookie);
        let status = RmrStatus { segment, rights, base, remote_key: key };
        let bound = bound.map(|lmr| Binding { lmr, status, only });
        let before = rmr.rebind(&mut state, bound);
        drop(state);
        drop(requests);
        window.await_rebind(&self.ia.transport);
        // `before` contains the use of the previous LMR, which the program can free only after `await_rebind`.
        drop(before);
        Ok(key)
    }

    fn check_only(&self, rmr: &RmrState<T>) -> Result<()> {
        match rmr.binding.as_ref().and_then(|binding| binding.only) {
            Some(only) if only != self.header.handle() => Err(Error::InvalidParameter(Arg::Endpoint)),
            _ => Ok(()),
        }
    }
}

impl<T: Transport> Requests<T> {
    /// Records that `rmr` is being bound for the connection of `ep` only. The end of this connection unbinds it.
    pub fn note_window(&mut self, ia: &Ia<T>, ep: Handle, rmr: &Rmr<T>) -> Result<()> {
        if rmr.is_bound_over(ep) {
            return Ok(());
        }
        if self.windows.len() == self.windows.capacity() {
            self.windows.retain(|&noted| ia.arena.get::<Rmr<T>>(noted).is_some_and(|rmr| rmr.is_bound_over(ep)));
            self.windows.room(1)?;
        }
        self.windows.push(rmr.header().handle());
        Ok(())
    }

    pub fn forget_windows(&mut self, ia: &Ia<T>, ep: Handle) {
        for noted in self.windows.drain(..) {
            if let Some(rmr) = ia.arena.get::<Rmr<T>>(noted) {
                rmr.forget(|binding| binding.only == Some(ep));
            }
        }
    }
}

/// Checks a bind to `segment` of `lmr`. Returns the offset of the segment in the region.
fn check_bind<T: Transport>(lmr: &Lmr<T>, segment: &LocalSegment, zone: u32, rights: Rights) -> Result<u64> {
    let offset = segment.addr.wrapping_sub(lmr.addr());
    if offset.checked_add(segment.len).is_none_or(|end| end > lmr.len) {
        return Err(Error::InvalidParameter(Arg::Segments));
    }
    if lmr.pz().is_none_or(|pz| pz.id() != zone) {
        return Err(Error::ProtectionViolation(Access::RemoteRead));
    }
    if rights.contains(Rights::REMOTE_READ) && !lmr.rights.contains(Rights::LOCAL_READ) {
        return Err(Error::PrivilegesViolation(Access::RemoteRead));
    }
    let writes = rights.intersects(Rights::REMOTE_WRITE.union(Rights::REMOTE_ATOMIC));
    if writes && !lmr.rights.contains(Rights::LOCAL_WRITE) {
        return Err(Error::PrivilegesViolation(Access::RemoteWrite));
    }
    Ok(offset)
}
