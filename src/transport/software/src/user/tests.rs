use std::sync::atomic::AtomicBool;

use super::*;

#[test]
fn words_are_changed_and_nothing_else() {
    let mut words = [7_u64, 40, 9];
    let base = words.as_mut_ptr().expose_provenance() as u64;
    // SAFETY: the words live until the end of the test and are accessed only through pieces.
    let at = |from: u64, len: usize| unsafe { Target::new(base + from, len) };
    assert_eq!(super::change(at(8, 8), Change::Add(2)), Some(40));
    assert_eq!(super::change(at(8, 8), Change::Add(u64::MAX)), Some(42));
    assert_eq!(super::change(at(8, 8), Change::Swap { expected: 40, new: 1 }), Some(41));
    assert_eq!(super::change(at(8, 8), Change::Swap { expected: 41, new: u64::MAX }), Some(41));
    for (from, len) in [(4, 8), (9, 8), (8, 7), (8, 16), (8, 0)] {
        assert_eq!(super::change(at(from, len), Change::Add(1)), None, "{from} {len}");
    }
    assert_eq!(words, [7, u64::MAX, 9]);
}

#[test]
fn tail_is_the_largest_aligned_store() {
    assert_eq!(tail_len(16, 100), 8);
    assert_eq!(tail_len(24, 7), 4);
    assert_eq!(tail_len(24, 3), 2);
    assert_eq!(tail_len(24, 1), 1);
    assert_eq!(tail_len(20, 100), 4);
    assert_eq!(tail_len(22, 100), 2);
    assert_eq!(tail_len(23, 100), 1);
    assert_eq!(tail_len(24, 0), 0);
    assert_eq!(tail_len(0, 9), 8, "an end that wrapped to 0 is aligned to everything");
}

#[test]
fn tail_last_copies_every_byte_at_every_alignment() {
    let src: Vec<u8> = (0..100_u8).map(|i| i.wrapping_mul(7).wrapping_add(1)).collect();
    for at in 0..9 {
        for len in 0..80 {
            let mut dst = [0_u8; 100];
            let n = copy_tail_last(Target::of(&mut dst[at..at + len]), Source::of(&src[3..]));
            assert_eq!(n, len);
            assert_eq!(dst[at..at + len], src[3..3 + len]);
            assert!(dst[..at].iter().chain(&dst[at + len..]).all(|&b| b == 0), "{at} {len}");
        }
    }
}

#[test]
fn last_word_is_taken_across_pieces_in_a_row() {
    let mut bytes = LastWord::default();
    let mut other = [0_u8; 5];
    let base = bytes.0.as_mut_ptr().expose_provenance() as u64;
    // SAFETY: the bytes live until the end of the test and are accessed only through pieces.
    let at = |from: usize, to: usize| unsafe { Target::new(base + from as u64, to - from) };
    let elsewhere = Target::of(&mut other);
    let take = |pieces: Vec<Target<'static>>, elsewhere: Option<Target<'static>>| {
        let mut list: ArrayVec<_, 8> = elsewhere.into_iter().chain(pieces).collect();
        let word = take_last_word(&mut list);
        let rest: usize = list.iter().map(Target::len).sum();
        (word.addr() - base, word.len(), rest)
    };
    assert_eq!(take(vec![at(0, 8)], None), (0, 8, 0));
    assert_eq!(take(vec![at(0, 3), at(3, 8)], None), (0, 8, 0));
    assert_eq!(take(vec![at(0, 1), at(1, 2), at(2, 7), at(7, 7), at(7, 8)], None), (0, 8, 0));
    assert_eq!(take(vec![at(0, 5), at(5, 6)], None), (4, 2, 4));
    assert_eq!(take(vec![at(2, 3), at(3, 4)], None), (2, 2, 0), "a transfer of two bytes");
    assert_eq!(take(vec![at(6, 8), at(0, 4)], None), (0, 4, 2), "not in a row");
    let elsewhere = Target::at(elsewhere.as_ptr().cast(), 5);
    assert_eq!(take(vec![at(4, 6), at(6, 8)], Some(elsewhere)), (4, 4, 5));
    assert!(take_last_word::<2>(&mut ArrayVec::new()).is_empty());
}

#[test]
fn lists_are_copied_whatever_their_cuts() {
    let from: Vec<u8> = (1..=60).collect();
    for (a, b) in [(0, 60), (1, 59), (7, 30), (30, 7), (59, 60)] {
        let mut to = [0_u8; 60];
        let (low, rest) = from.split_at(a);
        let (first, second) = to.split_at_mut(b);
        copy_lists(
            [Target::of(first), Target::EMPTY, Target::of(second)],
            &[Source::of(low), Source::EMPTY, Source::of(rest)],
        );
        assert_eq!(to, from[..], "{a} {b}");
    }
}

#[test]
fn shorter_side_decides() {
    let mut dst = [0_u8; 3];
    assert_eq!(copy(Target::of(&mut dst), Source::of(b"abcdef")), 3);
    assert_eq!(&dst, b"abc");
    assert_eq!(copy_tail_last(Target::of(&mut dst), Source::of(b"x")), 1);
    assert_eq!(&dst, b"xbc");
    assert_eq!(copy_tail_last(Target::EMPTY, Source::of(b"x")), 0);
    assert_eq!(copy(Target::of(&mut dst), Source::EMPTY), 0);
}

#[test]
fn overlapping_ranges_are_moved() {
    for shift in 1..20_usize {
        for up in [false, true] {
            let before: Vec<u8> = (0..64).collect();
            let mut bytes = before.clone();
            let base = bytes.as_mut_ptr();
            let (from, to) = if up { (0, shift) } else { (shift, 0) };
            let [src, dst] = [from, to].map(|start| base.wrapping_add(start).cast());
            copy_tail_last(Piece::at(dst, 40), Piece::at(src, 40));
            assert_eq!(bytes[to..to + 40], before[from..from + 40], "{shift} {up}");
        }
    }
}

#[test]
fn splits_at_any_place() {
    let bytes = [1_u8, 2, 3];
    let (first, rest) = Source::of(&bytes).split(1);
    assert_eq!((first.len(), rest.len(), rest.addr()), (1, 2, first.addr() + 1));
    let (first, rest) = Source::of(&bytes).split(9);
    assert_eq!((first.len(), rest.len()), (3, 0));
    let mut bytes = [0_u8; 4];
    let (low, high) = Target::of(&mut bytes).split(2);
    copy(high, Source::of(b"yz"));
    copy(low, Source::of(b"wx"));
    assert_eq!(&bytes, b"wxyz");
}

#[test]
fn a_poller_of_the_tail_sees_all_before_it() {
    const WORDS: usize = 9;
    let shared: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
    let base = shared.as_ptr().expose_provenance() as u64;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut seen = 0;
            while !stop.load(Ordering::Relaxed) || shared[WORDS - 1].load(Ordering::Relaxed) != seen {
                let tail = shared[WORDS - 1].load(Ordering::Acquire);
                assert!(tail >= seen);
                seen = tail;
                for word in &shared[..WORDS - 1] {
                    assert!(word.load(Ordering::Relaxed) >= seen);
                }
                std::thread::yield_now();
            }
        });
        for round in 1..20_000_u64 {
            let image = [round; WORDS];
            let src = Source::at(image.as_ptr().cast_mut().cast(), 8 * WORDS);
            // SAFETY: the words live until the scope ends and are only accessed as atomics.
            copy_tail_last(unsafe { Target::new(base, 8 * WORDS) }, src);
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(shared[0].load(Ordering::Relaxed), 19_999);
}
