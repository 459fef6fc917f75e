use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn words_are_read_as_they_were_written(
        extended: bool,
        datagrams: u32,
        reads_in: u8,
        reads_out: u8,
        data in prop::collection::vec(any::<u8>(), 0..=MAX_PRIVATE_DATA),
    ) {
        let terms = Terms { extended, datagrams, reads_in, reads_out };
        let rejections = [Rejection::Consumer, Rejection::Provider].map(Refusal::Rejected);
        for word in [Ok(terms), Err(Refusal::Again)].into_iter().chain(rejections.map(Err)) {
            let bytes = encode(word, &data);
            prop_assert!(bytes.len() <= 256);
            prop_assert_eq!(decode(&bytes), Some((word, data.clone())));
            // The slice may be longer than the greeting.
            let padded = [&bytes[..], &[7; 9]].concat();
            prop_assert_eq!(decode(&padded), Some((word, data.clone())));
        }
    }

    #[test]
    fn no_bytes_are_too_strange_to_be_read(bytes: Vec<u8>) {
        let _ = decode(&bytes);
    }
}

#[test]
fn the_word_of_a_stranger_is_none() {
    assert_eq!(decode(b"GET / HTTP/1.1\r\nHost: somebody\r\n\r\n"), None);
    assert_eq!(decode(&[0; 64]), None);
    let good = encode(Err(Refusal::Rejected(Rejection::Consumer)), b"");
    for at in 0..SIZE {
        let mut bad = good.clone();
        bad[at] ^= 0x80;
        assert_eq!(decode(&bad), None, "byte {at}");
    }
}
