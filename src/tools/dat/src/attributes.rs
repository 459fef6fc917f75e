//! Attributes of adapters and providers.

use std::mem::MaybeUninit;
use std::net::SocketAddr;

use dat_udat20::*;

use crate::abi::{Own, address, text};
use crate::library::string;
use crate::{Library, Result};

/// Defines a structure with the fields that the C structure `$c` has in both versions, and its conversions from both.
macro_rules! attributes {
    ($(#[$doc:meta])* $name:ident of $c:ident;
        String: $($text:ident)*; bool: $($flag:ident)*; $($type:ty: $($field:ident)*;)*) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        #[allow(missing_docs, reason = "dat_ia_query(3) describes the fields")]
        pub struct $name {
            $(pub $text: String,)*
            $(pub $flag: bool,)*
            $($(pub $field: $type,)*)*
        }

        attributes!(@from dat_udat12::$c, $name, [$($text)*] [$($flag)*] [$($($field)*)*]);
        attributes!(@from dat_udat20::$c, $name, [$($text)*] [$($flag)*] [$($($field)*)*]);
    };
    (@from $c:ty, $name:ident, [$($text:ident)*] [$($flag:ident)*] [$($field:ident)*]) => {
        impl From<&$c> for $name {
            fn from(all: &$c) -> Self {
                Self {
                    $($text: string(&all.$text).to_string_lossy().into_owned(),)*
                    $($flag: all.$flag != DAT_FALSE,)*
                    $($field: all.$field.into(),)*
                }
            }
        }
    };
}

attributes! {
    /// Attributes of an adapter.
    IaAttributes of DAT_IA_ATTR;
    String: adapter_name vendor_name;
    bool: max_rdma_read_per_ep_in_guaranteed max_rdma_read_per_ep_out_guaranteed;
    DAT_UINT32: hardware_version_major hardware_version_minor firmware_version_major firmware_version_minor;
    DAT_COUNT: max_eps max_dto_per_ep max_rdma_read_per_ep_in max_rdma_read_per_ep_out max_evds max_evd_qlen
        max_iov_segments_per_dto max_lmrs max_pzs max_rmrs max_srqs max_ep_per_srq max_recv_per_srq
        max_iov_segments_per_rdma_read max_iov_segments_per_rdma_write max_rdma_read_in max_rdma_read_out;
    DAT_VLEN: max_lmr_block_size max_lmr_virtual_address max_message_size max_rdma_size max_rmr_target_address;
}

attributes! {
    /// Attributes of a provider.
    ProviderAttributes of DAT_PROVIDER_ATTR;
    String: provider_name;
    bool: is_thread_safe supports_multipath srq_supported srq_ep_pz_difference_supported lmr_sync_req
        dto_async_return_guaranteed rdma_write_for_rdma_read_req;
    DAT_UINT32: provider_version_major provider_version_minor dapl_version_major dapl_version_minor
        optimal_buffer_alignment;
    DAT_MEM_TYPE: lmr_mem_types_supported;
    DAT_IOV_OWNERSHIP: iov_ownership_on_return;
    DAT_QOS: dat_qos_supported;
    DAT_COMPLETION_FLAGS: completion_flags_supported;
    DAT_EP_CREATOR_FOR_PSP: ep_creator;
    DAT_PZ_SUPPORT: pz_support;
    [[DAT_BOOLEAN; 6]; 6]: evd_stream_merging_supported;
    DAT_COUNT: max_private_data_size srq_watermarks_supported srq_info_supported ep_recv_info_supported;
}

/// Attributes that only uDAPL 2.0 has.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "dat_ia_query(3) describes the fields")]
pub struct Attributes20 {
    pub zb_supported: bool,
    pub extension_supported: DAT_EXTENSION,
    pub extension_version: DAT_COUNT,
    pub rdma_read_lmr_rmr_context_exposure: bool,
    pub rmr_scope_supported: DAT_RMR_SCOPE,
    pub is_signal_safe: bool,
    pub ha_supported: bool,
    pub ha_loadbalancing: DAT_HA_LB,
}

/// Attributes of an open adapter and of its provider.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    /// IP address of the adapter, if it has one.
    pub address: Option<SocketAddr>,
    /// Attributes of the transport: names and values.
    pub transport: Vec<(String, String)>,
    /// Attributes of the vendor.
    pub vendor: Vec<(String, String)>,
    /// Attributes that only this provider has.
    pub provider_specific: Vec<(String, String)>,
    /// Attributes of the adapter.
    pub ia: IaAttributes,
    /// Attributes of the provider.
    pub provider: ProviderAttributes,
    /// Attributes that uDAPL 1.2 lacks.
    pub v20: Option<Attributes20>,
}

macro_rules! query {
    ($library:ident, $ia:ident, $calls:ident, $udat:ident, |$adapter:ident, $provider:ident| $v20:expr) => {{
        let mut $adapter = Box::new(MaybeUninit::<$udat::DAT_IA_ATTR>::zeroed());
        let mut $provider = Box::new(MaybeUninit::<$udat::DAT_PROVIDER_ATTR>::zeroed());
        // SAFETY: the caller guarantees the adapter, both structures are local, and no dispatcher is requested.
        let code = unsafe {
            ($calls.dat_ia_query)(
                $ia,
                std::ptr::null_mut(),
                $udat::DAT_IA_FIELD_ALL,
                $adapter.as_mut_ptr(),
                $udat::DAT_PROVIDER_FIELD_ALL,
                $provider.as_mut_ptr(),
            )
        };
        $library.check("dat_ia_query", code)?;
        // SAFETY: numbers and pointers, which the call wrote or for which zeros are valid.
        let ($adapter, $provider) = unsafe { ($adapter.assume_init(), $provider.assume_init()) };
        // SAFETY: NULL, or pointers to memory that lives as long as the adapter is open.
        unsafe {
            Attributes {
                address: address($adapter.ia_address_ptr),
                transport: named($adapter.num_transport_attr, $adapter.transport_attr),
                vendor: named($adapter.num_vendor_attr, $adapter.vendor_attr),
                provider_specific: named($provider.num_provider_specific_attr, $provider.provider_specific_attr),
                ia: (&*$adapter).into(),
                provider: (&*$provider).into(),
                v20: $v20,
            }
        }
    }};
}

impl Attributes {
    /// Queries the attributes of an adapter.
    ///
    /// # Safety
    /// `ia` is an adapter that `library` has opened.
    pub(crate) unsafe fn query(library: Library, ia: DAT_IA_HANDLE) -> Result<Self> {
        Ok(match &library.calls().own {
            Own::V12(calls) => query!(library, ia, calls, dat_udat12, |adapter, provider| None),
            Own::V20(calls) => query!(library, ia, calls, dat_udat20, |adapter, provider| Some(Attributes20 {
                zb_supported: adapter.zb_supported != DAT_FALSE,
                extension_supported: adapter.extension_supported,
                extension_version: adapter.extension_version,
                rdma_read_lmr_rmr_context_exposure: provider.rdma_read_lmr_rmr_context_exposure != DAT_FALSE,
                rmr_scope_supported: provider.rmr_scope_supported,
                is_signal_safe: provider.is_signal_safe != DAT_FALSE,
                ha_supported: provider.ha_supported != DAT_FALSE,
                ha_loadbalancing: provider.ha_loadbalancing,
            })),
        })
    }
}

/// # Safety
/// `list` is null or has `count` elements, whose names and values are NULL or C strings.
unsafe fn named(count: DAT_COUNT, list: *const DAT_NAMED_ATTR) -> Vec<(String, String)> {
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller guarantees the elements.
    let list = unsafe { std::slice::from_raw_parts(list, usize::try_from(count).unwrap_or(0)) };
    // SAFETY: the caller guarantees the strings.
    list.iter().map(|attr| [attr.name, attr.value].map(|string| unsafe { text(string) }).into()).collect()
}
