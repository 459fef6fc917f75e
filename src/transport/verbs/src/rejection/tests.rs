use super::*;

/// Returns the bytes as InfiniBand delivers them.
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
