//! The wire format of rejections: a header as in the C providers over rdma_cm, then private data.
//!
//! The header distinguishes a rejection by the program from the end of a process. The C providers write a version into
//! it, and do not read it. InfiniBand pads private data with zeros, so this library stores the length plus one in the
//! header's last byte. The C provider stores 0 there, so the length is unknown. Its predecessor, which sends no private
//! data, stores 1.

use arrayvec::ArrayVec;
use dat_core::transport::ConnectionReport;

/// Maximum private data of a rejection, as in the C provider over rdma_cm.
pub const MAX_REJECT_DATA: usize = 112 - HEADER;

const HEADER: usize = 4;
/// The header without its last byte.
const VERSION: [u8; HEADER - 1] = [2, 0, 2];
/// The header of the C provider's predecessor, which sends no private data in rejections.
const WITHOUT_DATA: [u8; HEADER] = [0, 0, 0, 1];
/// The reason of the InfiniBand CM for a rejection by an application, `IB_CM_REJ_CONSUMER_DEFINED`.
pub const REJECTED_BY_APPLICATION: i32 = 28;

/// Encodes a rejection by the program.
pub fn write(private_data: &[u8]) -> ArrayVec<u8, { HEADER + MAX_REJECT_DATA }> {
    let private_data = &private_data[..private_data.len().min(MAX_REJECT_DATA)];
    let mut bytes = ArrayVec::from_iter(VERSION);
    bytes.push(private_data.len() as u8 + 1);
    bytes.extend(private_data.iter().copied());
    bytes
}

/// Decodes a rejection with the reason `status`. It is by the peer's program if it has a header and, on InfiniBand, the
/// reason [`REJECTED_BY_APPLICATION`].
pub fn read(status: i32, bytes: &[u8], iwarp: bool) -> ConnectionReport {
    // iWARP transmits no reason, so only the header counts there.
    let by_application = status == REJECTED_BY_APPLICATION || iwarp;
    // Bytes that are all zero are padding: each header contains a byte other than zero.
    if by_application && bytes.iter().any(|&byte| byte != 0) {
        ConnectionReport::PeerRejected(private_data(bytes).to_vec())
    } else {
        ConnectionReport::NonPeerRejected
    }
}

/// Returns the private data of a rejection. If the length is unknown, returns all bytes after the header, or none if
/// all are zero.
fn private_data(bytes: &[u8]) -> &[u8] {
    let Some((header, data)) = bytes.split_first_chunk::<HEADER>() else { return &[] };
    let length = match header {
        &WITHOUT_DATA => Some(0),
        [version @ .., length] if *version == VERSION => usize::from(*length).checked_sub(1),
        _ => None,
    };
    match length.and_then(|length| data.get(..length)) {
        Some(data) => data,
        None if data.iter().all(|&byte| byte == 0) => &[],
        None => data,
    }
}

#[cfg(test)]
mod tests;
