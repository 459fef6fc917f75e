//! Connection requests.

use std::ptr;

use dat_core::error::{Arg, Role};
use dat_core::transport::Transport;
use dat_core::{Cr, Endpoint};
use dat_face::guard::slow;
use dat_face::handle::{find, find_or_null, handle_or_null, same_ia};
use dat_face::ptr::OutPtr;
use dat_face::{At, Face, Fault, count};
use dat_udat12::{
    DAT_CONN_QUAL, DAT_COUNT, DAT_CR_FIELD_ALL, DAT_CR_HANDLE, DAT_CR_PARAM, DAT_CR_PARAM_MASK, DAT_EP_HANDLE,
    DAT_PVOID, DAT_RETURN,
};

use crate::attr::address_ptr;
use crate::ep::connect;

/// Slot of dat_cr_query: tells who asks for a connection, and with what.
///
/// # Parameters
/// * `cr_handle` - in, the request.
/// * `cr_param_mask` - in, the wanted fields, bits of `DAT_CR_FIELD_ALL`.
/// * `cr_param` - out, the parameters. What they point to lives as long as the request; the
///   private data may be changed in place.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` | not a request, or answered already |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | unknown bits in the mask |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `cr_param` is NULL |
///
/// # Specification
/// uDAPL 1.2, dat_cr_query(3DAT).
///
/// # Safety
/// `cr_param` is NULL or writable.
pub unsafe extern "C" fn query<F: Face>(
    cr_handle: DAT_CR_HANDLE,
    cr_param_mask: DAT_CR_PARAM_MASK,
    cr_param: *mut DAT_CR_PARAM,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let cr_param = unsafe { OutPtr::new(cr_param) };
    slow::<F>(|| {
        let cr = find::<F, Cr<F::Transport>>(cr_handle, Role::Cr)?;
        if cr_param_mask & !DAT_CR_FIELD_ALL != 0 {
            return Err(Fault::Argument(2));
        }
        let data = cr.private_data();
        cr_param.required(3)?.write(DAT_CR_PARAM {
            remote_ia_address_ptr: address_ptr(cr.remote_address()),
            remote_port_qual: cr.remote_qualifier(),
            private_data_size: count(data.len()),
            private_data: if data.is_empty() { ptr::null_mut() } else { data.as_ptr().cast_mut().cast() },
            local_ep_handle: handle_or_null(cr.ep()),
        });
        Ok(())
    })
}

/// Slot of dat_cr_accept: accepts a connection request.
///
/// Success ends the request; the endpoint is `COMPLETION_PENDING` and one connection event follows. On
/// failure endpoint and request are as before.
///
/// # Parameters
/// * `cr_handle` - in, the request.
/// * `ep_handle` - in, an `UNCONNECTED` endpoint, or `DAT_HANDLE_NULL` if the request brings its own.
/// * `private_data_size`, `private_data` - in, bytes for the peer's `ESTABLISHED` event.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` | not a request, or answered already |
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_EP` | not an endpoint of the same adapter; one too many or too few; it lacks a zone or an EVD |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | the size is negative or above `max_private_data_size` |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4` | there is a size but no data |
/// | `DAT_INVALID_STATE` / that of the state | the endpoint cannot be accepted with |
/// | `DAT_INSUFFICIENT_RESOURCES` | memory, or something of the transport |
///
/// # Specification
/// uDAPL 1.2, dat_cr_accept(3DAT).
///
/// # Safety
/// `private_data` is NULL or has that many bytes.
pub unsafe extern "C" fn accept<F: Face>(
    cr_handle: DAT_CR_HANDLE,
    ep_handle: DAT_EP_HANDLE,
    private_data_size: DAT_COUNT,
    private_data: DAT_PVOID,
) -> DAT_RETURN {
    slow::<F>(|| {
        let cr = find::<F, Cr<F::Transport>>(cr_handle, Role::Cr)?;
        let ep = find_or_null::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        if let Some(ep) = &ep {
            same_ia(cr.ia(), ep.ia(), Role::Ep)?;
        }
        let limit = cr.ia().transport().attributes().max_private_data;
        // SAFETY: the caller's promise.
        let private_data = unsafe { connect::private_data(private_data_size, private_data, limit, 3) }?;
        cr.accept(ep.as_ref(), &private_data).at(&[(Arg::PrivateDataSize, 3)])
    })
}

/// Slot of dat_cr_reject: rejects a connection request, which ends it.
///
/// The peer gets `DAT_CONNECTION_EVENT_PEER_REJECTED`. An endpoint of a reserved service point is
/// `UNCONNECTED` again; one that the provider made is gone.
///
/// # Parameters
/// * `cr_handle` - in, the request.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` | not a request, or answered already |
///
/// # Specification
/// uDAPL 1.2, dat_cr_reject(3DAT).
///
/// # Safety
/// None; a slot has the type that the table says.
pub unsafe extern "C" fn reject<F: Face>(cr_handle: DAT_CR_HANDLE) -> DAT_RETURN {
    slow::<F>(|| find::<F, Cr<F::Transport>>(cr_handle, Role::Cr)?.reject().at(&[]))
}

/// Slot of dat_cr_handoff: passes a connection request to another service point of the adapter.
///
/// It arrives there as a new request; where nobody listens it is refused. The handle is dead.
///
/// # Parameters
/// * `cr_handle` - in, the request.
/// * `handoff` - in, the qualifier of the other service point; not 0.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CR` | not a request, or answered already |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG2` | the qualifier is 0; the request is as before |
///
/// # Specification
/// uDAPL 1.2, dat_cr_handoff(3DAT).
///
/// # Safety
/// None; a slot has the type that the table says.
pub unsafe extern "C" fn handoff<F: Face>(cr_handle: DAT_CR_HANDLE, handoff: DAT_CONN_QUAL) -> DAT_RETURN {
    slow::<F>(|| find::<F, Cr<F::Transport>>(cr_handle, Role::Cr)?.handoff(handoff).at(&[(Arg::Qualifier, 2)]))
}
