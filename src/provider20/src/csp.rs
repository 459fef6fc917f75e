//! Common service points, and connecting to the address of a socket.

use std::ptr;

use dat_core::addr::Address;
use dat_core::error::{AddressFault, Arg, Error, Role};
use dat_core::transport::Transport;
use dat_core::{Csp, Endpoint, Evd, Ia};
use dat_provider_common::attr::address_ptr;
use dat_provider_common::call::{making, slow};
use dat_provider_common::ep::connect;
use dat_provider_common::handle::{find, handle_of, handle_or_null};
use dat_provider_common::ia::ia_handle;
use dat_provider_common::ptr::{InPtr, OutPtr};
use dat_provider_common::{Answer, At, Face, Fault};
use dat_udat20::*;

use crate::Udat20;
use crate::ep::core_comm;

/// The address in the argument at `position`.
///
/// # Errors
/// The argument is invalid if it is NULL; [`AddressFault::Malformed`] for a family other than IPv4 and IPv6.
///
/// # Safety
/// `address` is NULL, or points to a socket address that is complete for its family.
unsafe fn address(address: DAT_IA_ADDRESS_PTR, position: u32) -> Answer<Address> {
    // SAFETY: the caller's promise.
    let address = unsafe { connect::address(address) }.ok_or(Fault::Argument(position))?;
    address.map_err(|_| Fault::Core(Error::InvalidAddress(AddressFault::Malformed)))
}

/// Slot of dat_csp_create.
///
/// # Safety
/// `comm` is NULL or readable, the address NULL or complete, `csp_handle` NULL or writable.
pub unsafe extern "C" fn dat_csp_create<F: Face<Version = Udat20>>(
    ia_handle: DAT_IA_HANDLE,
    comm: *mut DAT_COMM,
    address: DAT_IA_ADDRESS_PTR,
    evd_handle: DAT_EVD_HANDLE,
    csp_handle: *mut DAT_CSP_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let comm = unsafe { InPtr::new(comm.cast_const()) };
    // SAFETY: the caller's promise.
    let csp_handle = unsafe { OutPtr::new(csp_handle) };
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::EvdConnectionRequests)?;
        let comm = core_comm(comm.required(2)?);
        if address.is_null() {
            return Err(Fault::Argument(3));
        }
        let out = csp_handle.required(5)?;
        comm.check().at(&[])?;
        // SAFETY: the caller's promise.
        let address = unsafe { self::address(address, 3) }?;
        let csp = Csp::create(&ia, comm, &address, &evd).at(&[])?;
        out.write(handle_of(&*csp));
        Ok(())
    })
}

/// Slot of dat_csp_query.
///
/// # Safety
/// `csp_param` is NULL or writable.
pub unsafe extern "C" fn dat_csp_query<F: Face<Version = Udat20>>(
    csp_handle: DAT_CSP_HANDLE,
    csp_param_mask: DAT_CSP_PARAM_MASK,
    csp_param: *mut DAT_CSP_PARAM,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let csp_param = unsafe { OutPtr::new(csp_param) };
    slow::<F>(|| {
        let csp = find::<F, Csp<F::Transport>>(csp_handle, Role::Csp)?;
        if csp_param_mask & !DAT_CSP_FIELD_ALL != 0 {
            return Err(Fault::Argument(2));
        }
        csp_param.required(3)?.write(DAT_CSP_PARAM {
            ia_handle: ia_handle::<F>(&csp.point.ia),
            comm: ptr::from_ref(&csp.comm).cast_mut().cast(),
            address_ptr: address_ptr(csp.address()),
            evd_handle: handle_or_null(csp.point.evd().as_ref()),
        });
        Ok(())
    })
}

/// Slot of dat_csp_free.
pub extern "C" fn dat_csp_free<F: Face<Version = Udat20>>(csp_handle: DAT_CSP_HANDLE) -> DAT_RETURN {
    slow::<F>(|| {
        find::<F, Csp<F::Transport>>(csp_handle, Role::Csp)?.free();
        Ok(())
    })
}

/// Slot of dat_ep_common_connect.
///
/// # Safety
/// The address is NULL or complete; `private_data` is NULL or has that many bytes.
pub unsafe extern "C" fn dat_ep_common_connect<F: Face<Version = Udat20>>(
    ep_handle: DAT_EP_HANDLE,
    remote_ia_address: DAT_IA_ADDRESS_PTR,
    timeout: DAT_TIMEOUT,
    private_data_size: DAT_COUNT,
    private_data: DAT_PVOID,
) -> DAT_RETURN {
    making::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        let limits = ep.ia().transport.attributes();
        let fits = |size| limits.check_private_data(size);
        // SAFETY: the caller's promise.
        let private_data = unsafe { connect::private_data(private_data_size, private_data, fits, 4) }?;
        // SAFETY: the caller's promise.
        let address = unsafe { self::address(remote_ia_address, 2) }?;
        if !address.is_host() {
            return Err(Fault::Core(Error::InvalidAddress(AddressFault::Unsupported)));
        }
        ep.common_connect(&address, connect::duration(timeout), &private_data).at(&[(Arg::Timeout, 3)])
    })
}
