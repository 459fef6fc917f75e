//! Pieces of memory that belong to the program, or to a segment shared with a peer.
//!
//! Another thread or process can change the bytes behind a [`Source`] or a [`Target`] at any moment. They are therefore
//! never accessed through references: they are copied by address, and the copies are only ever treated as bytes.

use std::marker::PhantomData;
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

use arrayvec::ArrayVec;
use dat_core::Change;

/// A piece of memory; `A` says how it may be accessed. Laid out as an `iovec`.
///
/// It can be copied, because several targets may be the same memory: a program with two transfers into one place gets
/// bytes of either.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Piece<A> {
    vec: libc::iovec,
    access: PhantomData<A>,
}

/// Memory that can be read for as long as `'a` lasts.
pub type Source<'a> = Piece<Read<'a>>;

/// Memory that can be written for as long as `'a` lasts.
pub type Target<'a> = Piece<Write<'a>>;

/// The access of a [`Source`].
#[derive(Clone, Copy, Debug)]
pub struct Read<'a>(PhantomData<&'a ()>);

/// The access of a [`Target`].
#[derive(Clone, Copy, Debug)]
pub struct Write<'a>(PhantomData<&'a ()>);

// SAFETY: this is an address and a length. Every access to the memory is a raw copy, and the memory is accessible from
// any thread while the piece lasts (contract of `new`).
unsafe impl<A> Send for Piece<A> {}
// SAFETY: as for Send.
unsafe impl<A> Sync for Piece<A> {}

impl<A> Piece<A> {
    /// No bytes.
    pub const EMPTY: Self = Piece::at(ptr::null_mut(), 0);

    /// The caller fulfils the contract of `new`.
    const fn at(iov_base: *mut libc::c_void, iov_len: usize) -> Self {
        Piece { vec: libc::iovec { iov_base, iov_len }, access: PhantomData }
    }

    /// The pieces in the form that the system takes.
    #[inline]
    pub(super) fn as_vecs(pieces: &[Self]) -> &[libc::iovec] {
        // SAFETY: the type is a transparent wrapper of an iovec.
        unsafe { slice::from_raw_parts(pieces.as_ptr().cast(), pieces.len()) }
    }

    /// Address of the first byte.
    #[inline]
    pub fn addr(&self) -> u64 {
        self.vec.iov_base.addr() as u64
    }

    /// Bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.vec.iov_len
    }

    /// Whether the piece has no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.vec.iov_len == 0
    }

    /// The first `at` bytes, or all if there are fewer, and the rest.
    #[inline]
    pub fn split(self, at: usize) -> (Self, Self) {
        let at = at.min(self.len());
        let base = self.vec.iov_base;
        // The address is within the piece or one past its end; it wraps because it need not be valid memory.
        (Piece::at(base, at), Piece::at(base.wrapping_byte_add(at), self.len() - at))
    }
}

impl<'a> Source<'a> {
    /// The `len` bytes at `addr`.
    ///
    /// # Safety
    /// The bytes must be readable while `'a` lasts, or `len` must be 0.
    #[inline]
    pub const unsafe fn new(addr: u64, len: usize) -> Self {
        Piece::at(ptr::with_exposed_provenance_mut(addr as usize), len)
    }

    /// The bytes of a slice.
    #[inline]
    pub fn of(bytes: &'a [u8]) -> Self {
        Piece::at(bytes.as_ptr().cast_mut().cast(), bytes.len())
    }

    /// The first byte.
    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        self.vec.iov_base.cast_const().cast()
    }
}

impl<'a> Target<'a> {
    /// The `len` bytes at `addr`.
    ///
    /// # Safety
    /// The bytes must be writable while `'a` lasts, and nothing in Rust may hold a reference to them; or `len` must be
    /// 0.
    #[inline]
    pub const unsafe fn new(addr: u64, len: usize) -> Self {
        Piece::at(ptr::with_exposed_provenance_mut(addr as usize), len)
    }

    /// The bytes of a slice.
    #[inline]
    pub fn of(bytes: &'a mut [u8]) -> Self {
        Piece::at(bytes.as_mut_ptr().cast(), bytes.len())
    }

    /// The first byte.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.vec.iov_base.cast()
    }
}

/// Copies as many bytes as both pieces hold and returns their number. The pieces may overlap.
#[inline(always)]
pub fn copy(dst: Target<'_>, src: Source<'_>) -> usize {
    let len = dst.len().min(src.len());
    // SAFETY: both cover `len` bytes that stay accessible (contract of `new`).
    unsafe { move_bytes(src.as_ptr(), dst.as_ptr(), len) };
    len
}

/// Does what [`ptr::copy`] does, without a call for a few bytes.
///
/// # Safety
/// As for [`ptr::copy`]; the places may overlap.
#[inline(always)]
unsafe fn move_bytes(src: *const u8, dst: *mut u8, len: usize) {
    /// Copies the first and the last bytes, each as many as `T` has, which are all.
    ///
    /// # Safety
    /// As for [`ptr::copy`], with at least as many bytes as `T` has and at most twice as many.
    #[inline(always)]
    unsafe fn both_ends<T: Copy>(src: *const u8, dst: *mut u8, len: usize) {
        let back = len - size_of::<T>();
        // SAFETY: inside of the `len` bytes, which are accessible; all is read before anything is written.
        unsafe {
            let (first, last) = (src.cast::<T>().read_unaligned(), src.add(back).cast::<T>().read_unaligned());
            dst.cast::<T>().write_unaligned(first);
            dst.add(back).cast::<T>().write_unaligned(last);
        }
    }
    // SAFETY: each takes no more than half of the bytes, or all, and at least half.
    unsafe {
        match len {
            0 => {}
            1 => dst.write(src.read()),
            2..=4 => both_ends::<u16>(src, dst, len),
            5..=8 => both_ends::<u32>(src, dst, len),
            9..=16 => both_ends::<u64>(src, dst, len),
            17..=32 => both_ends::<u128>(src, dst, len),
            33..=64 => both_ends::<[u128; 2]>(src, dst, len),
            _ => ptr::copy(src, dst, len),
        }
    }
}

/// Changes a word of eight bytes in one piece, as seen by all processors, and gives what it was before; `None` if `place`
/// is not such a word.
pub fn change(place: Target<'_>, change: Change) -> Option<u64> {
    let word = place.as_ptr().cast::<u64>();
    if place.len() != size_of::<u64>() || !word.is_aligned() {
        return None;
    }
    // SAFETY: eight writable bytes (contract of `new`), aligned; the program has registered them for such accesses.
    let word = unsafe { AtomicU64::from_ptr(word) };
    Some(match change {
        Change::Add(add) => word.fetch_add(add, Ordering::SeqCst),
        Change::Swap { expected, new } => {
            word.compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst).unwrap_or_else(|other| other)
        }
    })
}

/// The number of bytes at the end of a transfer that can be stored at once: 8, 4, 2 or 1, aligned. The transfer has
/// `len` bytes and ends at the address `end`.
#[inline]
pub fn tail_len(end: u64, len: usize) -> usize {
    let aligned = 1_usize << end.trailing_zeros().min(3);
    match len {
        0 => 0,
        1 => 1,
        2..=3 => aligned.min(2),
        4..=7 => aligned.min(4),
        _ => aligned,
    }
}

/// A word of up to 8 bytes that is on its way to the end of a transfer.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(8))]
pub struct Word([u8; 8]);

impl Word {
    /// The first `len` bytes, to be copied; they lie as a word does.
    #[inline]
    pub fn source(&self, len: usize) -> Source<'_> {
        Source::of(&self.0[..len.min(8)])
    }

    /// The first `len` bytes, to be filled.
    #[inline]
    pub fn target(&mut self, len: usize) -> Target<'_> {
        Target::of(&mut self.0[..len.min(8)])
    }

    /// Stores the bytes at `place`, which [`take_last_word`] gave, with one store after all others of this thread.
    #[inline(always)]
    pub fn store(self, place: Target<'_>) {
        // SYNC tail-last: pairs with the program's own load of the tail: a thread that loads the word with Acquire, or
        // depends on it, finds the rest.
        fence(Ordering::Release);
        let last = place.as_ptr();
        let [a, b, c, d, ..] = self.0;
        match place.len() {
            // SAFETY: 8 writable bytes, aligned to 8 by `tail_len`.
            8 => unsafe { AtomicU64::from_ptr(last.cast()) }.store(u64::from_ne_bytes(self.0), Ordering::Relaxed),
            // SAFETY: 4 writable bytes, aligned to 4 by `tail_len`.
            4 => unsafe { AtomicU32::from_ptr(last.cast()) }.store(u32::from_ne_bytes([a, b, c, d]), Ordering::Relaxed),
            // SAFETY: 2 writable bytes, aligned to 2 by `tail_len`.
            2 => unsafe { AtomicU16::from_ptr(last.cast()) }.store(u16::from_ne_bytes([a, b]), Ordering::Relaxed),
            // SAFETY: 1 writable byte.
            1 => unsafe { AtomicU8::from_ptr(last) }.store(a, Ordering::Relaxed),
            _ => {}
        }
    }
}

/// Does what [`copy`] does, but makes the last bytes visible last: a thread that polls the last byte, or the aligned
/// word of up to 8 bytes that ends there, finds the word whole, and if it then reads the rest, all of that.
#[inline(always)]
pub fn copy_tail_last(dst: Target<'_>, src: Source<'_>) -> usize {
    let len = dst.len().min(src.len());
    if len == 0 {
        return 0;
    }
    let end = dst.addr().wrapping_add(len as u64);
    if len >= 8 && end.is_multiple_of(8) {
        // SAFETY: all are inside of the `len` bytes of each; the word is aligned and read first, because an overlapping
        // head would overwrite it.
        unsafe {
            let word = src.as_ptr().add(len - 8).cast::<u64>().read_unaligned();
            move_bytes(src.as_ptr(), dst.as_ptr(), len - 8);
            // SYNC tail-last: as in `Word::store`.
            fence(Ordering::Release);
            AtomicU64::from_ptr(dst.as_ptr().add(len - 8).cast()).store(word, Ordering::Relaxed);
        }
        return len;
    }
    copy_short_tail_last(dst, src, len)
}

/// Does what [`copy_tail_last`] does, where the last word is not one of 8 bytes.
fn copy_short_tail_last(dst: Target<'_>, src: Source<'_>, len: usize) -> usize {
    let tail = tail_len(dst.addr().wrapping_add(len as u64), len);
    let (head, place) = dst.split(len).0.split(len - tail);
    let mut word = Word::default();
    // SAFETY: `head + tail` is `len`, so these are the last bytes of the source; the word has 8 and `tail` is at most
    // 8. They are read first, because an overlapping head would overwrite them.
    unsafe { move_bytes(src.as_ptr().add(len - tail), word.0.as_mut_ptr(), tail) };
    // SAFETY: these are the first of `len` bytes of each; overlap is allowed.
    unsafe { move_bytes(src.as_ptr(), head.as_ptr(), len - tail) };
    word.store(place);
    len
}

/// Takes the last word of a transfer off its destination, whose last bytes are to be stored with [`Word::store`]. Pieces
/// that lie in memory one behind the other count as one. The result is empty if there are no bytes.
pub fn take_last_word<'a, const N: usize>(list: &mut ArrayVec<Target<'a>, N>) -> Target<'a> {
    list.retain(|piece| !piece.is_empty());
    let begin = |piece: &Target<'_>| piece.addr();
    let end = |piece: &Target<'_>| piece.addr().wrapping_add(piece.len() as u64);
    let mut run = 0_usize;
    let mut first = None;
    for piece in list.iter().rev() {
        if run >= 8 || first.is_some_and(|first| first != end(piece)) {
            break;
        }
        first = Some(begin(piece));
        run = run.saturating_add(piece.len());
    }
    let Some(last) = list.last().map(end) else { return Target::EMPTY };
    let tail = tail_len(last, run);
    let mut left = tail;
    while left > 0
        && let Some(piece) = list.pop()
    {
        let (head, part) = piece.split(piece.len().saturating_sub(left));
        left -= part.len();
        if !head.is_empty() {
            list.push(head);
        }
        if part.len() == tail {
            return part;
        }
    }
    // SAFETY: the pieces that were taken off cover these bytes, one behind the other, and each of them can be written
    // while `'a` lasts.
    unsafe { Target::new(last.wrapping_sub(tail as u64), tail) }
}

/// Copies the bytes of one list to another, which holds as many.
pub fn copy_lists(targets: &[Target<'_>], sources: &[Source<'_>]) {
    let mut sources = sources.iter().copied();
    let mut source = Source::EMPTY;
    for &target in targets {
        let mut target = target;
        while !target.is_empty() {
            if source.is_empty() {
                let Some(next) = sources.next() else { return };
                source = next;
                continue;
            }
            let done = copy(target, source);
            target = target.split(done).1;
            source = source.split(done).1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn words_are_changed_and_nothing_else() {
        let mut words = [7_u64, 40, 9];
        let base = words.as_mut_ptr().expose_provenance() as u64;
        // SAFETY: the words live until the end of the test and are accessed through pieces alone meanwhile.
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
        let mut bytes = Word::default();
        let mut other = [0_u8; 5];
        let base = bytes.0.as_mut_ptr().expose_provenance() as u64;
        // SAFETY: the bytes live until the end of the test and are accessed through pieces alone meanwhile.
        let at = |from: usize, to: usize| unsafe { Target::new(base + from as u64, to - from) };
        let elsewhere = Target::of(&mut other);
        let take = |pieces: &[Target<'static>], elsewhere: Option<Target<'static>>| {
            let mut list: ArrayVec<_, 8> = elsewhere.into_iter().chain(pieces.iter().copied()).collect();
            let word = take_last_word(&mut list);
            let rest: usize = list.iter().map(Target::len).sum();
            (word.addr() - base, word.len(), rest)
        };
        assert_eq!(take(&[at(0, 8)], None), (0, 8, 0));
        assert_eq!(take(&[at(0, 3), at(3, 8)], None), (0, 8, 0));
        assert_eq!(take(&[at(0, 1), at(1, 2), at(2, 7), at(7, 7), at(7, 8)], None), (0, 8, 0));
        assert_eq!(take(&[at(0, 5), at(5, 6)], None), (4, 2, 4));
        assert_eq!(take(&[at(2, 3), at(3, 4)], None), (2, 2, 0), "a transfer of two bytes");
        assert_eq!(take(&[at(6, 8), at(0, 4)], None), (0, 4, 2), "not in a row");
        let elsewhere = Target::at(elsewhere.as_ptr().cast(), 5);
        assert_eq!(take(&[at(4, 6), at(6, 8)], Some(elsewhere)), (4, 4, 5));
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
                &[Target::of(first), Target::EMPTY, Target::of(second)],
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
                let base = bytes.as_mut_ptr().expose_provenance() as u64;
                let (from, to) = if up { (0, shift) } else { (shift, 0) };
                // SAFETY: both ranges lie inside `bytes`, which is not accessed meanwhile.
                let (src, dst) = unsafe { (Source::new(base + from as u64, 40), Target::new(base + to as u64, 40)) };
                copy_tail_last(dst, src);
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
}
