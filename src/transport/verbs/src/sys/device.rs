//! The device list, and open devices.

use std::ffi::{c_uint, c_void};
use std::io;
use std::sync::Arc;

use rdma_sys::*;

use super::freeing::Freeing;
use super::{Owned, check_room, code, keep_memory_over_forks, made, text, with_fork_lock, zeroed};

/// Returns the names of the devices for which libibverbs has a driver.
pub fn names() -> io::Result<Vec<String>> {
    with_fork_lock(|| with_list(|list| list.iter().map(|&device| name_of(device)).collect()))
}

pub(super) fn name_of(device: *mut ibv_device) -> String {
    // SAFETY: the device is in a live list, or has an open context.
    let name = unsafe { ibv_get_device_name(device) };
    // SAFETY: a C string in an array of the device.
    unsafe { text(name) }
}

fn with_list<R>(f: impl FnOnce(&[*mut ibv_device]) -> R) -> io::Result<R> {
    check_room()?;
    let mut count = 0;
    // SAFETY: `count` is writable.
    let list = made(|| unsafe { ibv_get_device_list(&raw mut count) })?.as_ptr();
    // SAFETY: the list has `count` entries, and is freed only below. Open devices hold their own references.
    let result = f(unsafe { std::slice::from_raw_parts(list, usize::try_from(count).unwrap_or(0)) });
    // SAFETY: the list comes from ibv_get_device_list and is freed once.
    unsafe { ibv_free_device_list(list) };
    Ok(result)
}

pub type Context = Owned<ibv_context, Arc<Freeing>, 2>;

#[derive(Debug)]
pub struct AsyncEvent {
    /// A value of [`event`], or an unknown one.
    pub kind: c_uint,
    /// Number of the queue pair, or address of another object.
    pub object: usize,
}

pub mod event {
    pub use crate::sys::layout::headers::{
        ibv_event_type_IBV_EVENT_COMM_EST as COMM_EST, ibv_event_type_IBV_EVENT_CQ_ERR as CQ_ERR,
        ibv_event_type_IBV_EVENT_DEVICE_FATAL as DEVICE_FATAL, ibv_event_type_IBV_EVENT_QP_ACCESS_ERR as QP_ACCESS_ERR,
        ibv_event_type_IBV_EVENT_QP_FATAL as QP_FATAL,
        ibv_event_type_IBV_EVENT_QP_LAST_WQE_REACHED as QP_LAST_WQE_REACHED,
        ibv_event_type_IBV_EVENT_QP_REQ_ERR as QP_REQ_ERR, ibv_event_type_IBV_EVENT_SRQ_ERR as SRQ_ERR,
        ibv_event_type_IBV_EVENT_SRQ_LIMIT_REACHED as SRQ_LIMIT_REACHED,
    };
}

/// `ibv_async_event` with an integer for the enumeration, because newer libraries may deliver other values.
#[repr(C)]
pub(super) struct RawAsyncEvent {
    pub(super) element: *mut c_void,
    pub(super) event_type: c_uint,
}

impl Context {
    pub fn open(name: &str, freeing: &Arc<Freeing>) -> io::Result<Self> {
        let open = |_: &_| {
            keep_memory_over_forks();
            with_list(|list| {
                let device = list.iter().copied().find(|&device| name_of(device) == name);
                let Some(device) = device else { return Err(io::Error::from_raw_os_error(libc::ENODEV)) };
                // SAFETY: the device is in a live list.
                made(|| unsafe { ibv_open_device(device) })
            })?
        };
        Owned::with_descriptors(freeing.clone(), open, |raw| [raw.cmd_fd, raw.async_fd])
    }

    pub fn query(&self) -> io::Result<ibv_device_attr> {
        let mut attr: ibv_device_attr = zeroed();
        // SAFETY: the call writes the structure.
        code(|| unsafe { ibv_query_device(self.as_ptr(), &raw mut attr) })?;
        Ok(attr)
    }

    pub fn query_port(&self, port: u8) -> io::Result<ibv_port_attr> {
        let mut attr: ibv_port_attr = zeroed();
        // SAFETY: the call writes the structure, or a prefix of it.
        code(|| unsafe { ___ibv_query_port(self.as_ptr(), port, &raw mut attr) })?;
        Ok(attr)
    }

    /// Returns the GID at `index` (from 0) in the table of a port.
    pub fn query_gid(&self, port: u8, index: u8) -> io::Result<[u8; 16]> {
        let mut gid = ibv_gid { raw: [0; 16] };
        // SAFETY: `gid` is writable.
        code(|| unsafe { ibv_query_gid(self.as_ptr(), port, index.into(), &raw mut gid) })?;
        // SAFETY: all bytes are initialised, and any values are valid.
        Ok(unsafe { gid.raw })
    }

    pub fn is_iwarp(&self) -> bool {
        // SAFETY: the device outlives its open context.
        let kind = unsafe { (*self.device).transport_type };
        kind as i64 == ibv_transport_type::IBV_TRANSPORT_IWARP as i64
    }

    pub fn next_event(&self) -> Option<AsyncEvent> {
        let mut raw = RawAsyncEvent { element: std::ptr::null_mut(), event_type: 0 };
        // SAFETY: the structure has the layout that the call writes, and the descriptor does not block.
        if unsafe { ibv_get_async_event(self.as_ptr(), (&raw mut raw).cast()) } != 0 {
            return None;
        }
        let object = match raw.event_type {
            event::QP_FATAL..=event::COMM_EST | event::QP_LAST_WQE_REACHED => {
                // SAFETY: for these kinds, the element is a queue pair, which is not destroyed before the
                // acknowledgement.
                unsafe { (*raw.element.cast::<ibv_qp>()).qp_num as usize }
            }
            _ => raw.element as usize,
        };
        // SAFETY: the event comes from ibv_get_async_event and is acknowledged once.
        unsafe { ibv_ack_async_event((&raw mut raw).cast()) };
        Some(AsyncEvent { kind: raw.event_type, object })
    }
}
