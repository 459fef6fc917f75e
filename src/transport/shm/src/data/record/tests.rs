use super::*;
use crate::ring::ONE;

#[test]
fn decodes_encoded_atomic_operations() {
    for change in [Change::Add(u64::MAX), Change::Swap { expected: 1 << 63, new: 3 }] {
        let bytes = atomic(1 << 50 | 8, 77, change);
        assert!(bytes.len() <= ONE, "one line");
        assert_eq!(read_atomic(&bytes), Some((1 << 50 | 8, 77, change)));
    }
    // An unknown operation, and a second operand of an addition.
    for (at, bit) in [(28, 2), (31, 1), (16, 1), (23, 128)] {
        let mut bytes = atomic(8, 77, Change::Add(5));
        bytes[at] ^= bit;
        assert_eq!(read_atomic(&bytes), None, "{at}");
    }
}

#[test]
fn last_piece_holds_a_word() {
    for len in 0..200_u64 {
        let mut rest = len;
        loop {
            let now = piece(rest, 30);
            assert!(now <= 30 && now <= rest);
            rest -= now;
            if rest == 0 {
                assert!(now >= len.min(WORD), "{len}");
                break;
            }
            assert!(now > 0);
        }
    }
}
