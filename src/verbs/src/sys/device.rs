//! The list of devices, and an open device.

use std::ffi::{CStr, c_uint, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

use rdma_sys::*;

use super::{Owned, check_room, code, keep_memory_over_forks, made, nonblocking, undivided};

/// Names of the existing devices.
pub fn names() -> Vec<String> {
    undivided(|| with_list(|list| list.iter().map(|&device| name_of(device)).collect())).unwrap_or_else(|error| {
        log::warn!("cannot list the RDMA devices: {error}");
        Vec::new()
    })
}

fn name_of(device: *mut ibv_device) -> String {
    // SAFETY: the device is in a live list; the name is a C string in a fixed array.
    let name = unsafe { ibv_get_device_name(device) };
    if name.is_null() {
        return String::new();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

fn with_list<R>(f: impl FnOnce(&[*mut ibv_device]) -> R) -> io::Result<R> {
    check_room()?;
    let mut count = 0;
    // SAFETY: `count` is writable.
    let list = made(|| unsafe { ibv_get_device_list(&raw mut count) })?.as_ptr();
    // SAFETY: the list has `count` entries and is freed below, after its last use. Devices that were opened keep what
    // they need.
    let result = f(unsafe { std::slice::from_raw_parts(list, usize::try_from(count).unwrap_or(0)) });
    // SAFETY: the list comes from ibv_get_device_list and is freed once.
    unsafe { ibv_free_device_list(list) };
    Ok(result)
}

/// An open device, with event descriptors of its own.
pub struct Context {
    pub(super) raw: Owned<ibv_context, 2>,
}

/// An event that concerns an object of a device, or the device itself.
#[derive(Clone, Copy, Debug)]
pub enum AsyncEvent {
    /// The queue pair with this number cannot go on.
    QpFailed(u32),
    /// The queue pair with this number cannot go on, because the peer has asked it for what it may not have.
    QpMisused(u32),
    /// Data came for the queue pair with this number before the connection was announced.
    QpEstablished(u32),
    /// A queue pair in the error state takes no more buffers of its shared queue.
    QpLastReached(u32),
    /// A completion queue, named by its address, lost completions.
    CqFailed(usize),
    /// The shared receive queue at this address has fewer receives than its limit.
    SrqLimit(usize),
    /// The shared receive queue at this address cannot go on.
    SrqFailed(usize),
    /// The device cannot go on.
    DeviceFailed,
    /// Anything else, by its number.
    Other(c_uint),
}

/// The layout of `ibv_async_event`, with a number where the bindings have an enumeration: a library newer than the
/// bindings may deliver a value that they do not know.
#[repr(C)]
struct RawAsyncEvent {
    element: *mut c_void,
    event_type: c_uint,
}

impl Context {
    /// Opens the device of this name.
    pub fn open(name: &str) -> io::Result<Self> {
        let open = || {
            keep_memory_over_forks();
            with_list(|list| {
                let device = list.iter().copied().find(|&device| name_of(device) == name);
                let Some(device) = device else { return Err(io::Error::from_raw_os_error(libc::ENODEV)) };
                // SAFETY: the device is in a live list.
                made(|| unsafe { ibv_open_device(device) })
            })?
        };
        let context = Context { raw: Owned::with_descriptors(open, |raw| [raw.cmd_fd, raw.async_fd])? };
        nonblocking(context.events())?;
        Ok(context)
    }

    /// The descriptor that becomes readable when there is an asynchronous event.
    pub fn events(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor belongs to an open context, whose field names it as long as the context lives.
        unsafe { BorrowedFd::borrow_raw(self.raw.async_fd) }
    }

    /// Limits and abilities of the device.
    pub fn query(&self) -> io::Result<ibv_device_attr> {
        let mut attr = MaybeUninit::<ibv_device_attr>::zeroed();
        // SAFETY: the call writes the structure.
        code(|| unsafe { ibv_query_device(self.raw.as_ptr(), attr.as_mut_ptr()) })?;
        // SAFETY: the structure is plain data, all of it initialised.
        Ok(unsafe { attr.assume_init() })
    }

    /// Limits and state of a port.
    pub fn query_port(&self, port: u8) -> io::Result<ibv_port_attr> {
        let mut attr = MaybeUninit::<ibv_port_attr>::zeroed();
        // SAFETY: the call writes the structure, or a prefix of it.
        code(|| unsafe { ___ibv_query_port(self.raw.as_ptr(), port, attr.as_mut_ptr()) })?;
        // SAFETY: the structure is plain data, all of it initialised.
        Ok(unsafe { attr.assume_init() })
    }

    /// The first global address of a port.
    pub fn query_gid(&self, port: u8) -> io::Result<[u8; 16]> {
        let mut gid = ibv_gid { raw: [0; 16] };
        // SAFETY: the call writes the address.
        code(|| unsafe { ibv_query_gid(self.raw.as_ptr(), port, 0, &raw mut gid) })?;
        // SAFETY: all of its bytes are initialised, and any values are valid.
        Ok(unsafe { gid.raw })
    }

    pub fn is_iwarp(&self) -> bool {
        // SAFETY: an open context has a device, which outlives it.
        let kind = unsafe { (*self.raw.device).transport_type };
        kind as i64 == ibv_transport_type::IBV_TRANSPORT_IWARP as i64
    }

    /// The next asynchronous event, if there is one.
    pub fn next_event(&self) -> Option<AsyncEvent> {
        const CQ_ERR: c_uint = 0;
        const QP_FATAL: c_uint = 1;
        const QP_REQ_ERR: c_uint = 2;
        const QP_ACCESS_ERR: c_uint = 3;
        const COMM_EST: c_uint = 4;
        const DEVICE_FATAL: c_uint = 8;
        const SRQ_ERR: c_uint = 14;
        const SRQ_LIMIT_REACHED: c_uint = 15;
        const QP_LAST_WQE_REACHED: c_uint = 16;
        const _: () = assert!(size_of::<RawAsyncEvent>() == size_of::<ibv_async_event>());
        let mut event = RawAsyncEvent { element: std::ptr::null_mut(), event_type: 0 };
        // SAFETY: the structure has the layout that the call writes, and the descriptor does not block.
        if unsafe { ibv_get_async_event(self.raw.as_ptr(), (&raw mut event).cast()) } != 0 {
            return None;
        }
        // SAFETY: for events of queue pairs the element is a queue pair, which is not destroyed before its events are
        // acknowledged.
        let qp = || unsafe { (*event.element.cast::<ibv_qp>()).qp_num };
        let told = match event.event_type {
            CQ_ERR => AsyncEvent::CqFailed(event.element as usize),
            QP_FATAL => AsyncEvent::QpFailed(qp()),
            QP_REQ_ERR | QP_ACCESS_ERR => AsyncEvent::QpMisused(qp()),
            COMM_EST => AsyncEvent::QpEstablished(qp()),
            DEVICE_FATAL => AsyncEvent::DeviceFailed,
            SRQ_ERR => AsyncEvent::SrqFailed(event.element as usize),
            SRQ_LIMIT_REACHED => AsyncEvent::SrqLimit(event.element as usize),
            QP_LAST_WQE_REACHED => AsyncEvent::QpLastReached(qp()),
            other => AsyncEvent::Other(other),
        };
        // SAFETY: the event comes from ibv_get_async_event and is acknowledged once.
        unsafe { ibv_ack_async_event((&raw mut event).cast()) };
        Some(told)
    }
}
