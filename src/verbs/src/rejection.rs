//! Rejections as they are on the wire: private data that begin with a header, as the C providers over rdma_cm write it.
//!
//! The header is there so that the peer tells a rejection by the program from the end of a process. The C providers write
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
const REJECTED_BY_APPLICATION: i32 = 28;

/// The bytes of a rejection by the program, with these private data.
pub fn write(private_data: &[u8]) -> ArrayVec<u8, { HEADER + MAX_REJECT_DATA }> {
    let private_data = &private_data[..private_data.len().min(MAX_REJECT_DATA)];
    let mut bytes = ArrayVec::from_iter(VERSION);
    bytes.push(private_data.len() as u8 + 1);
    bytes.extend(private_data.iter().copied());
    bytes
}

/// Who has rejected a request, and with which private data, as the reason and the bytes of the rejection tell.
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
    let told = match header {
        &WITHOUT_DATA => Some(0),
        [version @ .., length] if *version == VERSION => usize::from(*length).checked_sub(1),
        _ => None,
    };
    match told.and_then(|length| data.get(..length)) {
        Some(data) => data,
        None if data.iter().all(|&byte| byte == 0) => &[],
        None => data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes as InfiniBand delivers them.
    fn padded(bytes: &[u8]) -> Vec<u8> {
        let mut padded = bytes.to_vec();
        padded.resize(148, 0);
        padded
    }

    fn rejected(private_data: &[u8]) -> ConnectionReport {
        ConnectionReport::PeerRejected(private_data.to_vec())
    }

    #[test]
    fn private_data_arrive_with_their_length_in_spite_of_the_padding() {
        for private_data in [&[][..], &[0], &[1, 2, 0], &[0; MAX_REJECT_DATA], &[7; MAX_REJECT_DATA]] {
            let bytes = write(private_data);
            assert_eq!(read(REJECTED_BY_APPLICATION, &padded(&bytes), false), rejected(private_data));
            assert_eq!(read(-111, &bytes, true), rejected(private_data), "iWARP");
        }
        assert_eq!(write(&[9; 300]).len(), HEADER + MAX_REJECT_DATA);
    }

    #[test]
    fn rejections_of_the_c_providers_are_understood() {
        let of = |bytes: &[u8]| read(REJECTED_BY_APPLICATION, &padded(bytes), false);
        assert_eq!(of(&[0, 0, 0, 1]), rejected(&[]));
        assert_eq!(of(&[2, 0, 2, 0]), rejected(&[]));
        assert_eq!(of(&[2, 0, 2, 0, 5, 6]), rejected(&padded(&[5, 6])[..144]));
    }

    #[test]
    fn a_length_that_cannot_be_is_none() {
        let of = |bytes: &[u8]| read(REJECTED_BY_APPLICATION, bytes, false);
        assert_eq!(of(&[2, 0, 2, 4, 5, 6]), rejected(&[5, 6]));
        assert_eq!(of(&[2, 0, 2, 255, 0]), rejected(&[]));
        assert_eq!(of(&[2, 0, 2]), rejected(&[]));
        assert_eq!(of(&[90, 90, 90, 3, 1, 2]), rejected(&[1, 2]), "not a header");
    }

    #[test]
    fn what_no_program_has_rejected_is_told_apart() {
        for (status, bytes) in
            [(REJECTED_BY_APPLICATION, &[][..]), (REJECTED_BY_APPLICATION, &[0; 148]), (8, &[2, 0, 2, 1])]
        {
            assert_eq!(read(status, bytes, false), ConnectionReport::NonPeerRejected);
        }
        assert_eq!(read(0, &[0; 148], true), ConnectionReport::NonPeerRejected);
    }
}
