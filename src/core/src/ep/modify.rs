//! Changing the parameters of an endpoint (uDAPL 1.2, dat_ep_modify).
//!
//! [`RULES`] is the whole of it: which field may change in which states. The code, the
//! manual page and the tests follow that table.

use std::sync::Arc;

use crate::ep::attr::{check_count, check_recv_flags, check_request_flags};
use crate::ep::{Endpoint, EpAttributes, State};
use crate::error::{Arg, Error, Refusal, Result};
use crate::evd::{Evd, Streams};
use crate::pz::Pz;
use crate::transport::{AdapterAttributes, Transport};
use crate::users::Use;

/// The parameters of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are those of the specification's parameters
pub enum Field {
    Ia,
    State,
    LocalAddress,
    LocalPort,
    RemoteAddress,
    RemotePort,
    Pz,
    RecvEvd,
    RequestEvd,
    ConnectEvd,
    Srq,
    ServiceType,
    MaxMessageSize,
    MaxRdmaSize,
    Qos,
    RecvCompletionFlags,
    RequestCompletionFlags,
    MaxRecvDtos,
    MaxRequestDtos,
    MaxRecvIov,
    MaxRequestIov,
    MaxRdmaReadIn,
    MaxRdmaReadOut,
    SrqSoftHighWatermark,
    MaxRdmaReadIov,
    MaxRdmaWriteIov,
    TransportSpecificCount,
    TransportSpecific,
    ProviderSpecificCount,
    ProviderSpecific,
}

/// When a field may be modified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Never, in no state.
    Never,
    /// In the quiescent states: unconnected and tentative connection pending.
    Quiescent,
    /// Until a connection is asked for or accepted.
    BeforeConnection,
    /// When unconnected.
    Unconnected,
}

impl Class {
    /// Whether a field of this class may be modified in `state`.
    pub fn admits(self, state: State) -> bool {
        use State::*;
        match self {
            Class::Never => false,
            Class::Quiescent => matches!(state, Unconnected | TentativeConnectionPending),
            Class::BeforeConnection => {
                matches!(state, Unconnected | Reserved | PassiveConnectionPending | TentativeConnectionPending)
            }
            Class::Unconnected => state == Unconnected,
        }
    }
}

/// What a new value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// There is no valid one.
    None,
    /// A protection zone of the same adapter, or none.
    Zone,
    /// A dispatcher of the same adapter that admits this stream, or none.
    Evd(Streams),
    /// Reliable connected.
    ServiceType,
    /// At most the adapter's largest message.
    MessageSize,
    /// At most the adapter's largest RDMA transfer.
    RdmaSize,
    /// A quality of service that is offered.
    Qos,
    /// Receive completion flags, before a receive was posted.
    RecvFlags,
    /// Request completion flags.
    RequestFlags,
    /// A count from the lower limit to that of the adapter.
    Count(Limit),
    /// Nothing: there are no such attributes.
    Empty,
}

/// The limit of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after the fields they limit
pub enum Limit {
    RecvDtos,
    RequestDtos,
    RecvIov,
    RequestIov,
    ReadIn,
    ReadOut,
    ReadIov,
    WriteIov,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The field.
    pub field: Field,
    /// Its bit in the parameter mask of uDAPL 1.2.
    pub bit: u32,
    /// When it may be modified.
    pub class: Class,
    /// What a new value must be.
    pub check: Check,
}

const fn rule(field: Field, bit: u32, class: Class, check: Check) -> Rule {
    Rule { field, bit, class, check }
}

/// Field, mask bit, class and value check of every parameter.
pub const RULES: [Rule; 30] = {
    use Class::*;
    [
        rule(Field::Ia, 0x0000_0001, Never, Check::None),
        rule(Field::State, 0x0000_0002, Never, Check::None),
        rule(Field::LocalAddress, 0x0000_0004, Never, Check::None),
        rule(Field::LocalPort, 0x0000_0008, Never, Check::None),
        rule(Field::RemoteAddress, 0x0000_0010, Never, Check::None),
        rule(Field::RemotePort, 0x0000_0020, Never, Check::None),
        rule(Field::Pz, 0x0000_0040, Quiescent, Check::Zone),
        rule(Field::RecvEvd, 0x0000_0080, BeforeConnection, Check::Evd(Streams::TRANSFERS)),
        rule(Field::RequestEvd, 0x0000_0100, BeforeConnection, Check::Evd(Streams::TRANSFERS)),
        rule(Field::ConnectEvd, 0x0000_0200, BeforeConnection, Check::Evd(Streams::CONNECTIONS)),
        rule(Field::Srq, 0x0000_0400, Never, Check::None),
        rule(Field::ServiceType, 0x0000_1000, BeforeConnection, Check::ServiceType),
        rule(Field::MaxMessageSize, 0x0000_2000, BeforeConnection, Check::MessageSize),
        rule(Field::MaxRdmaSize, 0x0000_4000, BeforeConnection, Check::RdmaSize),
        rule(Field::Qos, 0x0000_8000, BeforeConnection, Check::Qos),
        rule(Field::RecvCompletionFlags, 0x0001_0000, BeforeConnection, Check::RecvFlags),
        rule(Field::RequestCompletionFlags, 0x0002_0000, BeforeConnection, Check::RequestFlags),
        rule(Field::MaxRecvDtos, 0x0004_0000, BeforeConnection, Check::Count(Limit::RecvDtos)),
        rule(Field::MaxRequestDtos, 0x0008_0000, BeforeConnection, Check::Count(Limit::RequestDtos)),
        rule(Field::MaxRecvIov, 0x0010_0000, BeforeConnection, Check::Count(Limit::RecvIov)),
        rule(Field::MaxRequestIov, 0x0020_0000, BeforeConnection, Check::Count(Limit::RequestIov)),
        rule(Field::MaxRdmaReadIn, 0x0040_0000, BeforeConnection, Check::Count(Limit::ReadIn)),
        rule(Field::MaxRdmaReadOut, 0x0080_0000, BeforeConnection, Check::Count(Limit::ReadOut)),
        rule(Field::SrqSoftHighWatermark, 0x0100_0000, Never, Check::None),
        rule(Field::MaxRdmaReadIov, 0x0200_0000, BeforeConnection, Check::Count(Limit::ReadIov)),
        rule(Field::MaxRdmaWriteIov, 0x0400_0000, BeforeConnection, Check::Count(Limit::WriteIov)),
        rule(Field::TransportSpecificCount, 0x0800_0000, Unconnected, Check::Empty),
        rule(Field::TransportSpecific, 0x1000_0000, Unconnected, Check::Empty),
        rule(Field::ProviderSpecificCount, 0x2000_0000, Unconnected, Check::Empty),
        rule(Field::ProviderSpecific, 0x4000_0000, Unconnected, Check::Empty),
    ]
};

/// A new value of a field, as far as the face could read it.
pub enum Value<T: Transport> {
    /// A number: a count, a size, flags.
    Number(i64),
    /// A protection zone, or none.
    Pz(Option<Arc<Pz<T>>>),
    /// A dispatcher, or none.
    Evd(Option<Arc<Evd<T>>>),
    /// No such object.
    Invalid,
}

/// The parts of an endpoint that a modify changes, before they are put in place.
struct Draft<T: Transport> {
    attr: EpAttributes,
    pz: Option<Option<Use<Pz<T>>>>,
    recv_evd: Option<Option<Use<Evd<T>>>>,
    request_evd: Option<Option<Use<Evd<T>>>>,
    connect_evd: Option<Option<Use<Evd<T>>>>,
    recv_dtos: bool,
    recv_iov: bool,
    request_dtos: bool,
}

impl<T: Transport> Endpoint<T> {
    /// Changes the fields whose bit is set in `mask`, all or none of them; `read` gives
    /// the new value of a field and is called for those alone.
    ///
    /// # Errors
    /// In this order: [`Arg::Mask`] for a bit of no field or of one that can never
    /// change; [`Refusal::Endpoint`] if the state does not admit one of them;
    /// [`Refusal::ReceivesPosted`] for the receive completion flags;
    /// [`Arg::Value`] for a value that is not valid.
    pub fn modify(&self, mask: u32, mut read: impl FnMut(Field) -> Value<T>) -> Result<()> {
        let known = RULES.iter().fold(0, |bits, rule| bits | rule.bit);
        let rules = || RULES.iter().filter(|rule| mask & rule.bit != 0);
        if mask & !known != 0 || rules().any(|rule| rule.class == Class::Never) {
            return Err(Error::InvalidParameter(Arg::Mask));
        }
        let mut control = self.control.lock();
        if rules().any(|rule| !rule.class.admits(control.state)) {
            return Err(control.state.refusal());
        }
        let mut requests = self.requests.lock();
        let mut receives = self.receives.lock();
        if rules().any(|rule| rule.check == Check::RecvFlags) && !receives.posted.is_empty() {
            return Err(Error::InvalidState(Refusal::ReceivesPosted));
        }

        let limits = self.ia.transport().attributes();
        let mut draft = Draft {
            attr: control.attr,
            pz: None,
            recv_evd: None,
            request_evd: None,
            connect_evd: None,
            recv_dtos: false,
            recv_iov: false,
            request_dtos: false,
        };
        for rule in rules() {
            self.draft(&mut draft, rule, read(rule.field), limits)?;
        }
        let bad = Error::InvalidParameter(Arg::Value);
        let has_recv = draft.recv_evd.as_ref().map_or(receives.evd.is_some(), Option::is_some);
        let has_request = draft.request_evd.as_ref().map_or(requests.evd.is_some(), Option::is_some);
        // A tentative endpoint begins without dispatchers; accepting it asks for them.
        let tentative = control.state == State::TentativeConnectionPending;
        if !tentative && draft.recv_dtos && draft.attr.max_recv_dtos > 0 && !has_recv {
            return Err(bad);
        }
        if !tentative && draft.request_dtos && draft.attr.max_request_dtos > 0 && !has_request {
            return Err(bad);
        }
        // What is posted has to complete somewhere.
        if !has_recv && !receives.posted.is_empty() {
            return Err(bad);
        }
        let widest = receives.early.iter().map(|early| early.segments.len()).max().unwrap_or(0);
        let fits = |limit: i32, count: usize| usize::try_from(limit).is_ok_and(|limit| count <= limit);
        if draft.recv_dtos && !fits(draft.attr.max_recv_dtos, receives.posted.len())
            || draft.recv_iov && !fits(draft.attr.max_recv_iov, widest)
        {
            return Err(bad);
        }

        let before = std::mem::replace(&mut control.attr, draft.attr);
        let old_feeds = (receives.feed, requests.feed);
        if let Err(error) = self.apply_attributes(&mut control, &mut requests, &mut receives, draft.pz) {
            control.attr = before;
            return Err(error);
        }
        // Streams are counted anew on the dispatchers that they feed from now on.
        if let Some(evd) = &receives.evd {
            evd.remove_feed(old_feeds.0);
        }
        if let Some(evd) = &requests.evd {
            evd.remove_feed(old_feeds.1);
        }
        if let Some(evd) = draft.recv_evd {
            receives.evd = evd;
        }
        if let Some(evd) = draft.request_evd {
            requests.evd = evd;
        }
        if let Some(evd) = draft.connect_evd {
            control.connect_evd = evd;
        }
        if let Some(evd) = &receives.evd {
            evd.add_feed(receives.feed);
        }
        if let Some(evd) = &requests.evd {
            evd.add_feed(requests.feed);
        }
        if mask & bit(Field::Pz) != 0 {
            self.recheck_early(&mut receives);
        }
        Ok(())
    }

    fn apply_attributes(
        &self,
        control: &mut super::Control<T>,
        requests: &mut super::Requests<T>,
        receives: &mut super::Receives<T>,
        pz: Option<Option<Use<Pz<T>>>>,
    ) -> Result<()> {
        // The only thing that can fail is memory for receives, before the zone moves.
        self.configure(control, requests, receives)?;
        if let Some(pz) = pz {
            control.pz = pz;
            return self.configure(control, requests, receives);
        }
        Ok(())
    }

    fn draft(&self, draft: &mut Draft<T>, rule: &Rule, value: Value<T>, limits: &AdapterAttributes) -> Result<()> {
        let bad = Error::InvalidParameter(Arg::Value);
        match (rule.check, value) {
            (Check::Zone, Value::Pz(pz)) => {
                let foreign = pz.as_ref().is_some_and(|pz| !Arc::ptr_eq(pz.ia(), &self.ia));
                let used = pz.as_ref().map(|pz| Use::of(pz).ok_or(bad)).transpose()?;
                if foreign {
                    return Err(bad);
                }
                draft.pz = Some(used);
            }
            (Check::Evd(stream), Value::Evd(evd)) => {
                let fits = |evd: &Arc<Evd<T>>| Arc::ptr_eq(evd.ia(), &self.ia) && evd.streams().contains(stream);
                if evd.as_ref().is_some_and(|evd| !fits(evd)) {
                    return Err(bad);
                }
                let used = evd.as_ref().map(|evd| Use::of(evd).ok_or(bad)).transpose()?;
                match rule.field {
                    Field::RecvEvd => draft.recv_evd = Some(used),
                    Field::RequestEvd => draft.request_evd = Some(used),
                    _ => draft.connect_evd = Some(used),
                }
            }
            (_, Value::Number(number)) => self.draft_number(draft, rule, number, limits)?,
            _ => return Err(bad),
        }
        Ok(())
    }

    fn draft_number(&self, draft: &mut Draft<T>, rule: &Rule, number: i64, limits: &AdapterAttributes) -> Result<()> {
        let attr = &mut draft.attr;
        let flags = u32::try_from(number).unwrap_or(u32::MAX);
        let size = number as u64;
        let count = i32::try_from(number).unwrap_or(-1);
        let fits = match rule.check {
            Check::ServiceType => number == 0,
            Check::MessageSize => size <= limits.max_message,
            Check::RdmaSize => size <= limits.max_rdma,
            Check::Qos => number == 0,
            Check::RecvFlags => check_recv_flags(flags),
            Check::RequestFlags => check_request_flags(flags),
            Check::Count(limit) => self.count_fits(limit, count, limits),
            Check::Empty => number == 0,
            Check::None | Check::Zone | Check::Evd(_) => false,
        };
        if !fits {
            return Err(Error::InvalidParameter(Arg::Value));
        }
        match rule.field {
            Field::ServiceType => attr.service_type = flags,
            Field::MaxMessageSize => attr.max_message_size = size,
            Field::MaxRdmaSize => attr.max_rdma_size = size,
            Field::Qos => attr.qos = flags,
            Field::RecvCompletionFlags => attr.recv_completion_flags = flags,
            Field::RequestCompletionFlags => attr.request_completion_flags = flags,
            Field::MaxRecvDtos => {
                attr.max_recv_dtos = count;
                draft.recv_dtos = true;
            }
            Field::MaxRequestDtos => {
                attr.max_request_dtos = count;
                draft.request_dtos = true;
            }
            Field::MaxRecvIov => {
                attr.max_recv_iov = count;
                draft.recv_iov = true;
            }
            Field::MaxRequestIov => attr.max_request_iov = count,
            Field::MaxRdmaReadIn => attr.max_rdma_read_in = count,
            Field::MaxRdmaReadOut => attr.max_rdma_read_out = count,
            Field::MaxRdmaReadIov => attr.max_rdma_read_iov = count,
            Field::MaxRdmaWriteIov => attr.max_rdma_write_iov = count,
            // There are no named attributes, so their number stays 0.
            _ => {}
        }
        Ok(())
    }

    fn count_fits(&self, limit: Limit, count: i32, limits: &AdapterAttributes) -> bool {
        match limit {
            Limit::RecvDtos => self.srq.is_none() && check_count(count, 0, limits.max_dto_per_ep),
            Limit::RequestDtos => check_count(count, 0, limits.max_dto_per_ep),
            Limit::RecvIov => self.srq.is_none() && check_count(count, 1, limits.max_segments),
            Limit::RequestIov => check_count(count, 1, limits.max_segments),
            Limit::ReadIn => check_count(count, 0, limits.max_rdma_read_per_ep_in),
            Limit::ReadOut => check_count(count, 0, limits.max_rdma_read_per_ep_out),
            Limit::ReadIov => check_count(count, 0, limits.max_segments_read),
            Limit::WriteIov => check_count(count, 0, limits.max_segments_write),
        }
    }
}

fn bit(field: Field) -> u32 {
    RULES.iter().find(|rule| rule.field == field).map_or(0, |rule| rule.bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_one_row_and_every_row_one_bit() {
        let mut seen = 0;
        for (at, rule) in RULES.iter().enumerate() {
            assert_eq!(rule.bit.count_ones(), 1);
            assert_eq!(seen & rule.bit, 0);
            seen |= rule.bit;
            assert!(RULES[at + 1..].iter().all(|other| other.field != rule.field));
        }
        assert_eq!(seen, 0x7fff_f7ff);
    }

    #[test]
    fn classes_admit_the_states_of_the_specification() {
        let row = |class: Class| State::ALL.map(|state| if class.admits(state) { 'A' } else { 'S' });
        let text = |class| row(class).into_iter().collect::<String>();
        // UNC RES PCP ACP TCP CMP CON DSP DIS
        assert_eq!(text(Class::Quiescent), "ASSSASSSS");
        assert_eq!(text(Class::BeforeConnection), "AAASASSSS");
        assert_eq!(text(Class::Unconnected), "ASSSSSSSS");
        assert_eq!(text(Class::Never), "SSSSSSSSS");
    }
}
