//! The functions of a library, and structures that differ between versions.

use std::ffi::{CStr, c_char};
use std::net::SocketAddr;

use dat_udat20::{self as udat20, DAT_COUNT, DAT_PVOID, DAT_RETURN, DAT_SOCK_ADDR};
use libloading::os::unix;
use socket2::{SockAddr, SockAddrStorage};

use crate::{Api, Remote, Segment};

/// The type of a slot of the provider table: an `Option` of a function pointer.
pub trait Slot {
    type Function: Copy;
}

impl<F: Copy> Slot for Option<F> {
    type Function = F;
}

/// Defines a structure of function pointers: `$function`s have the types of their slots in the provider table of the
/// crate `$udat`, `$other`s have explicit types.
macro_rules! functions {
    ($(#[$doc:meta])* $name:ident of $udat:ident { $($function:ident)* } $($other:ident: $type:ty;)*) => {
        $(#[$doc])*
        pub struct $name {
            $(pub $function: <$udat::slot_types::$function as Slot>::Function,)*
            $(pub $other: $type,)*
        }

        impl $name {
            /// Looks up all functions. Fails with the loader's error for the first missing one.
            fn of(library: &unix::Library) -> Result<Self, libloading::Error> {
                // SAFETY: the caller passes a library of this version, which has these functions and types.
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

/// Defines [`V12`] and [`V20`]: the same functions, whose types differ between the versions.
macro_rules! versions {
    ($($functions:tt)*) => {
        functions! {
            /// Functions of libdat.so.1 that have different types in libdat2.so.2.
            V12 of dat_udat12 { $($functions)* }
        }
        functions! {
            /// Functions of libdat2.so.2 that have different types in libdat.so.1.
            V20 of udat20 { $($functions)* }
        }
    };
}

type ListProviders = unsafe extern "C" fn(DAT_COUNT, *mut DAT_COUNT, *mut *mut udat20::DAT_PROVIDER_INFO) -> DAT_RETURN;
type StrError = unsafe extern "C" fn(DAT_RETURN, *mut *const c_char, *mut *const c_char) -> DAT_RETURN;

functions! {
    /// Functions with the same type in both versions.
    Common of udat20 {
        dat_ia_close dat_cno_create dat_cno_free dat_cno_wait dat_cr_accept dat_cr_query dat_ep_connect
        dat_ep_disconnect dat_ep_free dat_evd_create dat_evd_free dat_lmr_free dat_psp_create dat_psp_create_any
        dat_psp_free dat_pz_create dat_pz_free dat_srq_create dat_srq_free
    }
    dat_ia_openv: <udat20::DAT_IA_OPENV_FUNC as Slot>::Function;
    dat_registry_list_providers: ListProviders;
    dat_strerror: StrError;
}

versions! {
    dat_cr_reject dat_ep_create dat_ep_create_with_srq dat_ep_post_rdma_read dat_ep_post_rdma_write dat_ep_post_recv
    dat_ep_post_send dat_evd_dequeue dat_evd_wait dat_ia_query dat_lmr_create dat_lmr_sync_rdma_read
    dat_lmr_sync_rdma_write dat_srq_post_recv
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

/// Evaluates `$value` for the version of `$library`: `$calls` are its functions ([`V12`] or [`V20`]), `$udat` is the
/// crate of its types.
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

/// Converts a length to the 32-bit type of uDAPL 2.0. Saturates, but adapters offer no length that does not fit.
#[inline(always)]
pub fn short(length: u64) -> udat20::DAT_SEG_LENGTH {
    udat20::DAT_SEG_LENGTH::try_from(length).unwrap_or(udat20::DAT_SEG_LENGTH::MAX)
}

/// Implements the conversion of [`Segment`] or [`Remote`] to a triplet of a version. `$address`, `$context` and `$pad`
/// are the names of the triplet's fields, which differ.
macro_rules! triplet {
    ($memory:ident => $triplet:ty, $length:path, $address:ident $context:ident $($pad:ident)?) => {
        impl From<$memory> for $triplet {
            #[inline(always)]
            fn from($memory { address, length, context }: $memory) -> Self {
                Self { $address: address, segment_length: $length(length), $context: context $(, $pad: 0)? }
            }
        }
    };
}

triplet!(Segment => dat_udat12::DAT_LMR_TRIPLET, u64::from, virtual_address lmr_context pad);
triplet!(Segment => udat20::DAT_LMR_TRIPLET, short, virtual_address lmr_context);
triplet!(Remote => dat_udat12::DAT_RMR_TRIPLET, u64::from, target_address rmr_context pad);
triplet!(Remote => udat20::DAT_RMR_TRIPLET, short, virtual_address rmr_context);

/// Reads the address that a call returned. Returns `None` if the pointer is null, or the address is not an IP address.
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

/// Copies the private data that a call returned. Null becomes an empty vector.
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
