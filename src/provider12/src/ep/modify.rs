//! Changing an endpoint. What may change when is in the table of the core,
//! [`dat_core::ep::modify::RULES`]; its bits are those of `DAT_EP_PARAM_MASK`.

use dat_core::Endpoint;
use dat_core::ep::modify::{Field, Value};
use dat_core::error::{Arg, Role};
use dat_face::guard::slow;
use dat_face::handle::{find, find_or_null};
use dat_face::ptr::{InPtr, read_field};
use dat_face::{At, Face, Fault};
use dat_udat12::{
    DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR, DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR, DAT_EP_HANDLE, DAT_EP_PARAM,
    DAT_EP_PARAM_MASK, DAT_EVD_HANDLE, DAT_PZ_HANDLE, DAT_RETURN,
};

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
    slow::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        let mask = u32::try_from(ep_param_mask).map_err(|_| Fault::Argument(2))?;
        if mask != 0 && ep_param.is_null() {
            return Err(Fault::Argument(3));
        }
        ep.modify(mask, |field| read_value::<F>(ep_param, ep_param_mask, field)).at(&[(Arg::Mask, 2), (Arg::Value, 3)])
    })
}

/// The new value of a field.
fn read_value<F: Face>(param: InPtr<DAT_EP_PARAM>, mask: DAT_EP_PARAM_MASK, field: Field) -> Value<F::Transport> {
    let pz = |handle: DAT_PZ_HANDLE| find_or_null::<F, _>(handle, Role::Pz).map_or(Value::Invalid, Value::Pz);
    let evd = |handle: DAT_EVD_HANDLE| find_or_null::<F, _>(handle, Role::Evd).map_or(Value::Invalid, Value::Evd);
    macro_rules! number {
        ($name:ident) => {
            read_field!(param, ep_attr.$name).map(|number| Value::Number(i64::from(number)))
        };
    }
    // A size that has no place in the number is above every limit.
    macro_rules! size {
        ($name:ident) => {
            read_field!(param, ep_attr.$name).map(|size| Value::Number(i64::try_from(size).unwrap_or(i64::MAX)))
        };
    }
    // There are no named attributes: a list of them must be NULL, or of no elements.
    macro_rules! list {
        ($name:ident, $count:ident, $count_bit:ident) => {
            read_field!(param, ep_attr.$name).map(|list| {
                let empty = list.is_null() || (mask & $count_bit != 0 && read_field!(param, ep_attr.$count) == Some(0));
                if empty { Value::Number(0) } else { Value::Invalid }
            })
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
        Field::Pz => read_field!(param, pz_handle).map(pz),
        Field::RecvEvd => read_field!(param, recv_evd_handle).map(evd),
        Field::RequestEvd => read_field!(param, request_evd_handle).map(evd),
        Field::ConnectEvd => read_field!(param, connect_evd_handle).map(evd),
        Field::ServiceType => number!(service_type),
        Field::MaxMessageSize => size!(max_message_size),
        Field::MaxRdmaSize => size!(max_rdma_size),
        Field::Qos => number!(qos),
        Field::RecvCompletionFlags => number!(recv_completion_flags),
        Field::RequestCompletionFlags => number!(request_completion_flags),
        Field::MaxRecvDtos => number!(max_recv_dtos),
        Field::MaxRequestDtos => number!(max_request_dtos),
        Field::MaxRecvIov => number!(max_recv_iov),
        Field::MaxRequestIov => number!(max_request_iov),
        Field::MaxRdmaReadIn => number!(max_rdma_read_in),
        Field::MaxRdmaReadOut => number!(max_rdma_read_out),
        Field::MaxRdmaReadIov => number!(max_rdma_read_iov),
        Field::MaxRdmaWriteIov => number!(max_rdma_write_iov),
        Field::TransportSpecificCount => number!(ep_transport_specific_count),
        Field::TransportSpecific => {
            list!(ep_transport_specific, ep_transport_specific_count, DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR)
        }
        Field::ProviderSpecificCount => number!(ep_provider_specific_count),
        Field::ProviderSpecific => {
            list!(ep_provider_specific, ep_provider_specific_count, DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR)
        }
    };
    value.unwrap_or(Value::Invalid)
}
