use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn decodes_any_bytes(bytes: Vec<u8>) {
        let _ = (read_target(&bytes), read_number(&bytes), read_atomic(&bytes));
    }

    #[test]
    fn reads_the_targets_and_operations_that_it_writes(addr: u64, len in 0..=LARGEST, key: u32, a: u64, b: u64) {
        let remote = RemoteSegment { addr, len, key };
        prop_assert_eq!(read_target(&target(&remote)), Some(remote));
        let word = RemoteSegment { addr, len: WORD, key };
        for change in [Change::Add(a), Change::Swap { expected: a, new: b }] {
            prop_assert_eq!(read_atomic(&atomic(addr, key, change)), Some((word, change)));
        }
    }
}

#[test]
fn rejects_a_target_that_is_too_long() {
    let remote = RemoteSegment { addr: 0, len: LARGEST + 1, key: 1 };
    assert_eq!(read_target(&target(&remote)), None);
}

#[test]
fn rejects_unknown_atomic_operations() {
    // An unknown operation, and a second operand of an addition.
    for (at, bit) in [(28, 2), (31, 1), (16, 1), (23, 128)] {
        let mut bytes = atomic(8, 77, Change::Add(5));
        bytes[at] ^= bit;
        assert_eq!(read_atomic(&bytes), None, "{at}");
    }
}
