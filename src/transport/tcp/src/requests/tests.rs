use dat_software::user::{self, Target};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{TAIL, Tail, store_piece};

proptest! {
    /// Parts of random lengths. Some are received directly, the others in pieces of random lengths.
    #[test]
    fn stores_all_bytes_of_a_transfer_at_their_offsets(parts in vec((1..40_usize, any::<bool>(), 1..12_usize), 1..6)) {
        let len: usize = parts.iter().map(|(part, ..)| part).sum();
        let bytes: Vec<u8> = (1..=len).map(|at| at as u8).collect();
        let (mut place, mut tail, mut offset) = (vec![0; len], Tail::new(), 0);
        for (part, direct, step) in parts {
            let end = offset + part;
            let before = match direct {
                // The receiving direction leaves the tail.
                true if end < len => part,
                true => part.saturating_sub(TAIL as usize),
                false => 0,
            };
            // The tail contains bytes of an earlier part.
            let before = if tail.is_empty() { before } else { 0 };
            place[offset..offset + before].copy_from_slice(&bytes[offset..offset + before]);
            offset += before;
            while offset < end {
                let piece = &bytes[offset..(offset + step).min(end)];
                let stored = store_piece(&mut tail, [offset as u64, len as u64], piece, |at, source, _| {
                    let at = at as usize;
                    let len = source.len();
                    if user::copy(Target::of(&mut place[at..at + len]), source) == len { Ok(()) } else { Err(()) }
                });
                prop_assert!(stored.is_ok());
                offset += piece.len();
            }
        }
        prop_assert!(tail.is_empty());
        prop_assert_eq!(place, bytes);
    }
}
