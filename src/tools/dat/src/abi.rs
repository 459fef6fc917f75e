//! The functions of a library, and structures that differ between versions.

use std::ffi::{CStr, c_char};
use std::net::SocketAddr;

use dat_udat20::{self as udat20, DAT_COUNT, DAT_PVOID, DAT_RETURN, DAT_SOCK_ADDR};
use libloading::os::unix;
use socket2::{SockAddr, SockAddrStorage};

use crate::{Api, Remote, Segment};

/// A slot of the provider table, which contains an optional function.
pub trait Slot {
    type Function: Copy;
}

impl<F: Copy> Slot for Option<F> {
    type Function = F;
}

/// Defines a structure of functions, each with the type of its slot in the crate `$udat`.
macro_rules! functions {
    ($(#[$doc:meta])* $name:ident of $udat:ident { $($function:ident: $slot:ident)* }
        $($other:ident: $type:ty;)*) => {
        $(#[$doc])*
        pub struct $name {
            $(pub $function: <$udat::$slot as Slot>::Function,)*
            $(pub $other: $type,)*
        }

        impl $name {
            /// Looks up all functions. Fails with the loader's error for the first missing one.
            fn of(library: &unix::Library) -> Result<Self, libloading::Error> {
                // SAFETY: the caller passes a library of this version, whose binary interface has these functions and
                // types.
                unsafe {
                    Ok(Self {
                        $($function: *library.get(concat!(stringify!($function), "\0").as_bytes())?,)*
                        $($other: *library.get(concat!(stringify!($other), "\0").as_bytes())?,)*
                    })
                }
            }
        }
    };
}

/// Defines the functions with different types in 1.2 and 2.0.
macro_rules! versions {
    ($($functions:tt)*) => {
        functions! {
            /// Functions of libdat.so.1 with other types in libdat2.so.2.
            V12 of dat_udat12 { $($functions)* }
        }
        functions! {
            /// Functions of libdat2.so.2 with other types in libdat.so.1.
            V20 of udat20 { $($functions)* }
        }
    };
}

type ListProviders = unsafe extern "C" fn(DAT_COUNT, *mut DAT_COUNT, *mut *mut udat20::DAT_PROVIDER_INFO) -> DAT_RETURN;
type StrError = unsafe extern "C" fn(DAT_RETURN, *mut *const c_char, *mut *const c_char) -> DAT_RETURN;

functions! {
    /// Functions with the same type in both versions.
    Common of udat20 {
        dat_ia_openv: DAT_IA_OPENV_FUNC
        dat_ia_close: DAT_IA_CLOSE_FUNC
        dat_cno_create: DAT_CNO_CREATE_FUNC
        dat_cno_free: DAT_CNO_FREE_FUNC
        dat_cno_wait: DAT_CNO_WAIT_FUNC
        dat_cr_accept: DAT_CR_ACCEPT_FUNC
        dat_cr_query: DAT_CR_QUERY_FUNC
        dat_ep_connect: DAT_EP_CONNECT_FUNC
        dat_ep_disconnect: DAT_EP_DISCONNECT_FUNC
        dat_ep_free: DAT_EP_FREE_FUNC
        dat_evd_create: DAT_EVD_CREATE_FUNC
        dat_evd_free: DAT_EVD_FREE_FUNC
        dat_lmr_free: DAT_LMR_FREE_FUNC
        dat_psp_create: DAT_PSP_CREATE_FUNC
        dat_psp_create_any: DAT_PSP_CREATE_ANY_FUNC
        dat_psp_free: DAT_PSP_FREE_FUNC
        dat_pz_create: DAT_PZ_CREATE_FUNC
        dat_pz_free: DAT_PZ_FREE_FUNC
        dat_srq_create: DAT_SRQ_CREATE_FUNC
        dat_srq_free: DAT_SRQ_FREE_FUNC
    }
    dat_registry_list_providers: ListProviders;
    dat_strerror: StrError;
}

versions! {
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

pub enum Own {
    V12(V12),
    V20(V20),
}

pub struct Calls {
    pub common: Common,
    pub own: Own,
}

impl Calls {
    pub fn of(library: &unix::Library, api: Api) -> Result<Self, libloading::Error> {
        let own = match api {
            Api::V12 => Own::V12(V12::of(library)?),
            Api::V20 => Own::V20(V20::of(library)?),
        };
        Ok(Self { common: Common::of(library)?, own })
    }
}

/// Evaluates an expression with the functions and types of the library's version.
macro_rules! by_version {
    ($library:expr, |$calls:ident, $udat:ident| $value:expr) => {
        match &$library.calls().own {
            $crate::abi::Own::V12($calls) => {
                #[allow(unused_imports, reason = "not all expressions need types")]
                use dat_udat12 as $udat;
                $value
            }
            $crate::abi::Own::V20($calls) => {
                #[allow(unused_imports, reason = "not all expressions need types")]
                use dat_udat20 as $udat;
                $value
            }
        }
    };
}
pub(crate) use by_version;

/// Converts a length to uDAPL 2.0; adapters offer no length that does not fit.
#[inline(always)]
pub fn short(length: u64) -> udat20::DAT_SEG_LENGTH {
    udat20::DAT_SEG_LENGTH::try_from(length).unwrap_or(udat20::DAT_SEG_LENGTH::MAX)
}

impl From<Segment> for dat_udat12::DAT_LMR_TRIPLET {
    #[inline(always)]
    fn from(Segment { address, length, context }: Segment) -> Self {
        Self { lmr_context: context, pad: 0, virtual_address: address, segment_length: length }
    }
}

impl From<Segment> for udat20::DAT_LMR_TRIPLET {
    #[inline(always)]
    fn from(Segment { address, length, context }: Segment) -> Self {
        Self { virtual_address: address, segment_length: short(length), lmr_context: context }
    }
}

impl From<Remote> for dat_udat12::DAT_RMR_TRIPLET {
    #[inline(always)]
    fn from(Remote { address, length, context }: Remote) -> Self {
        Self { rmr_context: context, pad: 0, target_address: address, segment_length: length }
    }
}

impl From<Remote> for udat20::DAT_RMR_TRIPLET {
    #[inline(always)]
    fn from(Remote { address, length, context }: Remote) -> Self {
        Self { virtual_address: address, segment_length: short(length), rmr_context: context }
    }
}

/// Reads the address that a call returned. Returns `None` if it is not an IP address.
///
/// # Safety
/// `address` is null or points to an address with the length of its family.
pub unsafe fn address(address: *const DAT_SOCK_ADDR) -> Option<SocketAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: every address begins with its family.
    let length = match i32::from(unsafe { (*address).sa_family }) {
        libc::AF_INET => size_of::<libc::sockaddr_in>(),
        libc::AF_INET6 => size_of::<libc::sockaddr_in6>(),
        _ => return None,
    };
    let mut storage = SockAddrStorage::zeroed();
    // SAFETY: the caller guarantees this length, and the storage has room for every address.
    unsafe { std::ptr::copy_nonoverlapping(address.cast::<u8>(), (&raw mut storage).cast::<u8>(), length) };
    // SAFETY: the storage contains an address of this length.
    unsafe { SockAddr::new(storage, length as libc::socklen_t) }.as_socket()
}

/// Copies private data of a call.
///
/// # Safety
/// `data` is null or points to `size` bytes.
pub unsafe fn bytes(data: DAT_PVOID, size: DAT_COUNT) -> Vec<u8> {
    let size = usize::try_from(size).unwrap_or(0);
    if data.is_null() || size == 0 {
        return Vec::new();
    }
    // SAFETY: the caller guarantees these bytes.
    unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) }.to_vec()
}

/// Copies a C string; NULL becomes an empty string.
///
/// # Safety
/// `string` is NULL or points to a C string.
pub unsafe fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: the caller guarantees a C string.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
