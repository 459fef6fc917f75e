//! Common service points, and connections to socket addresses.

use std::ptr;

use dat_core::addr::Address;
use dat_core::error::{AddressFault, Arg, Error, Role};
use dat_core::{Csp, Endpoint, Evd, Ia};
use dat_udat20::*;

use crate::attr::address_ptr;
use crate::call::making;
use crate::ep::connect;
use crate::handle::{find, give, handle_or_null};
use crate::ia::ia_handle;
use crate::ptr::{InPtr, OutPtr};
use crate::v20::Udat20;
use crate::v20::ep::core_comm;
use crate::{Answer, At, Fault, Provider};

/// Reads the socket address in argument `position`.
///
/// # Errors
/// The argument is invalid if it is NULL. [`AddressFault::Malformed`] if the family is neither IPv4 nor IPv6.
///
/// # Safety
/// `address` is NULL or complete for its family.
unsafe fn address(address: DAT_IA_ADDRESS_PTR, position: u32) -> Answer<Address> {
    // SAFETY: the caller passes NULL or a complete address.
    let address = unsafe { connect::address(address) }.ok_or(Fault::Argument(position))?;
    address.map_err(|_| Fault::Core(Error::InvalidAddress(AddressFault::Malformed)))
}

/// Slot of dat_csp_create.
///
/// # Safety
/// The address is NULL or complete for its family.
pub unsafe fn dat_csp_create<F: Provider<Version = Udat20>>(
    ia_handle: DAT_IA_HANDLE,
    comm: InPtr<DAT_COMM>,
    address: DAT_IA_ADDRESS_PTR,
    evd_handle: DAT_EVD_HANDLE,
    csp_handle: OutPtr<DAT_CSP_HANDLE>,
) -> DAT_RETURN {
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::EvdConnectionRequests)?;
        let comm = core_comm(comm.required(2)?);
        if address.is_null() {
            return Err(Fault::Argument(3));
        }
        let out = csp_handle.required(5)?;
        comm.check().at(&[])?;
        // SAFETY: the caller passes a complete address.
        let address = unsafe { self::address(address, 3) }?;
        give(out, &Csp::create(&ia, comm, &address, &evd).at(&[])?)
    })
}

crate::query_slot!(dat_csp_query: Csp as Csp, DAT_CSP_PARAM_MASK, DAT_CSP_FIELD_ALL, DAT_CSP_PARAM, |csp| {
    DAT_CSP_PARAM {
        ia_handle: ia_handle::<F>(&csp.point.ia),
        comm: ptr::from_ref(&csp.comm).cast_mut().cast(),
        address_ptr: address_ptr(csp.address()),
        evd_handle: handle_or_null(csp.point.evd().as_ref()),
    }
});

crate::simple_slot!(dat_csp_free: Csp as Csp, free);

/// Slot of dat_ep_common_connect.
///
/// # Safety
/// The address is NULL or complete for its family. `private_data` is NULL or has `private_data_size` bytes.
pub unsafe fn dat_ep_common_connect<F: Provider<Version = Udat20>>(
    ep_handle: DAT_EP_HANDLE,
    remote_ia_address: DAT_IA_ADDRESS_PTR,
    timeout: DAT_TIMEOUT,
    private_data_size: DAT_COUNT,
    private_data: DAT_PVOID,
) -> DAT_RETURN {
    making::<F>(|| {
        let ep = find::<F, Endpoint<F::Transport>>(ep_handle, Role::Ep)?;
        let most = ep.ia().attributes().max_private_data;
        // SAFETY: the caller passes NULL or `private_data_size` bytes.
        let private_data = unsafe { connect::private_data(private_data_size, private_data, most, 4) }?;
        // SAFETY: the caller passes NULL or a complete address.
        let address = unsafe { self::address(remote_ia_address, 2) }?;
        ep.common_connect(&address, connect::duration(timeout), &private_data).at(&[(Arg::Timeout, 3)])
    })
}
