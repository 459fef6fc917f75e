//! Modification of endpoint parameters, by the rules of [`super::table`].

use std::sync::Arc;

use arrayvec::ArrayVec;

use crate::addr::Comm;
use crate::ep::attr::EpAttributes;
use crate::ep::endpoint::{Control, Endpoint};
use crate::ep::receives::Receives;
use crate::ep::requests::Requests;
use crate::ep::table::{Against, Check, Class, Field, Purpose, RULES, Rule, Setting};
use crate::ep_state::EpState;
use crate::error::{Arg, Error, Result, StateError};
use crate::evd::Evd;
use crate::pz::Pz;
use crate::transport::Transport;
use crate::users::Use;

/// The new value of a field.
pub enum Value<T: Transport> {
    /// A value that is not a handle.
    Setting(Setting),
    /// A protection zone, or none.
    Pz(Option<Arc<Pz<T>>>),
    /// An EVD, or none.
    Evd(Option<Arc<Evd<T>>>),
    /// A kind of socket.
    Comm(Comm),
    /// A handle of no object, or a value out of range.
    Invalid,
}

/// The fields to change, each once, and their new values.
pub type Changes<T> = ArrayVec<(Field, Value<T>), { RULES.len() }>;

const BAD_VALUE: Error = Error::InvalidParameter(Arg::Value);

struct Draft<T: Transport> {
    attr: EpAttributes,
    pz: Option<Option<Use<Pz<T>>>>,
    recv_evd: Option<Option<Use<Evd<T>>>>,
    request_evd: Option<Option<Use<Evd<T>>>>,
    connect_evd: Option<Option<Use<Evd<T>>>>,
    comm: Comm,
}

impl<T: Transport> Endpoint<T> {
    /// Changes all fields of `changes`, or none. If the state allows a change of a field, the present value is always
    /// valid. If outstanding receives or requests get a new limit above 0, they need an EVD, except on the endpoint of
    /// a connection request. Posted receives must fit the new limits.
    ///
    /// # Errors
    /// In this order:
    /// * [`Arg::Field`] for a field that cannot be selected
    /// * [`Error::InvalidHandle`] if another thread frees the endpoint
    /// * [`Arg::Field`] for a new value of a constant field
    /// * [`StateError::Endpoint`] if the state does not admit a field
    /// * [`StateError::ReceivesPosted`] for new receive completion flags while receives are posted
    /// * [`Arg::Value`] for an invalid value, [`Error::CommNotSupported`] for an unsupported kind of socket
    /// * [`Error::InsufficientResources`]
    pub fn modify(&self, changes: &[(Field, Value<T>)]) -> Result<()> {
        if changes.iter().any(|(field, _)| field.rule().class == Class::Never) {
            return Err(Error::InvalidParameter(Arg::Field));
        }
        // Declared before the guards, so that it is dropped without a lock: this may drop an EVD of another adapter.
        let _replaced;
        let mut control = self.live()?;
        let is_present = |control: &Control<T>, change: &(Field, Value<T>)| match *change {
            (field, Value::Setting(setting)) => control.attr.get(field, self.srq.is_some()) == Some(setting),
            (Field::Comm, Value::Comm(comm)) => control.comm == comm,
            _ => false,
        };
        let is_constant = |field: &Field| field.rule().class == Class::Constant;
        if changes.iter().any(|change| is_constant(&change.0) && !is_present(&control, change)) {
            return Err(Error::InvalidParameter(Arg::Field));
        }
        if changes.iter().any(|(field, _)| !field.rule().class.admits(control.state)) {
            return Err(control.state.into());
        }
        // A present value is no change, even if it would be invalid as a new value.
        let changes: ArrayVec<_, { RULES.len() }> =
            changes.iter().filter(|change| !is_present(&control, change)).collect();
        let changed = |wanted| changes.iter().any(|(field, _)| *field == wanted);
        let mut requests = self.requests();
        let mut receives = self.receives.lock();
        let posted = receives.buffers();
        if changed(Field::RecvCompletionFlags) && posted > 0 {
            return Err(Error::InvalidState(StateError::ReceivesPosted));
        }

        let mut draft = Draft {
            attr: control.attr,
            pz: None,
            recv_evd: None,
            request_evd: None,
            connect_evd: None,
            comm: control.comm,
        };
        for (field, value) in &changes {
            self.draft(&mut draft, field.rule(), value)?;
        }
        let has_recv = draft.recv_evd.as_ref().map_or(receives.evd.is_some(), Option::is_some);
        let has_request = draft.request_evd.as_ref().map_or(requests.evd.is_some(), Option::is_some);
        // A tentative endpoint starts without EVDs. The accept checks that the program has set them.
        let tentative = matches!(control.state, EpState::TentativeConnectionPending);
        let lacks_recv = changed(Field::MaxRecvDtos) && draft.attr.max_recv_dtos > 0 && !has_recv;
        let lacks_request = changed(Field::MaxRequestDtos) && draft.attr.max_request_dtos > 0 && !has_request;
        // Posted receives need an EVD.
        let lost = !has_recv && posted > 0;
        let widest = receives.early.iter().map(|early| early.segments.len()).max().unwrap_or(0);
        let too_few = changed(Field::MaxRecvDtos) && draft.attr.max_recv_dtos < posted;
        let too_narrow = changed(Field::MaxRecvIov) && draft.attr.max_recv_iov < widest;
        if !tentative && (lacks_recv || lacks_request) || lost || too_few || too_narrow {
            return Err(BAD_VALUE);
        }
        _replaced = self.put_in_place(&mut control, &mut requests, &mut receives, draft)?;
        Ok(())
    }

    fn draft(&self, draft: &mut Draft<T>, rule: &Rule, value: &Value<T>) -> Result<()> {
        match (rule.check, value) {
            (Check::Zone, Value::Pz(pz)) => {
                let serves = |pz: &Arc<Pz<T>>| self.srq.as_ref().is_none_or(|srq| srq.serves(pz));
                if pz.as_ref().is_some_and(|pz| !Arc::ptr_eq(pz.ia(), &self.ia) || !serves(pz)) {
                    return Err(BAD_VALUE);
                }
                draft.pz = Some(pz.as_ref().map(|pz| Use::of(pz).ok_or(BAD_VALUE)).transpose()?);
            }
            (Check::Evd(stream), Value::Evd(evd)) => {
                let ours = |evd: &Arc<Evd<T>>| rule.field == Field::ConnectEvd || Arc::ptr_eq(evd.ia(), &self.ia);
                let fits = |evd: &Arc<Evd<T>>| ours(evd) && evd.streams.contains(stream);
                if evd.as_ref().is_some_and(|evd| !fits(evd)) {
                    return Err(BAD_VALUE);
                }
                let used = evd.as_ref().map(|evd| Use::of(evd).ok_or(BAD_VALUE)).transpose()?;
                match rule.field {
                    Field::RecvEvd => draft.recv_evd = Some(used),
                    Field::RequestEvd => draft.request_evd = Some(used),
                    _ => draft.connect_evd = Some(used),
                }
            }
            (Check::Comm, &Value::Comm(comm)) => {
                if !comm.is_unset() {
                    comm.check()?;
                }
                draft.comm = comm;
            }
            (check, &Value::Setting(setting)) => {
                let limits = self.ia.attributes();
                let against = Against { limits, srq: self.srq.is_some(), purpose: Purpose::Modify };
                let too_long = matches!(setting, Setting::Size(size) if size > limits.fabric.mtu as u64);
                let not_for_datagrams = rule.field == Field::MaxMessageSize && too_long;
                if !check.admits(setting, &against) || (draft.attr.datagrams && not_for_datagrams) {
                    return Err(BAD_VALUE);
                }
                draft.attr.set(rule.field, setting);
            }
            _ => return Err(BAD_VALUE),
        }
        Ok(())
    }

    /// Applies `draft`, or changes nothing after an error. Returns the replaced EVD of connection events.
    fn put_in_place(
        &self,
        control: &mut Control<T>,
        requests: &mut Requests<T>,
        receives: &mut Receives<T>,
        draft: Draft<T>,
    ) -> Result<Option<Use<Evd<T>>>> {
        let before = std::mem::replace(&mut control.attr, draft.attr);
        let old_feeds = (receives.feed, requests.feed);
        // Only this call can fail, for lack of memory. So far only the attributes have changed, so it suffices to
        // restore them.
        self.configure(control, requests, receives).inspect_err(|_| control.attr = before)?;
        control.comm = draft.comm;
        // Each EVD counts the streams that feed it: moves the endpoint's streams from the old EVDs to the new ones.
        if let Some(evd) = &receives.evd {
            evd.remove_feed(old_feeds.0, false);
        }
        if let Some(evd) = &requests.evd {
            evd.remove_feed(old_feeds.1, true);
        }
        if let Some(evd) = draft.recv_evd {
            receives.evd = evd;
        }
        if let Some(evd) = draft.request_evd {
            requests.evd = evd;
        }
        let replaced = draft.connect_evd.and_then(|evd| std::mem::replace(&mut control.connect_evd, evd));
        if let Some(evd) = &receives.evd {
            evd.add_feed(receives.feed, false);
        }
        if let Some(evd) = &requests.evd {
            evd.add_feed(requests.feed, true);
        }
        if let Some(pz) = draft.pz {
            let zone = pz.as_ref().map(|pz| pz.id());
            control.pz = pz;
            requests.zone = zone;
            receives.zone = zone;
            self.recheck_early(receives);
        }
        Ok(replaced)
    }
}
