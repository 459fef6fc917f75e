//! Rejections as they are on the wire: private data that begin with a header, as the C providers over rdma_cm write it.
//!
//! By the header the peer knows a rejection by the program from the end of a process. The C providers write
//! the version of their private data into it, and read none of it. InfiniBand pads private data with zeros, so the length
//! gets lost; the last byte of the header has it here, plus one. It is 0 in the header of uDAPL's provider in C with private
//! data, whose length is not known then, and 1 in that of its forerunner, which had none.

use arrayvec::ArrayVec;
use dat_core::transport::ConnectionReport;

/// The most private data of a rejection: what the C provider over rdma_cm takes, without the header.
pub const MAX_REJECT_DATA: usize = 112 - HEADER;

/// Bytes of the header.
const HEADER: usize = 4;
/// The header but for its last byte.
const VERSION: [u8; HEADER - 1] = [2, 0, 2];
/// The header of a provider that has no private data of rejections.
const WITHOUT_DATA: [u8; HEADER] = [0, 0, 0, 1];
/// The kernel's number for a rejection that an application asked for.
pub const REJECTED_BY_APPLICATION: i32 = 28;

/// The bytes of a rejection by the program, with these private data.
pub fn write(private_data: &[u8]) -> ArrayVec<u8, { HEADER + MAX_REJECT_DATA }> {
    let private_data = &private_data[..private_data.len().min(MAX_REJECT_DATA)];
    let mut bytes = ArrayVec::from_iter(VERSION);
    bytes.push(private_data.len() as u8 + 1);
    bytes.extend(private_data.iter().copied());
    bytes
}

/// Who has rejected a request, and with which private data, from the reason and the bytes of the rejection.
pub fn read(status: i32, bytes: &[u8], iwarp: bool) -> ConnectionReport {
    // iWARP gives no reason.
    let by_application = status == REJECTED_BY_APPLICATION || iwarp;
    // Whatever the version, its header is not all zero.
    if by_application && bytes.iter().any(|&byte| byte != 0) {
        ConnectionReport::PeerRejected(private_data(bytes).to_vec())
    } else {
        ConnectionReport::NonPeerRejected
    }
}

/// The private data among the bytes of a rejection. Without a length these are all behind the header, with the padding; or
/// none if all of these are zero.
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
