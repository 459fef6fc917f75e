//! Events in the form of uDAPL 2.0.

use std::mem::{self, offset_of};

use dat_core::event::{Event, PeerEvent, Status, Transfer};
use dat_udat20::*;

use crate::handle::raw;
use crate::ptr::{Out, write_field};

const _: () = assert!(size_of::<DAT_IB_EXTENSION_EVENT_DATA>() == size_of::<[DAT_UINT64; 8]>());
// `DAT_IB_ADDR_HANDLE` has no padding.
const _: () = assert!(
    size_of::<DAT_IB_ADDR_HANDLE>() == size_of::<usize>() + size_of::<DAT_UINT32>() + size_of::<DAT_SOCK_ADDR6>()
);

/// Offset of the extension data in an event.
const EXTENSION: usize = offset_of!(DAT_EVENT, event_extension_data);

/// Writes `value` at an offset in an event.
#[inline(always)]
fn write_at<V>(out: Out<DAT_EVENT>, offset: usize, value: V) {
    assert!(offset + size_of::<V>() <= size_of::<DAT_EVENT>());
    // SAFETY: an `Out` is writable, and the value is inside the event.
    unsafe { out.as_ptr().wrapping_byte_add(offset).cast::<V>().write_unaligned(value) };
}

/// Writes the operation, and 0 as the `rmr_context` after the operation, in one store for the fast path.
#[inline(always)]
pub(crate) fn write_operation(out: Out<DAT_EVENT>, operation: DAT_DTOS) {
    type Data = DAT_DTO_COMPLETION_EVENT_DATA;
    const { assert!(offset_of!(Data, rmr_context) == offset_of!(Data, operation) + size_of::<DAT_DTOS>()) };
    let both = if cfg!(target_endian = "little") { u64::from(operation) } else { u64::from(operation) << 32 };
    write_at(out, offset_of!(DAT_EVENT, event_data.dto_completion_event_data.operation), both);
}

/// Adds the fields of an extended transfer to the event that was written for an ordinary transfer.
#[cold]
#[inline(never)]
pub(crate) fn extend(out: Out<DAT_EVENT>, status: Status, transfer: Transfer, extra: u32) {
    let (operation, kind) = match transfer {
        Transfer::WriteImmediate => (DAT_IB_DTO_RDMA_WRITE_IMMED, DAT_IB_RDMA_WRITE_IMMED),
        Transfer::RecvImmediate => (DAT_IB_DTO_RECV_IMMED, DAT_IB_RDMA_WRITE_IMMED_DATA),
        Transfer::FetchAdd => (DAT_IB_DTO_FETCH_ADD, DAT_IB_FETCH_AND_ADD),
        Transfer::CompareSwap => (DAT_IB_DTO_CMP_SWAP, DAT_IB_CMP_AND_SWAP),
        Transfer::SendDatagram => (DAT_IB_DTO_SEND_UD, DAT_IB_UD_SEND),
        Transfer::RecvDatagram => (DAT_IB_DTO_RECV_UD, DAT_IB_UD_RECV),
        // This operation is no extension, but part of uDAPL 2.0.
        Transfer::RecvInvalidated => {
            write_operation(out, DAT_DTO_RECEIVE_WITH_INVALIDATE);
            return write_field!(out, event_data.dto_completion_event_data.rmr_context, extra);
        }
        Transfer::Send | Transfer::Write | Transfer::Read | Transfer::Recv => return,
    };
    write_field!(out, event_number, DAT_IB_DTO_EVENT);
    write_field!(out, event_data.dto_completion_event_data.operation, operation);
    let status = if status == Status::Success { DAT_OP_SUCCESS } else { DAT_IB_OP_ERR };
    write_at(out, EXTENSION + offset_of!(DAT_IB_EXTENSION_EVENT_DATA, r#type), kind);
    write_at(out, EXTENSION + offset_of!(DAT_IB_EXTENSION_EVENT_DATA, status), status);
    write_at(out, EXTENSION + offset_of!(DAT_IB_EXTENSION_EVENT_DATA, val.immed.data), extra);
}

/// The fields that an event about datagrams has in addition to a similar ordinary event.
pub(crate) struct DatagramEvent {
    number: DAT_EVENT_NUMBER,
    kind: DAT_IB_EXT_TYPE,
    peer: Option<(DAT_CONTEXT, DAT_IB_ADDR_HANDLE)>,
}

impl DatagramEvent {
    /// Returns the fields of an event about datagrams, or `None` for any other event.
    pub fn of(event: &Event) -> Option<Self> {
        let (kind, peer) = match event {
            Event::ConnectionRequest { datagrams: true, .. } => {
                let (number, kind) = (DAT_IB_UD_CONNECTION_REQUEST_EVENT, DAT_IB_UD_CONNECT_REQUEST);
                return Some(DatagramEvent { number, kind, peer: None });
            }
            Event::Peer { kind, peer, .. } => (kind, peer),
            _ => return None,
        };
        let (number, kind) = match kind {
            PeerEvent::Answered => (DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED, DAT_IB_UD_REMOTE_AH),
            PeerEvent::Accepted => (DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED, DAT_IB_UD_PASSIVE_REMOTE_AH),
            PeerEvent::Rejected => (DAT_IB_UD_CONNECTION_REJECT_EVENT, DAT_IB_UD_CONNECT_REJECT),
            PeerEvent::Failed => (DAT_IB_UD_CONNECTION_ERROR_EVENT, DAT_IB_UD_CONNECT_ERROR),
        };
        let handle = || DAT_IB_ADDR_HANDLE {
            // Programs only pass `ah` back or compare it with NULL.
            ah: raw(peer.handle).cast(),
            qpn: peer.number,
            // SAFETY: every byte pattern is an address, and both types have 28 bytes.
            ia_addr: unsafe { mem::transmute::<[u8; 28], DAT_SOCK_ADDR6>(*peer.address.native()) },
        };
        let known = number == DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED;
        let peer = known.then(|| (DAT_CONTEXT { as_64: peer.handle.0 as u64 }, handle()));
        Some(DatagramEvent { number, kind, peer })
    }

    /// Changes the written ordinary event to an event about datagrams. The extension data was zero, and its padding
    /// stays zero.
    pub fn write(self, out: Out<DAT_EVENT>) {
        write_field!(out, event_number, self.number);
        write_at(out, EXTENSION + offset_of!(DAT_IB_EXTENSION_EVENT_DATA, r#type), self.kind);
        if let Some((context, handle)) = self.peer {
            write_at(out, EXTENSION + offset_of!(DAT_IB_EXTENSION_EVENT_DATA, context), context);
            write_at(out, EXTENSION + offset_of!(DAT_IB_EXTENSION_EVENT_DATA, more.remote_ah), handle);
        }
    }
}

// The core uses the numbers of the interface, so that the kind of a transfer needs no conversion.
const _: () = {
    assert!(Transfer::Send as DAT_DTOS == DAT_DTO_SEND);
    assert!(Transfer::Write as DAT_DTOS == DAT_DTO_RDMA_WRITE);
    assert!(Transfer::Read as DAT_DTOS == DAT_DTO_RDMA_READ);
    assert!(Transfer::Recv as DAT_DTOS == DAT_DTO_RECEIVE);
};
