//! Changing an endpoint. The table of the core, [`dat_core::ep::table::RULES`], says what may change when. The code
//! here decodes what the program asks for, and then calls the core once.

use dat_core::Endpoint;
use dat_core::ep::Changes;
use dat_core::ep::table::{Class, RULES};
use dat_core::error::{Arg, Role};
use dat_udat::{DAT_EP_HANDLE, DAT_EP_PARAM_MASK, DAT_RETURN};

use crate::call::making;
use crate::ep::EpParam;
use crate::handle::find;
use crate::ptr::InPtr;
use crate::{At, Face, Fault, Version};

/// Slot of dat_ep_modify.
///
/// # Safety
/// `ep_param` is NULL or readable.
pub unsafe extern "C" fn dat_ep_modify<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    ep_param_mask: DAT_EP_PARAM_MASK,
    ep_param: *const EpParam<F>,
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
        let named = || RULES.iter().filter(|rule| ep_param_mask & F::Version::ep_field(rule.field) != 0);
        if ep_param_mask & !F::Version::EP_FIELDS != 0 || named().any(|rule| rule.class == Class::Never) {
            return Err(Fault::Argument(2));
        }
        // The structure is read only now, and only where the mask says that it is filled.
        let value = |field| F::Version::ep_value::<F>(&ep, field, ep_param_mask, ep_param);
        let changes: Changes<F::Transport> = named().map(|rule| (rule.field, value(rule.field))).collect();
        ep.modify(&changes).at(&[(Arg::Field, 2), (Arg::Value, 3)])
    })
}

/// Defines the functions `field`, which gives the bit of a field in the mask of dat_ep_modify, and `value`, which reads
/// its new value from a `DAT_EP_PARAM`, for the version that is in scope. There is also a function `comm` there, which reads the
/// kind of socket of an endpoint from that, if the version has it.
#[macro_export]
macro_rules! ep_fields {
    () => {
        use $crate::core::ep::table::Field;

        $crate::ep_fields! { @bits
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
            Comm => DAT_EP_FIELD_COMM,
        }

        /// The new value of a field of `ep`. Nothing else of the structure is read, except the number of elements of a list
        /// if the mask names that too.
        pub(crate) fn value<F: $crate::Face>(
            ep: &$crate::core::Endpoint<F::Transport>,
            field: Field,
            mask: DAT_EP_PARAM_MASK,
            param: $crate::ptr::InPtr<DAT_EP_PARAM>,
        ) -> $crate::core::ep::Value<F::Transport> {
            use $crate::core::ep::Value;
            use $crate::core::ep::table::Setting;
            use $crate::core::error::Role;
            use $crate::ep::attr::qos;
            use $crate::handle::find_or_null;
            use $crate::ptr::read_field;
            use $crate::post::completion_flags;

            let pz = |handle: DAT_PZ_HANDLE| find_or_null::<F, _>(handle, Role::Pz).ok().map(Value::Pz);
            let evd = |handle: DAT_EVD_HANDLE| find_or_null::<F, _>(handle, Role::Evd).ok().map(Value::Evd);
            let fixed = |is_it: bool| is_it.then_some(Value::Setting(Setting::Fixed));
            let number =
                |number: DAT_COUNT| usize::try_from(number).ok().map(|count| Value::Setting(Setting::Count(count)));
            let flags = |flags| Some(Value::Setting(Setting::Flags(completion_flags(flags))));
            let size = |size| Some(Value::Setting(Setting::Size(size)));
            // The named attributes of the provider are the counters, which are told or not, as the number of elements or the
            // list says. One of both is there. Elements are looked at if both are; a list alone is known by its address.
            let counters = |count: Option<DAT_COUNT>, list: Option<*mut DAT_NAMED_ATTR>| {
                let told = match (count, list) {
                    (Some(0), _) => Some(false),
                    // SAFETY: a program that names number and list promises as many elements.
                    (Some(count), Some(list)) => unsafe { $crate::counted::are_of_endpoint(count, list) }.then_some(true),
                    (Some(count), None) => (count == $crate::counted::NUMBER_OF_ENDPOINT).then_some(true),
                    (None, list) => match list? {
                        list if list.is_null() => Some(false),
                        list => $crate::counted::has_told(ep, list).then_some(true),
                    },
                };
                told.map(|told| Value::Setting(Setting::Counters(told)))
            };
            // There are none of the transport: a list of them must be NULL or have no elements.
            let list = |list: Option<*mut DAT_NAMED_ATTR>, empty| list.and_then(|list| fixed(list.is_null() || empty));
            let value = match field {
                Field::Ia
                | Field::State
                | Field::LocalAddress
                | Field::LocalPort
                | Field::RemoteAddress
                | Field::RemotePort
                | Field::Srq
                | Field::SrqSoftHighWatermark => None,
                Field::Pz => read_field!(param, pz_handle).and_then(pz),
                Field::RecvEvd => read_field!(param, recv_evd_handle).and_then(evd),
                Field::RequestEvd => read_field!(param, request_evd_handle).and_then(evd),
                Field::ConnectEvd => read_field!(param, connect_evd_handle).and_then(evd),
                Field::ServiceType => {
                    read_field!(param, ep_attr.service_type).and_then(|service| fixed(service == DAT_SERVICE_TYPE_RC))
                }
                Field::MaxMessageSize => {
                    read_field!(param, ep_attr.max_message_size).and_then(|bytes| size(bytes.into()))
                }
                Field::MaxRdmaSize => read_field!(param, ep_attr.max_rdma_size).and_then(|bytes| size(bytes.into())),
                Field::Qos => {
                    read_field!(param, ep_attr.qos).and_then(qos).map(|qos| Value::Setting(Setting::Qos(qos)))
                }
                Field::RecvCompletionFlags => read_field!(param, ep_attr.recv_completion_flags).and_then(flags),
                Field::RequestCompletionFlags => read_field!(param, ep_attr.request_completion_flags).and_then(flags),
                Field::MaxRecvDtos => read_field!(param, ep_attr.max_recv_dtos).and_then(number),
                Field::MaxRequestDtos => read_field!(param, ep_attr.max_request_dtos).and_then(number),
                Field::MaxRecvIov => read_field!(param, ep_attr.max_recv_iov).and_then(number),
                Field::MaxRequestIov => read_field!(param, ep_attr.max_request_iov).and_then(number),
                Field::MaxRdmaReadIn => read_field!(param, ep_attr.max_rdma_read_in).and_then(number),
                Field::MaxRdmaReadOut => read_field!(param, ep_attr.max_rdma_read_out).and_then(number),
                Field::MaxRdmaReadIov => read_field!(param, ep_attr.max_rdma_read_iov).and_then(number),
                Field::MaxRdmaWriteIov => read_field!(param, ep_attr.max_rdma_write_iov).and_then(number),
                Field::TransportSpecificCount => {
                    read_field!(param, ep_attr.ep_transport_specific_count).and_then(|number| fixed(number == 0))
                }
                Field::TransportSpecific => {
                    let none = mask & DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR != 0
                        && read_field!(param, ep_attr.ep_transport_specific_count) == Some(0);
                    list(read_field!(param, ep_attr.ep_transport_specific), none)
                }
                Field::ProviderSpecificCount => {
                    let listed = mask & DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR != 0;
                    let list = if listed { read_field!(param, ep_attr.ep_provider_specific) } else { None };
                    counters(read_field!(param, ep_attr.ep_provider_specific_count), list)
                }
                Field::ProviderSpecific => {
                    let counted = mask & DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR != 0;
                    let count = if counted { read_field!(param, ep_attr.ep_provider_specific_count) } else { None };
                    counters(count, read_field!(param, ep_attr.ep_provider_specific))
                }
                Field::Comm => comm(param).map(Value::Comm),
            };
            value.unwrap_or(Value::Invalid)
        }
    };
    (@bits $($field:ident => $bit:ident,)*) => {
        /// The bit of a field in the parameter mask.
        pub(crate) fn field(field: Field) -> DAT_EP_PARAM_MASK {
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
