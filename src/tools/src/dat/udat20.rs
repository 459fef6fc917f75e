//! libdat2.so.2 by the functions of uDAPL 1.2.
//!
//! The tools are written against one form of the interface, that of 1.2. The functions here have that form and call those
//! of uDAPL 2.0 of the same name, for the few whose arguments differ; the others are the library's own. A process has at
//! most one library of 2.0.

use std::mem::MaybeUninit;
use std::sync::OnceLock;

use dat_udat12::*;
use dat_udat20 as udat20;
use libloading::os::unix;

use super::library::SlotType;

/// Makes [`Functions`] from the names of the functions, each with the type of its slot.
macro_rules! functions {
    ($($name:ident: $type:ident)*) => {
        /// The functions of the library, in their own form.
        struct Functions {
            $($name: <udat20::$type as SlotType>::Function,)*
        }

        /// Looks the functions up; those here call them from then on.
        ///
        /// # Errors
        /// The loader's, about the first that is missing.
        pub(super) fn look_up(library: &unix::Library) -> Result<(), libloading::Error> {
            // SAFETY: a library of uDAPL 2.0 has these functions with these types, which are its binary interface.
            let functions = unsafe {
                Functions { $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)* }
            };
            // Those of a library that was looked up before are as good: there is one.
            let _ = FUNCTIONS.set(functions);
            Ok(())
        }
    };
}

/// Calls a macro with what stands before, and the functions that differ between the versions, each with the type of its slot.
macro_rules! for_each_differing {
    ($callback:ident! { $($before:tt)* }) => {
        $callback! { $($before)*
            dat_cr_reject: DAT_CR_REJECT_FUNC
            dat_ep_create: DAT_EP_CREATE_FUNC
            dat_ep_create_with_srq: DAT_EP_CREATE_WITH_SRQ_FUNC
            dat_ep_post_rdma_read: DAT_EP_POST_RDMA_READ_FUNC
            dat_ep_post_rdma_write: DAT_EP_POST_RDMA_WRITE_FUNC
            dat_ep_post_recv: DAT_EP_POST_RECV_FUNC
            dat_ep_post_send: DAT_EP_POST_SEND_FUNC
            dat_evd_dequeue: DAT_EVD_DEQUEUE_FUNC
            dat_evd_wait: DAT_EVD_WAIT_FUNC
            dat_ia_query: DAT_IA_QUERY_FUNC
            dat_lmr_create: DAT_LMR_CREATE_FUNC
            dat_lmr_sync_rdma_read: DAT_LMR_SYNC_RDMA_READ_FUNC
            dat_lmr_sync_rdma_write: DAT_LMR_SYNC_RDMA_WRITE_FUNC
            dat_srq_post_recv: DAT_SRQ_POST_RECV_FUNC
        }
    };
}
pub(super) use for_each_differing;

for_each_differing!(functions! {});

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

#[inline(always)]
fn functions() -> &'static Functions {
    FUNCTIONS.get().expect("a library was looked up before its functions are called")
}

/// A length; adapters of uDAPL 2.0 offer none that does not fit.
#[inline(always)]
fn short(length: DAT_VLEN) -> udat20::DAT_SEG_LENGTH {
    udat20::DAT_SEG_LENGTH::try_from(length).unwrap_or(udat20::DAT_SEG_LENGTH::MAX)
}

#[inline(always)]
fn local(segment: &DAT_LMR_TRIPLET) -> udat20::DAT_LMR_TRIPLET {
    udat20::DAT_LMR_TRIPLET {
        virtual_address: segment.virtual_address,
        segment_length: short(segment.segment_length),
        lmr_context: segment.lmr_context,
    }
}

/// The segment of a post.
///
/// # Safety
/// The pointer leads to a segment. The tools post one at a time.
#[inline(always)]
unsafe fn segment(count: DAT_COUNT, iov: *const DAT_LMR_TRIPLET) -> udat20::DAT_LMR_TRIPLET {
    debug_assert_eq!(count, 1);
    // SAFETY: the caller's promise.
    local(unsafe { &*iov })
}

/// # Safety
/// As dat_cr_reject of uDAPL 1.2.
pub(super) unsafe extern "C" fn dat_cr_reject(cr: DAT_CR_HANDLE) -> DAT_RETURN {
    // SAFETY: the caller's promise; there is no private data.
    unsafe { (functions().dat_cr_reject)(cr, 0, std::ptr::null_mut()) }
}

fn ep_attr(attr: &DAT_EP_ATTR) -> udat20::DAT_EP_ATTR {
    udat20::DAT_EP_ATTR {
        service_type: attr.service_type,
        max_message_size: short(attr.max_message_size),
        max_rdma_size: short(attr.max_rdma_size),
        qos: attr.qos,
        recv_completion_flags: attr.recv_completion_flags,
        request_completion_flags: attr.request_completion_flags,
        max_recv_dtos: attr.max_recv_dtos,
        max_request_dtos: attr.max_request_dtos,
        max_recv_iov: attr.max_recv_iov,
        max_request_iov: attr.max_request_iov,
        max_rdma_read_in: attr.max_rdma_read_in,
        max_rdma_read_out: attr.max_rdma_read_out,
        srq_soft_hw: attr.srq_soft_hw,
        max_rdma_read_iov: attr.max_rdma_read_iov,
        max_rdma_write_iov: attr.max_rdma_write_iov,
        ep_transport_specific_count: 0,
        ep_transport_specific: std::ptr::null_mut(),
        ep_provider_specific_count: 0,
        ep_provider_specific: std::ptr::null_mut(),
    }
}

/// # Safety
/// As dat_ep_create of uDAPL 1.2; there are attributes.
pub(super) unsafe extern "C" fn dat_ep_create(
    ia: DAT_IA_HANDLE,
    pz: DAT_PZ_HANDLE,
    recv: DAT_EVD_HANDLE,
    request: DAT_EVD_HANDLE,
    connect: DAT_EVD_HANDLE,
    attr: *const DAT_EP_ATTR,
    ep: *mut DAT_EP_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    unsafe { (functions().dat_ep_create)(ia, pz, recv, request, connect, &mut ep_attr(&*attr), ep) }
}

/// # Safety
/// As dat_ep_create_with_srq of uDAPL 1.2; there are attributes.
pub(super) unsafe extern "C" fn dat_ep_create_with_srq(
    ia: DAT_IA_HANDLE,
    pz: DAT_PZ_HANDLE,
    recv: DAT_EVD_HANDLE,
    request: DAT_EVD_HANDLE,
    connect: DAT_EVD_HANDLE,
    srq: DAT_SRQ_HANDLE,
    attr: *const DAT_EP_ATTR,
    ep: *mut DAT_EP_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    unsafe { (functions().dat_ep_create_with_srq)(ia, pz, recv, request, connect, srq, &mut ep_attr(&*attr), ep) }
}

/// A post of one segment.
macro_rules! post {
    ($name:ident $(, $remote:ident)?) => {
        /// # Safety
        /// As the function of this name of uDAPL 1.2; there is one segment.
        pub(super) unsafe extern "C" fn $name(
            ep: DAT_EP_HANDLE,
            count: DAT_COUNT,
            iov: *mut DAT_LMR_TRIPLET,
            cookie: DAT_DTO_COOKIE,
            $($remote: *const DAT_RMR_TRIPLET,)?
            flags: DAT_COMPLETION_FLAGS,
        ) -> DAT_RETURN {
            // SAFETY: the caller's promise, here and for the target.
            unsafe {
                let mut iov = segment(count, iov);
                (functions().$name)(ep, 1, &mut iov, cookie, $(&target(&*$remote),)? flags)
            }
        }
    };
}

post!(dat_ep_post_recv);
post!(dat_ep_post_send);
post!(dat_ep_post_rdma_read, remote);
post!(dat_ep_post_rdma_write, remote);

#[inline(always)]
fn target(remote: &DAT_RMR_TRIPLET) -> udat20::DAT_RMR_TRIPLET {
    udat20::DAT_RMR_TRIPLET {
        virtual_address: remote.target_address,
        segment_length: short(remote.segment_length),
        rmr_context: remote.rmr_context,
    }
}

/// # Safety
/// As dat_srq_post_recv of uDAPL 1.2; there is one segment.
pub(super) unsafe extern "C" fn dat_srq_post_recv(
    srq: DAT_SRQ_HANDLE,
    count: DAT_COUNT,
    iov: *mut DAT_LMR_TRIPLET,
    cookie: DAT_DTO_COOKIE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    unsafe {
        let mut iov = segment(count, iov);
        (functions().dat_srq_post_recv)(srq, 1, &mut iov, cookie)
    }
}

/// # Safety
/// As dat_evd_dequeue of uDAPL 1.2.
pub(super) unsafe extern "C" fn dat_evd_dequeue(evd: DAT_EVD_HANDLE, place: *mut DAT_EVENT) -> DAT_RETURN {
    let mut event = MaybeUninit::<udat20::DAT_EVENT>::uninit();
    // SAFETY: the caller's promise; the event is written on success.
    unsafe {
        let code = (functions().dat_evd_dequeue)(evd, event.as_mut_ptr());
        if code == DAT_SUCCESS {
            give(&event, place);
        }
        code
    }
}

/// # Safety
/// As dat_evd_wait of uDAPL 1.2.
pub(super) unsafe extern "C-unwind" fn dat_evd_wait(
    evd: DAT_EVD_HANDLE,
    longest: DAT_TIMEOUT,
    threshold: DAT_COUNT,
    place: *mut DAT_EVENT,
    more: *mut DAT_COUNT,
) -> DAT_RETURN {
    let mut event = MaybeUninit::<udat20::DAT_EVENT>::uninit();
    // SAFETY: the caller's promise; the event is written on success.
    unsafe {
        let code = (functions().dat_evd_wait)(evd, longest, threshold, event.as_mut_ptr(), more);
        if code == DAT_SUCCESS {
            give(&event, place);
        }
        code
    }
}

/// Writes an event of uDAPL 2.0 in the form of 1.2.
///
/// # Safety
/// The library wrote the event, as far as its number asks for; the place is writable.
#[inline(always)]
unsafe fn give(event: &MaybeUninit<udat20::DAT_EVENT>, place: *mut DAT_EVENT) {
    let from = event.as_ptr();
    // SAFETY: the caller's promise. The number says which data there is.
    unsafe {
        let (number, data) = ((*from).event_number, &raw const (*from).event_data);
        (&raw mut (*place).event_number).write(number);
        (&raw mut (*place).evd_handle).write((*from).evd_handle);
        let event_data = match number {
            DAT_DTO_COMPLETION_EVENT => {
                let data = &(*data).dto_completion_event_data;
                let dto_completion_event_data = DAT_DTO_COMPLETION_EVENT_DATA {
                    ep_handle: data.ep_handle,
                    user_cookie: data.user_cookie,
                    status: data.status,
                    transfered_length: data.transfered_length.into(),
                };
                DAT_EVENT_DATA { dto_completion_event_data }
            }
            DAT_CONNECTION_REQUEST_EVENT => {
                let data = &(*data).cr_arrival_event_data;
                let cr_arrival_event_data = DAT_CR_ARRIVAL_EVENT_DATA {
                    // The tools do not ask which service point it was.
                    sp_handle: DAT_SP_HANDLE { psp_handle: data.sp_handle.psp_handle },
                    local_ia_address_ptr: data.local_ia_address_ptr,
                    conn_qual: data.conn_qual,
                    cr_handle: data.cr_handle,
                };
                DAT_EVENT_DATA { cr_arrival_event_data }
            }
            DAT_CONNECTION_EVENT_ESTABLISHED..=DAT_CONNECTION_EVENT_UNREACHABLE => {
                DAT_EVENT_DATA { connect_event_data: (*data).connect_event_data }
            }
            // The tools look at the number alone.
            _ => return,
        };
        (&raw mut (*place).event_data).write(event_data);
    }
}

/// # Safety
/// As dat_lmr_create of uDAPL 1.2.
pub(super) unsafe extern "C" fn dat_lmr_create(
    ia: DAT_IA_HANDLE,
    kind: DAT_MEM_TYPE,
    region: DAT_REGION_DESCRIPTION,
    length: DAT_VLEN,
    pz: DAT_PZ_HANDLE,
    privileges: DAT_MEM_PRIV_FLAGS,
    lmr: *mut DAT_LMR_HANDLE,
    lmr_context: *mut DAT_LMR_CONTEXT,
    rmr_context: *mut DAT_RMR_CONTEXT,
    registered_length: *mut DAT_VLEN,
    registered_address: *mut DAT_VADDR,
) -> DAT_RETURN {
    let va_type = udat20::DAT_VA_TYPE_VA;
    // SAFETY: the caller's promise; the tools register memory of their own, whose address the description holds.
    unsafe {
        let region = udat20::DAT_REGION_DESCRIPTION { for_va: region.for_va };
        (functions().dat_lmr_create)(
            ia,
            kind,
            region,
            length,
            pz,
            privileges,
            va_type,
            lmr,
            lmr_context,
            rmr_context,
            registered_length,
            registered_address,
        )
    }
}

/// A synchronisation of one segment.
macro_rules! sync {
    ($name:ident) => {
        /// # Safety
        /// As the function of this name of uDAPL 1.2; there is one segment.
        pub(super) unsafe extern "C" fn $name(
            ia: DAT_IA_HANDLE,
            segments: *const DAT_LMR_TRIPLET,
            count: DAT_VLEN,
        ) -> DAT_RETURN {
            debug_assert_eq!(count, 1);
            // SAFETY: the caller's promise.
            unsafe { (functions().$name)(ia, &local(&*segments), 1) }
        }
    };
}

sync!(dat_lmr_sync_rdma_read);
sync!(dat_lmr_sync_rdma_write);

/// Copies the fields that both versions of a structure have.
macro_rules! copy {
    ($from:ident, $to:ident: $($field:ident)*) => {
        $($to.$field = $from.$field.into();)*
    };
}

/// # Safety
/// As dat_ia_query of uDAPL 1.2; both structures are there, and all their fields are asked for.
pub(super) unsafe extern "C" fn dat_ia_query(
    ia: DAT_IA_HANDLE,
    evd: *mut DAT_EVD_HANDLE,
    _: DAT_IA_ATTR_MASK,
    ia_attr: *mut DAT_IA_ATTR,
    _: DAT_PROVIDER_ATTR_MASK,
    provider_attr: *mut DAT_PROVIDER_ATTR,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    match unsafe { query(ia, evd) } {
        Ok((of_adapter, of_provider)) => {
            // SAFETY: the caller's promise.
            unsafe {
                adapter(&of_adapter, &mut *ia_attr);
                provider(&of_provider, &mut *provider_attr);
            }
            DAT_SUCCESS
        }
        Err(code) => code,
    }
}

type Queried = (Box<udat20::DAT_IA_ATTR>, Box<udat20::DAT_PROVIDER_ATTR>);

/// All attributes in the form of uDAPL 2.0.
///
/// # Safety
/// As dat_ia_query.
unsafe fn query(ia: DAT_IA_HANDLE, evd: *mut DAT_EVD_HANDLE) -> Result<Queried, DAT_RETURN> {
    let mut of_adapter = Box::new(MaybeUninit::<udat20::DAT_IA_ATTR>::zeroed());
    let mut of_provider = Box::new(MaybeUninit::<udat20::DAT_PROVIDER_ATTR>::zeroed());
    // SAFETY: the caller's promise; both structures are of numbers and pointers, for which zeros are valid.
    unsafe {
        let code = (functions().dat_ia_query)(
            ia,
            evd,
            udat20::DAT_IA_FIELD_ALL,
            of_adapter.as_mut_ptr(),
            udat20::DAT_PROVIDER_FIELD_ALL,
            of_provider.as_mut_ptr(),
        );
        if code == DAT_SUCCESS { Ok((of_adapter.assume_init(), of_provider.assume_init())) } else { Err(code) }
    }
}

/// Attributes that uDAPL 1.2 does not have, by their names.
#[derive(Clone, Debug)]
pub struct Further {
    pub zb_supported: DAT_BOOLEAN,
    pub extension_supported: udat20::DAT_EXTENSION,
    pub extension_version: DAT_COUNT,
    pub rdma_read_lmr_rmr_context_exposure: DAT_BOOLEAN,
    pub rmr_scope_supported: udat20::DAT_RMR_SCOPE,
    pub is_signal_safe: DAT_BOOLEAN,
    pub ha_supported: DAT_BOOLEAN,
    pub ha_loadbalancing: udat20::DAT_HA_LB,
}

impl Further {
    /// Those of an open adapter.
    pub(super) fn of(ia: DAT_IA_HANDLE) -> Option<Self> {
        // SAFETY: the handle is that of an adapter, whose dispatcher is not asked for.
        let (adapter, provider) = unsafe { query(ia, std::ptr::null_mut()) }.ok()?;
        Some(Further {
            zb_supported: adapter.zb_supported,
            extension_supported: adapter.extension_supported,
            extension_version: adapter.extension_version,
            rdma_read_lmr_rmr_context_exposure: provider.rdma_read_lmr_rmr_context_exposure,
            rmr_scope_supported: provider.rmr_scope_supported,
            is_signal_safe: provider.is_signal_safe,
            ha_supported: provider.ha_supported,
            ha_loadbalancing: provider.ha_loadbalancing,
        })
    }
}

fn adapter(from: &udat20::DAT_IA_ATTR, to: &mut DAT_IA_ATTR) {
    copy! { from, to:
        adapter_name vendor_name hardware_version_major hardware_version_minor firmware_version_major
        firmware_version_minor ia_address_ptr max_eps max_dto_per_ep max_rdma_read_per_ep_in max_rdma_read_per_ep_out
        max_evds max_evd_qlen max_iov_segments_per_dto max_lmrs max_lmr_block_size max_lmr_virtual_address max_pzs
        max_message_size max_rdma_size max_rmrs max_rmr_target_address max_srqs max_ep_per_srq max_recv_per_srq
        max_iov_segments_per_rdma_read max_iov_segments_per_rdma_write max_rdma_read_in max_rdma_read_out
        max_rdma_read_per_ep_in_guaranteed max_rdma_read_per_ep_out_guaranteed num_transport_attr transport_attr
        num_vendor_attr vendor_attr
    }
}

fn provider(from: &udat20::DAT_PROVIDER_ATTR, to: &mut DAT_PROVIDER_ATTR) {
    copy! { from, to:
        provider_name provider_version_major provider_version_minor dapl_version_major dapl_version_minor
        lmr_mem_types_supported iov_ownership_on_return dat_qos_supported completion_flags_supported is_thread_safe
        max_private_data_size supports_multipath ep_creator optimal_buffer_alignment evd_stream_merging_supported
        srq_supported srq_watermarks_supported srq_ep_pz_difference_supported srq_info_supported
        ep_recv_info_supported lmr_sync_req dto_async_return_guaranteed rdma_write_for_rdma_read_req
        num_provider_specific_attr provider_specific_attr
    }
    to.pz_support = match from.pz_support {
        udat20::DAT_PZ_SHAREABLE => DAT_PZ_SHAREABLE,
        other => other,
    };
}
