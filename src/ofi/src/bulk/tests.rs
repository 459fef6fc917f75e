use proptest::prelude::*;

use super::*;

fn segments(lens: &[u64]) -> Vec<Segment> {
    lens.iter().map(|&len| Segment { len, ..Segment::default() }).collect()
}

proptest! {
    #[test]
    fn a_part_ends_with_the_pieces_of_a_message(lens in prop::collection::vec(0_u64..100, 0..10), offset in 0_u64..400) {
        let list = segments(&lens);
        let most = 3;
        // Byte by byte: those behind the offset, until a byte would lie in a fourth segment.
        let places = lens.iter().enumerate().flat_map(|(at, &len)| (0..len).map(move |_| at)).skip(offset as usize);
        let mut used = Vec::new();
        let expected = places
            .take_while(|at| {
                if used.last() != Some(at) {
                    used.push(*at);
                }
                used.len() <= most
            })
            .count();
        prop_assert_eq!(reach(&list, offset, most), expected as u64);
    }

    #[test]
    fn each_byte_is_put_once(long: Vec<u8>, rest: Vec<u8>, head in 0_usize..10) {
        let whole = [&long[..], rest.get(head..).unwrap_or_default()].concat();
        let mut got = vec![0; whole.len()];
        let body = Body::Apart(&long, &rest).behind(head);
        prop_assert_eq!(body.len(), whole.len() as u64);
        let all = body.place(|before, bytes| {
            let at = before as usize;
            got[at..at + bytes.len()].copy_from_slice(bytes);
            true
        });
        prop_assert!(all);
        prop_assert_eq!(&got, &whole);

        // Those in their place are left out.
        let placed = Body::Placed(long.len() as u64, &rest).behind(head);
        prop_assert_eq!(placed.len(), whole.len() as u64);
        placed.place(|before, bytes| {
            assert_eq!(&whole[before as usize..], bytes);
            true
        });
    }
}

#[test]
fn no_part_is_longer_than_a_message() {
    assert_eq!(reach(&segments(&[1 << 30]), 5, VECS), BULK as u64);
    assert_eq!(reach(&segments(&[10]), 10, VECS), 0);
}
