//! Translates errors of the device for core.

use std::io;

use dat_core::error::{Error, Resource};
use dat_core::event::Status;
use host::lock::MutexGuard;
use rdma_sys::{ibv_wc_status, ibv_wc_status_str};

use crate::sys;

/// Returns a function that logs an error, and translates it to a lack of `resource`.
pub fn exhausted(resource: Resource) -> impl Fn(io::Error) -> Error {
    move |error| {
        log::warn!("device: insufficient resources ({resource}): {error}");
        Error::InsufficientResources(resource)
    }
}

/// Translates the error of a post, after unlocking the queue. Out of line, to keep the post short.
#[cold]
#[inline(never)]
pub fn refused<S>(locked: MutexGuard<'_, S>, error: io::Error) -> Error {
    drop(locked);
    exhausted(Resource::Memory)(error)
}

pub fn of_completion(status: ibv_wc_status::Type) -> Status {
    use ibv_wc_status as wc;
    match status {
        wc::IBV_WC_SUCCESS => Status::Success,
        wc::IBV_WC_WR_FLUSH_ERR => Status::Flushed,
        wc::IBV_WC_LOC_LEN_ERR => Status::LocalLength,
        wc::IBV_WC_LOC_QP_OP_ERR | wc::IBV_WC_LOC_EEC_OP_ERR => Status::LocalEndpoint,
        wc::IBV_WC_LOC_PROT_ERR | wc::IBV_WC_LOC_ACCESS_ERR => Status::LocalProtection,
        wc::IBV_WC_MW_BIND_ERR => Status::RmrOperation,
        wc::IBV_WC_BAD_RESP_ERR => Status::BadResponse,
        wc::IBV_WC_REM_ACCESS_ERR => Status::RemoteAccess,
        wc::IBV_WC_REM_INV_REQ_ERR | wc::IBV_WC_REM_OP_ERR | wc::IBV_WC_REM_ABORT_ERR => Status::RemoteResponder,
        wc::IBV_WC_RETRY_EXC_ERR | wc::IBV_WC_RESP_TIMEOUT_ERR => Status::Transport,
        wc::IBV_WC_RNR_RETRY_EXC_ERR => Status::ReceiverNotReady,
        wc::IBV_WC_FATAL_ERR | wc::IBV_WC_GENERAL_ERR => Status::Transport,
        other => {
            log::warn!("completion: unknown status {other} ({}), reported as a transport error", text(other));
            Status::Transport
        }
    }
}

/// Returns the status of a receive. With `misnames` ([`crate::quirks`]), the device reports too long messages as an
/// inconsistent queue pair or an invalid request. It also fails a receive after a forbidden write with immediate data;
/// such a receive counts as flushed.
pub fn of_receive(status: ibv_wc_status::Type, misnames: bool) -> Status {
    match status {
        ibv_wc_status::IBV_WC_LOC_QP_OP_ERR | ibv_wc_status::IBV_WC_REM_INV_REQ_ERR if misnames => Status::LocalLength,
        ibv_wc_status::IBV_WC_REM_ACCESS_ERR if misnames => Status::Flushed,
        other => of_completion(other),
    }
}

pub fn text(status: ibv_wc_status::Type) -> String {
    // SAFETY: the function accepts any value.
    let text = unsafe { ibv_wc_status_str(status) };
    // SAFETY: a constant C string, or NULL.
    unsafe { sys::text(text) }
}

#[cfg(test)]
mod tests;
