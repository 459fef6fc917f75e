//! Connecting and disconnecting endpoints.

use std::time::Duration;

use dat_core::Endpoint;
use dat_core::ep::ConnectRequest;
use dat_core::error::{AddressFault, Arg, Error, Role};
use dat_core::transport::Transport;
use dat_face::guard::slow;
use dat_face::handle::{find, same_ia};
use dat_face::ptr::bytes;
use dat_face::{Answer, At, Face, Fault};
use dat_udat12::{
    DAT_CLOSE_ABRUPT_FLAG, DAT_CLOSE_FLAGS, DAT_CLOSE_GRACEFUL_FLAG, DAT_CONN_QUAL, DAT_CONNECT_DEFAULT_FLAG,
    DAT_CONNECT_FLAGS, DAT_CONNECT_MULTIPATH_FLAG, DAT_COUNT, DAT_EP_HANDLE, DAT_IA_ADDRESS_PTR, DAT_PVOID, DAT_QOS,
    DAT_QOS_BEST_EFFORT, DAT_QOS_ECONOMY, DAT_QOS_HIGH_THROUGHPUT, DAT_QOS_LOW_LATENCY, DAT_QOS_PREMIUM, DAT_RETURN,
    DAT_TIMEOUT, DAT_TIMEOUT_INFINITE,
};

use crate::ptr;

/// A time limit; `None` for ever.
pub(crate) fn micros(timeout: DAT_TIMEOUT) -> Option<u32> {
    (timeout != DAT_TIMEOUT_INFINITE).then_some(timeout)
}

fn duration(timeout: DAT_TIMEOUT) -> Option<Duration> {
    micros(timeout).map(|micros| Duration::from_micros(micros.into()))
}

/// A copy of the private data of a call, of `limit` bytes at most. Its size stands at `position`,
/// the data at the next one.
///
/// # Safety
/// `data` is NULL, or `size` bytes there can be read.
pub(crate) unsafe fn private_data(size: DAT_COUNT, data: DAT_PVOID, limit: usize, position: u32) -> Answer<Vec<u8>> {
    let size = usize::try_from(size).ok().filter(|&size| size <= limit).ok_or(Fault::Argument(position))?;
    if size == 0 {
        return Ok(Vec::new());
    }
    if data.is_null() {
        return Err(Fault::Argument(position + 1));
    }
    // SAFETY: not NULL, and readable as the caller promises.
    Ok(unsafe { bytes(data.cast(), size) })
}

/// Accepts best effort alone.
fn check_qos(qos: DAT_QOS, position: u32) -> Answer<()> {
    const KNOWN: DAT_QOS = DAT_QOS_HIGH_THROUGHPUT | DAT_QOS_LOW_LATENCY | DAT_QOS_ECONOMY | DAT_QOS_PREMIUM;
    match qos {
        DAT_QOS_BEST_EFFORT => Ok(()),
        qos if qos & !KNOWN == 0 => Err(Fault::Core(Error::ModelNotSupported)),
        _ => Err(Fault::Argument(position)),
    }
}

/// Slot of dat_ep_connect: starts to connect an endpoint to a service point.
///
/// Returns at once; the endpoint is `ACTIVE_CONNECTION_PENDING` and the outcome is one event. Address
/// and private data are copied.
///
/// # Parameters
/// * `ep_handle` - in, the endpoint, `UNCONNECTED`, with a zone, an EVD for connection events, and
///   the EVDs that its attributes need.
/// * `remote_ia_address` - in, a complete IPv4 or IPv6 socket address; its port is ignored.
/// * `remote_conn_qual` - in, the service point.
/// * `timeout` - in, microseconds for the whole establishment, not 0; `DAT_TIMEOUT_INFINITE`
///   for none of the program's own.
/// * `private_data_size`, `private_data` - in, bytes for the connection request.
/// * `quality_of_service` - in, `DAT_QOS_BEST_EFFORT`.
/// * `connect_flags` - in, `DAT_CONNECT_DEFAULT_FLAG`.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EVD_CONN` | it has no EVD for connection events |
/// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EP_NOTREADY` | it has no zone, or lacks another EVD |
/// | `DAT_INVALID_STATE` / that of the state | it is not `UNCONNECTED` |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the address is NULL |
/// | `DAT_INVALID_ADDRESS` / `DAT_INVALID_ADDRESS_UNSUPPORTED` | another family, a multicast or broadcast address |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | the timeout is 0 |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG5` | the size is negative or above `max_private_data_size` |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG6` | there is a size but no data |
/// | `DAT_MODEL_NOT_SUPPORTED` | another quality of service or several paths |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG7`, `DAT_INVALID_ARG8` | no such quality of service, no such flag |
/// | `DAT_INSUFFICIENT_RESOURCES` | memory, or something of the transport |
///
/// # Specification
/// uDAPL 1.2, dat_ep_connect(3DAT).
///
/// # Safety
/// The address is NULL or complete; `private_data` is NULL or has that many bytes.
pub unsafe extern "C" fn connect<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    remote_ia_address: DAT_IA_ADDRESS_PTR,
    remote_conn_qual: DAT_CONN_QUAL,
    timeout: DAT_TIMEOUT,
    private_data_size: DAT_COUNT,
    private_data: DAT_PVOID,
    quality_of_service: DAT_QOS,
    connect_flags: DAT_CONNECT_FLAGS,
) -> DAT_RETURN {
    slow::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        check_qos(quality_of_service, 7)?;
        match connect_flags {
            DAT_CONNECT_DEFAULT_FLAG => {}
            DAT_CONNECT_MULTIPATH_FLAG => return Err(Fault::Core(Error::ModelNotSupported)),
            _ => return Err(Fault::Argument(8)),
        }
        let limit = ep.ia().transport().attributes().max_private_data;
        // SAFETY: the caller's promise.
        let private_data = unsafe { self::private_data(private_data_size, private_data, limit, 5) }?;
        // SAFETY: the caller's promise.
        let address = unsafe { ptr::address(remote_ia_address) };
        let address = address
            .ok_or(Fault::Argument(2))?
            .and_then(|address| if address.is_host() { Ok(address) } else { Err(AddressFault::Unsupported) })
            .map_err(|fault| Fault::Core(Error::InvalidAddress(fault)))?;
        ep.connect(&ConnectRequest {
            address: &address,
            qualifier: remote_conn_qual,
            timeout: duration(timeout),
            private_data: &private_data,
        })
        .at(&[(Arg::Address, 2), (Arg::Qualifier, 3), (Arg::Timeout, 4), (Arg::PrivateDataSize, 5)])
    })
}

/// Slot of dat_ep_dup_connect: starts to connect an endpoint to where another one is connected to.
///
/// # Parameters
/// * `ep_handle` - in, the endpoint, as for [`connect`].
/// * `ep_dup_handle` - in, a `CONNECTED` endpoint of the same adapter; it is not changed.
/// * `timeout`, `private_data_size`, `private_data`, `quality_of_service` - as for [`connect`].
///
/// # Errors
/// As for [`connect`], with the positions of these arguments, and:
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | either is not an endpoint, or they are of different adapters |
/// | `DAT_INVALID_STATE` / that of the state of `ep_dup_handle` | it is not `CONNECTED` |
///
/// # Specification
/// uDAPL 1.2, dat_ep_dup_connect(3DAT).
///
/// # Safety
/// `private_data` is NULL or has that many bytes.
pub unsafe extern "C" fn dup_connect<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    ep_dup_handle: DAT_EP_HANDLE,
    timeout: DAT_TIMEOUT,
    private_data_size: DAT_COUNT,
    private_data: DAT_PVOID,
    quality_of_service: DAT_QOS,
) -> DAT_RETURN {
    slow::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        let like = find::<F, Endpoint<F::Transport>>(ep_dup_handle, Role::Ep)?;
        same_ia(ep.ia(), like.ia(), Role::Ep)?;
        check_qos(quality_of_service, 6)?;
        let limit = ep.ia().transport().attributes().max_private_data;
        // SAFETY: the caller's promise.
        let private_data = unsafe { self::private_data(private_data_size, private_data, limit, 4) }?;
        ep.dup_connect(&like, duration(timeout), &private_data).at(&[(Arg::Timeout, 3), (Arg::PrivateDataSize, 4)])
    })
}

/// Slot of dat_ep_disconnect: ends a connection, or the attempt at one.
///
/// Has no effect on an endpoint that is `DISCONNECTED`.
///
/// # Parameters
/// * `ep_handle` - in, the endpoint.
/// * `disconnect_flags` - in, `DAT_CLOSE_ABRUPT_FLAG` to end it at once, `DAT_CLOSE_GRACEFUL_FLAG` to
///   carry posted requests through first.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | neither of the two flags |
/// | `DAT_INVALID_STATE` / that of the state | there is no connection and no attempt at one |
///
/// # Events
/// `DAT_CONNECTION_EVENT_DISCONNECTED`, once at each end.
///
/// # Specification
/// uDAPL 1.2, dat_ep_disconnect(3DAT).
///
/// # Safety
/// None; a slot has the type that the table says.
pub unsafe extern "C" fn disconnect<F: Face>(
    ep_handle: DAT_EP_HANDLE,
    disconnect_flags: DAT_CLOSE_FLAGS,
) -> DAT_RETURN {
    slow::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        match disconnect_flags {
            DAT_CLOSE_ABRUPT_FLAG => ep.disconnect(false).at(&[]),
            DAT_CLOSE_GRACEFUL_FLAG => ep.disconnect(true).at(&[]),
            _ => Err(Fault::Argument(2)),
        }
    })
}
