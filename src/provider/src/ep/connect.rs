//! Connects and disconnects endpoints.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use std::slice;
use std::time::Duration;

use dat_core::Endpoint;
use dat_core::addr::Address;
use dat_core::ep::table::Qos;
use dat_core::error::{AddressFault, Arg, Error, Role};
use dat_core::transport::Connect;
use dat_udat::*;
use host::memory;

use crate::call::{making, slow};
use crate::ep::attr::qos;
use crate::handle::{find, find_in};
use crate::ptr::{InPtr, Parameter, read_field};
use crate::{Answer, At, Fault, Provider, Version};

/// Converts a timeout in microseconds. Returns `None` for no limit.
pub fn duration(timeout: DAT_TIMEOUT) -> Option<Duration> {
    (timeout != DAT_TIMEOUT_INFINITE).then(|| Duration::from_micros(timeout.into()))
}

/// Copies private data of at most `max` bytes. Its size is the argument at `position`, and its address the next.
///
/// # Safety
/// `data` is NULL, or `size` bytes are readable.
pub unsafe fn private_data(size: DAT_COUNT, data: DAT_PVOID, max: usize, position: u32) -> Answer<Vec<u8>> {
    let size = usize::try_from(size).ok().filter(|&size| size <= max).ok_or(Fault::Argument(position))?;
    if size == 0 {
        return Ok(Vec::new());
    }
    if data.is_null() {
        return Err(Fault::Argument(position + 1));
    }
    // SAFETY: not NULL, and the caller promises `size` readable bytes.
    Ok(memory::copied(unsafe { slice::from_raw_parts(data.cast::<u8>(), size) })?.into_vec())
}

/// Reads the socket address of a peer. Returns `None` for NULL.
///
/// # Errors
/// [`AddressFault::Unsupported`] for families other than IPv4 and IPv6.
///
/// # Safety
/// `address` is NULL, or a socket address that is complete for its family.
pub unsafe fn address(address: *const DAT_SOCK_ADDR) -> Option<Result<Address, AddressFault>> {
    // SAFETY: the caller promises NULL or a complete address, which has the family.
    let family = read_field!(unsafe { InPtr::of(address) }, sa_family)?;
    let mut native = [0; 28];
    let room = Address::native_len(family).and_then(|len| native.get_mut(..len));
    let Some(room) = room else { return Some(Err(AddressFault::Unsupported)) };
    // SAFETY: a complete address of this family has the length of `room`.
    unsafe { room.as_mut_ptr().copy_from_nonoverlapping(address.cast(), room.len()) };
    Some(Address::from_native(&native).ok_or(AddressFault::Unsupported))
}

fn check_qos(quality_of_service: DAT_QOS, position: u32) -> Answer<()> {
    match qos(quality_of_service) {
        Some(Qos::BestEffort) => Ok(()),
        Some(Qos::Other) => Err(Fault::Core(Error::ModelNotSupported)),
        None => Err(Fault::Argument(position)),
    }
}

/// # Safety
/// The address is NULL or complete; `private_data` is NULL or has `private_data_size` bytes.
pub unsafe fn dat_ep_connect<F: Provider>(
    ep_handle: DAT_EP_HANDLE,
    remote_ia_address: DAT_IA_ADDRESS_PTR,
    remote_conn_qual: DAT_CONN_QUAL,
    timeout: DAT_TIMEOUT,
    private_data_size: DAT_COUNT,
    private_data: DAT_PVOID,
    quality_of_service: DAT_QOS,
    connect_flags: DAT_CONNECT_FLAGS,
) -> DAT_RETURN {
    making::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        check_qos(quality_of_service, 7)?;
        match connect_flags {
            DAT_CONNECT_DEFAULT_FLAG => {}
            flags if F::Version::MULTIPATH.contains(&flags) => return Err(Fault::Core(Error::ModelNotSupported)),
            _ => return Err(Fault::Argument(8)),
        }
        let max = ep.ia().attributes().max_private_data;
        // SAFETY: the caller promises NULL or `private_data_size` bytes.
        let private_data = unsafe { self::private_data(private_data_size, private_data, max, 5) }?;
        // SAFETY: the caller promises NULL or a complete address.
        let address = unsafe { self::address(remote_ia_address) };
        let address = address.ok_or(Fault::Argument(2))?.map_err(|fault| Fault::Core(Error::InvalidAddress(fault)))?;
        ep.connect(&Connect {
            address: &address,
            qualifier: remote_conn_qual,
            timeout: duration(timeout),
            private_data: &private_data,
        })
        .at(&[(Arg::Timeout, 4)])
    })
}

/// # Safety
/// `private_data` is NULL or has `private_data_size` bytes.
pub unsafe fn dat_ep_dup_connect<F: Provider>(
    ep_handle: DAT_EP_HANDLE,
    ep_dup_handle: DAT_EP_HANDLE,
    timeout: DAT_TIMEOUT,
    private_data_size: DAT_COUNT,
    private_data: DAT_PVOID,
    quality_of_service: DAT_QOS,
) -> DAT_RETURN {
    making::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        let like = find_in::<F, _>(ep.ia(), ep_dup_handle, Role::Ep, Endpoint::ia)?;
        check_qos(quality_of_service, 6)?;
        let max = ep.ia().attributes().max_private_data;
        // SAFETY: the caller promises NULL or `private_data_size` bytes.
        let private_data = unsafe { self::private_data(private_data_size, private_data, max, 4) }?;
        ep.dup_connect(&like, duration(timeout), &private_data).at(&[(Arg::Timeout, 3)])
    })
}

pub fn dat_ep_disconnect<F: Provider>(ep_handle: DAT_EP_HANDLE, disconnect_flags: DAT_CLOSE_FLAGS) -> DAT_RETURN {
    slow::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        match disconnect_flags {
            DAT_CLOSE_ABRUPT_FLAG => ep.disconnect(false).at(&[]),
            DAT_CLOSE_GRACEFUL_FLAG => ep.disconnect(true).at(&[]),
            _ => Err(Fault::Argument(2)),
        }
    })
}
