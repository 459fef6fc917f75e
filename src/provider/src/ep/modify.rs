//! Modification of endpoints. [`dat_core::ep::table::RULES`] defines which fields can change in which states.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use dat_core::Endpoint;
use dat_core::ep::table::{Field, RULES, Setting};
use dat_core::ep::{Changes, Value};
use dat_core::error::{Arg, Role};
use dat_udat::*;

use crate::call::making;
use crate::ep::{EpParam, attr};
use crate::handle::{find, find_or_null};
use crate::post::completion_flags;
use crate::ptr::InPtr;
use crate::{At, Fault, Provider, Version, counted};

pub fn dat_ep_modify<F: Provider>(
    ep_handle: DAT_EP_HANDLE,
    ep_param_mask: DAT_EP_PARAM_MASK,
    ep_param: InPtr<EpParam<F>>,
) -> DAT_RETURN {
    making::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        if u32::try_from(ep_param_mask).is_err() {
            return Err(Fault::Argument(2));
        }
        if ep_param_mask != 0 && ep_param.is_null() {
            return Err(Fault::Argument(3));
        }
        let named = || RULES.iter().filter(|rule| ep_param_mask & F::Version::ep_field(rule.field) != 0);
        if ep_param_mask & !F::Version::EP_FIELDS != 0 {
            return Err(Fault::Argument(2));
        }
        // Reads only fields that the mask names.
        let value = |field| F::Version::ep_value::<F>(&ep, field, ep_param_mask, ep_param);
        let changes: Changes<F::Transport> = named().map(|rule| (rule.field, value(rule.field))).collect();
        ep.modify(&changes).at(&[(Arg::Field, 2), (Arg::Value, 3)])
    })
}

/// A new value of a field of `DAT_EP_PARAM`; `None` if invalid.
type Given<F> = Option<Value<<F as Provider>::Transport>>;

/// Conversions of field values.
#[doc(hidden)]
pub mod given {
    use super::*;

    pub fn pz<F: Provider>(handle: DAT_PZ_HANDLE) -> Given<F> {
        find_or_null::<F, _>(handle, Role::Pz).ok().map(Value::Pz)
    }

    pub fn evd<F: Provider>(handle: DAT_EVD_HANDLE) -> Given<F> {
        find_or_null::<F, _>(handle, Role::Evd).ok().map(Value::Evd)
    }

    pub fn size<F: Provider>(size: impl Into<u64>) -> Given<F> {
        Some(Value::Setting(Setting::Size(size.into())))
    }

    pub fn qos<F: Provider>(qos: DAT_QOS) -> Given<F> {
        attr::qos(qos).map(|qos| Value::Setting(Setting::Qos(qos)))
    }

    pub fn flags<F: Provider>(flags: DAT_COMPLETION_FLAGS) -> Given<F> {
        Some(Value::Setting(Setting::Flags(completion_flags(flags))))
    }

    pub fn count<F: Provider>(count: DAT_COUNT) -> Given<F> {
        usize::try_from(count).ok().map(|count| Value::Setting(Setting::Count(count)))
    }

    /// Converts the number of receives, which is the hard high watermark of an endpoint with an SRQ.
    pub fn receives<F: Provider>(ep: &Endpoint<F::Transport>, number: DAT_COUNT) -> Given<F> {
        if ep.has_srq() { watermark::<F>(number) } else { count::<F>(number) }
    }

    pub fn watermark<F: Provider>(watermark: DAT_COUNT) -> Given<F> {
        attr::buffers(watermark).map(|value| Value::Setting(Setting::Watermark(value)))
    }

    /// Converts the number of transport attributes, which must be 0.
    pub fn none<F: Provider>(count: DAT_COUNT) -> Given<F> {
        fixed::<F>(count == 0)
    }

    /// Converts the list of transport attributes, which must be NULL or empty.
    pub fn empty<F: Provider>(count: Option<DAT_COUNT>, list: Option<*mut DAT_NAMED_ATTR>) -> Given<F> {
        list.and_then(|list| fixed::<F>(list.is_null() || count == Some(0)))
    }

    /// Converts the number of counters, their list, or both. The number 0, or a NULL list, hides the counters in
    /// queries. A list with a number above 0 is recognised by its elements; a list alone, or with the number 0, by its
    /// address.
    ///
    /// # Safety
    /// If both are given, `list` is NULL or has `count` elements.
    pub unsafe fn counters<F: Provider>(
        ep: &Endpoint<F::Transport>,
        field: Field,
        count: Option<DAT_COUNT>,
        list: Option<*mut DAT_NAMED_ATTR>,
    ) -> Given<F> {
        let reported = match (count, list) {
            (Some(0), Some(list)) => Some(field == Field::ProviderSpecific && counted::has_returned(ep, list)),
            (Some(0), None) => Some(false),
            // SAFETY: the caller promises `count` elements if both are given.
            (Some(count), Some(list)) => unsafe { counted::are_of_endpoint(count, list) }.then_some(true),
            (Some(count), None) => (count == counted::NUMBER_OF_ENDPOINT).then_some(true),
            (None, list) => match list? {
                list if list.is_null() => Some(false),
                list => counted::has_returned(ep, list).then_some(true),
            },
        };
        reported.map(|reported| Value::Setting(Setting::Counters(reported)))
    }

    fn fixed<F: Provider>(is_it: bool) -> Given<F> {
        is_it.then_some(Value::Setting(Setting::Fixed))
    }
}

/// Calls the macro `$callback` with the fields of an endpoint and their mask bits.
#[macro_export]
macro_rules! ep_fields {
    ($callback:path) => {
        $callback! {
            // Fields that a function of `given` converts, with this function and its argument.
            Pz: DAT_EP_FIELD_PZ_HANDLE, pz(pz_handle);
            RecvEvd: DAT_EP_FIELD_RECV_EVD_HANDLE, evd(recv_evd_handle);
            RequestEvd: DAT_EP_FIELD_REQUEST_EVD_HANDLE, evd(request_evd_handle);
            ConnectEvd: DAT_EP_FIELD_CONNECT_EVD_HANDLE, evd(connect_evd_handle);
            MaxMessageSize: DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, size(ep_attr.max_message_size);
            MaxRdmaSize: DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE, size(ep_attr.max_rdma_size);
            Qos: DAT_EP_FIELD_EP_ATTR_QOS, qos(ep_attr.qos);
            RecvCompletionFlags: DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, flags(ep_attr.recv_completion_flags);
            RequestCompletionFlags: DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS, flags(ep_attr.request_completion_flags);
            MaxRequestDtos: DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, count(ep_attr.max_request_dtos);
            MaxRecvIov: DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, count(ep_attr.max_recv_iov);
            MaxRequestIov: DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV, count(ep_attr.max_request_iov);
            MaxRdmaReadIn: DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, count(ep_attr.max_rdma_read_in);
            MaxRdmaReadOut: DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, count(ep_attr.max_rdma_read_out);
            SrqSoftHighWatermark: DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW, watermark(ep_attr.srq_soft_hw);
            MaxRdmaReadIov: DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV, count(ep_attr.max_rdma_read_iov);
            MaxRdmaWriteIov: DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV, count(ep_attr.max_rdma_write_iov);
            TransportSpecificCount: DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR, none(ep_attr.ep_transport_specific_count);
            // Fields that `ep_value` converts without this table, and fields that dat_ep_modify always rejects.
            ;
            ServiceType: DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE,
            MaxRecvDtos: DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,
            TransportSpecific: DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR,
            ProviderSpecificCount: DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR,
            ProviderSpecific: DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR,
            Comm: DAT_EP_FIELD_COMM,
            Ia: DAT_EP_FIELD_IA_HANDLE,
            State: DAT_EP_FIELD_EP_STATE,
            LocalAddress: DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR,
            LocalPort: DAT_EP_FIELD_LOCAL_PORT_QUAL,
            RemoteAddress: DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR,
            RemotePort: DAT_EP_FIELD_REMOTE_PORT_QUAL,
            Srq: DAT_EP_FIELD_SRQ_HANDLE,
        }
    };
}

/// Callback of [`ep_fields!`](crate::ep_fields): defines [`Version::ep_field`] and [`Version::ep_value`] of the version
/// in scope, with its functions `comm`, which reads the socket parameters, and `datagrams`, which converts the service.
#[macro_export]
macro_rules! ep_methods {
    ($($plain:ident: $plain_bit:ident, $given:ident($($path:tt)*);)* ; $($other:ident: $other_bit:ident,)*) => {
        fn ep_value<F: $crate::Provider<Version = Self>>(
            ep: &dat_core::Endpoint<F::Transport>,
            field: dat_core::ep::table::Field,
            mask: DAT_EP_PARAM_MASK,
            param: $crate::ptr::InPtr<DAT_EP_PARAM>,
        ) -> dat_core::ep::Value<F::Transport> {
            use dat_core::ep::Value;
            use dat_core::ep::table::{Field, Setting};
            use $crate::ep::modify::given;
            use $crate::ptr::read_field;

            // Reads a field if the mask contains its bit.
            macro_rules! named {
                ($bit:ident, $part:ident) => {
                    if mask & $bit != 0 { read_field!(param, ep_attr.$part) } else { None }
                };
            }
            let value = match field {
                $(Field::$plain => read_field!(param, $($path)*).and_then(given::$given::<F>),)*
                Field::ServiceType => read_field!(param, ep_attr.service_type)
                    .and_then(datagrams)
                    .map(|datagrams| Value::Setting(Setting::Datagrams(datagrams))),
                Field::MaxRecvDtos => {
                    read_field!(param, ep_attr.max_recv_dtos).and_then(|number| given::receives::<F>(ep, number))
                }
                Field::TransportSpecific => given::empty::<F>(
                    named!(DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR, ep_transport_specific_count),
                    read_field!(param, ep_attr.ep_transport_specific),
                ),
                Field::ProviderSpecificCount | Field::ProviderSpecific => {
                    let count = named!(DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR, ep_provider_specific_count);
                    let list = named!(DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR, ep_provider_specific);
                    // SAFETY: a program that sets both bits promises a list of this length.
                    unsafe { given::counters::<F>(ep, field, count, list) }
                }
                Field::Comm => comm(param).map(Value::Comm),
                _ => None,
            };
            value.unwrap_or(Value::Invalid)
        }

        fn ep_field(field: dat_core::ep::table::Field) -> DAT_EP_PARAM_MASK {
            use dat_core::ep::table::Field;

            match field {
                $(Field::$plain => $plain_bit,)*
                $(Field::$other => $other_bit,)*
            }
        }
    };
}
