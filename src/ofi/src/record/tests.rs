use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn headers_are_read_as_they_were_written(kind: u8, solicited: bool, bulk in 0..=BULK as u32, handled: u64, aux: u64, payload: Vec<u8>) {
        let header = Header { kind, flags: u8::from(solicited), bulk, handled, aux };
        let record = [&header.encode()[..], &payload].concat();
        prop_assert_eq!(Header::decode(&record), Some((header, &payload[..])));
    }

    #[test]
    fn no_bytes_are_too_strange_to_be_read(record: Vec<u8>) {
        if let Some((_, payload)) = Header::decode(&record) {
            prop_assert_eq!(payload.len() + HEADER, record.len());
        }
        let _ = (read_target(&record), read_number(&record), read_atomic(&record));
    }

    #[test]
    fn targets_and_operations_are_read_as_they_were_written(addr: u64, len in 0..=LARGEST, key: u32, a: u64, b: u64) {
        let remote = RemoteSegment { addr, len, key };
        let bytes = target(&remote);
        prop_assert_eq!(read_target(&bytes), Some((remote, &[][..])));
        let word = RemoteSegment { addr, len: WORD, key };
        for change in [Change::Add(a), Change::Swap { expected: a, new: b }] {
            prop_assert_eq!(read_atomic(&atomic(addr, key, change)), Some((word, change)));
        }
    }
}

#[test]
fn a_target_that_is_too_long_is_none() {
    let remote = RemoteSegment { addr: 0, len: LARGEST + 1, key: 1 };
    assert_eq!(read_target(&target(&remote)), None);
}

#[test]
fn ends_are_read_as_they_were_written() {
    let broken = STATUS.map(|status| End::Broken(Some(status)));
    for end in [End::Disconnected, End::Broken(None)].into_iter().chain(broken) {
        assert_eq!(End::decode(end.encode()), Some(end));
    }
    assert_eq!(End::decode(2 + STATUS.len() as u64), None);
    assert_eq!(End::decode(u64::MAX), None);
}
