//! Changing an endpoint. The table of the core, [`dat_core::ep::table::RULES`], says what may change when. The code
//! here decodes what the program asks for, and then calls the core once.

use dat_core::Endpoint;
use dat_core::ep::table::{Class, Field, RULES, Setting};
use dat_core::ep::{Changes, Value};
use dat_core::error::{Arg, Role};
use dat_face::call::making;
use dat_face::handle::{find, find_or_null};
use dat_face::ptr::{InPtr, read_field};
use dat_face::{At, Face, Fault};
use dat_udat12::*;

use crate::ep::attr::qos;
use crate::post::completion_flags;

/// Slot of dat_ep_modify.
///
/// # Safety
/// `ep_param` is NULL or readable.
pub unsafe extern "C" fn dat_ep_modify<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    ep_param_mask: DAT_EP_PARAM_MASK,
    ep_param: *const DAT_EP_PARAM,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let ep_param = unsafe { InPtr::new(ep_param) };
    making::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        if u32::try_from(ep_param_mask).is_err() {
            return Err(Fault::Argument(2));
        }
        if ep_param_mask != 0 && ep_param.is_null() {
            return Err(Fault::Argument(3));
        }
        let named = || RULES.iter().filter(|rule| ep_param_mask & bit(rule.field) != 0);
        if ep_param_mask & !DAT_EP_FIELD_ALL != 0 || named().any(|rule| rule.class == Class::Never) {
            return Err(Fault::Argument(2));
        }
        // The structure is read only now, and only where the mask says that it is filled.
        let changes: Changes<F::Transport> =
            named().map(|rule| (rule.field, value::<F>(rule.field, ep_param_mask, ep_param))).collect();
        ep.modify(&changes).at(&[(Arg::Field, 2), (Arg::Value, 3)])
    })
}

macro_rules! bits {
    ($($field:ident => $bit:ident,)*) => {
        /// The bit of a field in the parameter mask.
        fn bit(field: Field) -> DAT_EP_PARAM_MASK {
            match field {
                $(Field::$field => $bit,)*
            }
        }

        /// The name of that bit.
        #[cfg(test)]
        fn name(field: Field) -> &'static str {
            match field {
                $(Field::$field => stringify!($bit),)*
            }
        }
    };
}

bits! {
    Ia => DAT_EP_FIELD_IA_HANDLE,
    State => DAT_EP_FIELD_EP_STATE,
    LocalAddress => DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR,
    LocalPort => DAT_EP_FIELD_LOCAL_PORT_QUAL,
    RemoteAddress => DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR,
    RemotePort => DAT_EP_FIELD_REMOTE_PORT_QUAL,
    Pz => DAT_EP_FIELD_PZ_HANDLE,
    RecvEvd => DAT_EP_FIELD_RECV_EVD_HANDLE,
    RequestEvd => DAT_EP_FIELD_REQUEST_EVD_HANDLE,
    ConnectEvd => DAT_EP_FIELD_CONNECT_EVD_HANDLE,
    Srq => DAT_EP_FIELD_SRQ_HANDLE,
    ServiceType => DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE,
    MaxMessageSize => DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE,
    MaxRdmaSize => DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE,
    Qos => DAT_EP_FIELD_EP_ATTR_QOS,
    RecvCompletionFlags => DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS,
    RequestCompletionFlags => DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS,
    MaxRecvDtos => DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,
    MaxRequestDtos => DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
    MaxRecvIov => DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV,
    MaxRequestIov => DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV,
    MaxRdmaReadIn => DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN,
    MaxRdmaReadOut => DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT,
    SrqSoftHighWatermark => DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW,
    MaxRdmaReadIov => DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV,
    MaxRdmaWriteIov => DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV,
    TransportSpecificCount => DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR,
    TransportSpecific => DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR,
    ProviderSpecificCount => DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR,
    ProviderSpecific => DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR,
}

/// The new value of a field. Nothing else of the structure is read, except the number of elements of a list if the mask
/// names that too.
fn value<F: Face>(field: Field, mask: DAT_EP_PARAM_MASK, param: InPtr<DAT_EP_PARAM>) -> Value<F::Transport> {
    let pz = |handle: DAT_PZ_HANDLE| find_or_null::<F, _>(handle, Role::Pz).ok().map(Value::Pz);
    let evd = |handle: DAT_EVD_HANDLE| find_or_null::<F, _>(handle, Role::Evd).ok().map(Value::Evd);
    let fixed = |is_it: bool| is_it.then_some(Value::Setting(Setting::Fixed));
    let number = |number: DAT_COUNT| usize::try_from(number).ok().map(|count| Value::Setting(Setting::Count(count)));
    let flags = |flags| Some(Value::Setting(Setting::Flags(completion_flags(flags))));
    let size = |size| Some(Value::Setting(Setting::Size(size)));
    macro_rules! read {
        ($($name:ident).+) => {
            read_field!(param, $($name).+)
        };
    }
    // There are no named attributes: a list of them must be NULL or have no elements.
    macro_rules! list {
        ($name:ident, $count:ident, $count_bit:ident) => {
            read!(ep_attr.$name)
                .and_then(|list| fixed(list.is_null() || (mask & $count_bit != 0 && read!(ep_attr.$count) == Some(0))))
        };
    }
    let value = match field {
        Field::Ia
        | Field::State
        | Field::LocalAddress
        | Field::LocalPort
        | Field::RemoteAddress
        | Field::RemotePort
        | Field::Srq
        | Field::SrqSoftHighWatermark => None,
        Field::Pz => read!(pz_handle).and_then(pz),
        Field::RecvEvd => read!(recv_evd_handle).and_then(evd),
        Field::RequestEvd => read!(request_evd_handle).and_then(evd),
        Field::ConnectEvd => read!(connect_evd_handle).and_then(evd),
        Field::ServiceType => read!(ep_attr.service_type).and_then(|service| fixed(service == DAT_SERVICE_TYPE_RC)),
        Field::MaxMessageSize => read!(ep_attr.max_message_size).and_then(size),
        Field::MaxRdmaSize => read!(ep_attr.max_rdma_size).and_then(size),
        Field::Qos => read!(ep_attr.qos).and_then(qos).map(|qos| Value::Setting(Setting::Qos(qos))),
        Field::RecvCompletionFlags => read!(ep_attr.recv_completion_flags).and_then(flags),
        Field::RequestCompletionFlags => read!(ep_attr.request_completion_flags).and_then(flags),
        Field::MaxRecvDtos => read!(ep_attr.max_recv_dtos).and_then(number),
        Field::MaxRequestDtos => read!(ep_attr.max_request_dtos).and_then(number),
        Field::MaxRecvIov => read!(ep_attr.max_recv_iov).and_then(number),
        Field::MaxRequestIov => read!(ep_attr.max_request_iov).and_then(number),
        Field::MaxRdmaReadIn => read!(ep_attr.max_rdma_read_in).and_then(number),
        Field::MaxRdmaReadOut => read!(ep_attr.max_rdma_read_out).and_then(number),
        Field::MaxRdmaReadIov => read!(ep_attr.max_rdma_read_iov).and_then(number),
        Field::MaxRdmaWriteIov => read!(ep_attr.max_rdma_write_iov).and_then(number),
        Field::TransportSpecificCount => {
            read!(ep_attr.ep_transport_specific_count).and_then(|number| fixed(number == 0))
        }
        Field::TransportSpecific => {
            list!(ep_transport_specific, ep_transport_specific_count, DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR)
        }
        Field::ProviderSpecificCount => read!(ep_attr.ep_provider_specific_count).and_then(|number| fixed(number == 0)),
        Field::ProviderSpecific => {
            list!(ep_provider_specific, ep_provider_specific_count, DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR)
        }
    };
    value.unwrap_or(Value::Invalid)
}

#[cfg(test)]
mod tests {
    use dat_core::ep::State;
    use dat_core::ep::table::Rule;

    use super::*;

    #[test]
    fn every_field_of_an_endpoint_has_a_mask_bit_of_its_own() {
        let mut seen = 0;
        for rule in RULES {
            let bit = bit(rule.field);
            assert_eq!(bit.count_ones(), 1, "{:?}", rule.field);
            assert_eq!(seen & bit, 0, "{:?}", rule.field);
            seen |= bit;
        }
        assert_eq!(seen, DAT_EP_FIELD_ALL);
        assert_eq!(seen, 0x7fff_f7ff);
    }
    /// The row of a field in the manual page: `A` for a state in which it may be modified, `S` for one that refuses it,
    /// `P` throughout if the mask is wrong.
    fn row(rule: &Rule) -> String {
        let letter = |state| match rule.class {
            Class::Never => " P",
            class if class.admits(state) => " A",
            _ => " S",
        };
        State::ALL.into_iter().fold(name(rule.field).to_owned(), |row, state| row + letter(state))
    }

    #[test]
    fn the_manual_page_has_the_table() {
        let page = include_str!("../../../../docs/man/dat_ep_modify.3");
        let rows = page.lines().filter_map(|line| line.strip_prefix(".EpRow "));
        // The C name of the field is between the bit and the states.
        let rows: Vec<String> = rows
            .map(|row| row.split(' ').enumerate().filter(|(at, _)| *at != 1).map(|(_, word)| word).collect::<Vec<_>>())
            .map(|words| words.join(" "))
            .collect();
        assert_eq!(rows, RULES.each_ref().map(row));
    }
}
