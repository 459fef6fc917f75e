//! Memory of the program, or of a segment that is shared with a peer.
//!
//! Other threads and processes can change the bytes concurrently, so these are copied without references to them.

use std::marker::PhantomData;
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

use arrayvec::ArrayVec;
use dat_core::Change;

/// A range of memory, laid out as an `iovec`, with the access `A`. Ranges may overlap.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Piece<A> {
    vec: libc::iovec,
    access: PhantomData<A>,
}

/// Memory that is readable during `'a`.
pub type Source<'a> = Piece<Read<'a>>;

/// Memory that is writable during `'a`.
pub type Target<'a> = Piece<Write<'a>>;

/// The access of a [`Source`].
#[derive(Clone, Copy, Debug)]
pub struct Read<'a>(PhantomData<&'a ()>);

/// The access of a [`Target`].
#[derive(Debug)]
pub struct Write<'a>(PhantomData<&'a ()>);

impl<A> Piece<A> {
    /// No bytes.
    pub const EMPTY: Self = Piece::at(ptr::null_mut(), 0);

    const fn at(iov_base: *mut libc::c_void, iov_len: usize) -> Self {
        Piece { vec: libc::iovec { iov_base, iov_len }, access: PhantomData }
    }

    /// Returns the `len` bytes at `addr`.
    ///
    /// # Safety
    /// Unless `len` is 0, the bytes must permit the access `A` during its lifetime. No Rust reference to bytes of a
    /// [`Target`] may exist.
    #[inline]
    pub unsafe fn new(addr: u64, len: usize) -> Self {
        Piece::at(ptr::with_exposed_provenance_mut(addr as usize), len)
    }

    /// Returns the pieces for a system call.
    #[inline]
    pub fn as_vecs(pieces: &[Self]) -> &[libc::iovec] {
        // SAFETY: `Piece` is a transparent wrapper of `iovec`.
        unsafe { slice::from_raw_parts(pieces.as_ptr().cast(), pieces.len()) }
    }

    /// Returns the address of the first byte.
    #[inline]
    pub fn addr(&self) -> u64 {
        self.vec.iov_base.addr() as u64
    }

    /// Returns the number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.vec.iov_len
    }

    /// Returns whether the piece has no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.vec.iov_len == 0
    }

    /// Splits the piece after `at` bytes, or at its end.
    #[inline]
    pub fn split(self, at: usize) -> (Self, Self) {
        let at = at.min(self.len());
        let base = self.vec.iov_base;
        // The addition wraps, because the address need not be valid memory.
        (Piece::at(base, at), Piece::at(base.wrapping_byte_add(at), self.len() - at))
    }
}

impl<'a> Source<'a> {
    /// Returns the bytes of a slice.
    #[inline]
    pub fn of(bytes: &'a [u8]) -> Self {
        Piece::at(bytes.as_ptr().cast_mut().cast(), bytes.len())
    }

    /// Returns a pointer to the first byte.
    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        self.vec.iov_base.cast_const().cast()
    }
}

impl<'a> Target<'a> {
    /// Returns the bytes of a slice.
    #[inline]
    pub fn of(bytes: &'a mut [u8]) -> Self {
        Piece::at(bytes.as_mut_ptr().cast(), bytes.len())
    }

    /// Returns a pointer to the first byte.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.vec.iov_base.cast()
    }
}

/// Copies as many bytes as the shorter piece has, and returns their number. The pieces may overlap.
#[inline(always)]
pub fn copy(dst: Target<'_>, src: Source<'_>) -> usize {
    let len = dst.len().min(src.len());
    // SAFETY: both pieces have at least `len` accessible bytes (contract of `new`).
    unsafe { move_bytes(src.as_ptr(), dst.as_ptr(), len) };
    len
}

/// Does what [`ptr::copy`] does, with its contract, but without a call for up to 128 bytes.
#[expect(clippy::multiple_unsafe_ops_per_block, reason = "the contract of `ptr::copy` covers each arm")]
#[inline(always)]
unsafe fn move_bytes(src: *const u8, dst: *mut u8, len: usize) {
    /// Copies the first and last `size_of::<T>()` of `len` bytes, under the contract of [`ptr::copy`].
    #[inline(always)]
    unsafe fn both_ends<T: Copy>(src: *const u8, dst: *mut u8, len: usize) {
        let back = len - size_of::<T>();
        // SAFETY: all accesses are in the `len` bytes. Reads precede writes, as the ranges may overlap.
        unsafe {
            let (first, last) = (src.cast::<T>().read_unaligned(), src.add(back).cast::<T>().read_unaligned());
            dst.cast::<T>().write_unaligned(first);
            dst.add(back).cast::<T>().write_unaligned(last);
        }
    }
    // SAFETY: in each arm, `len` is between the size of `T` and twice that.
    unsafe {
        match len {
            0 => {}
            1 => dst.write(src.read()),
            2..=4 => both_ends::<u16>(src, dst, len),
            5..=8 => both_ends::<u32>(src, dst, len),
            9..=16 => both_ends::<u64>(src, dst, len),
            17..=32 => both_ends::<u128>(src, dst, len),
            33..=64 => both_ends::<[u128; 2]>(src, dst, len),
            65..=128 => both_ends::<[u128; 4]>(src, dst, len),
            _ => ptr::copy(src, dst, len),
        }
    }
}

/// Changes an aligned 8-byte word atomically. Returns its old value; `None` if `place` is no such word.
pub fn change(place: Target<'_>, change: Change) -> Option<u64> {
    let word = place.as_ptr().cast::<u64>();
    if place.len() != size_of::<u64>() || !word.is_aligned() {
        return None;
    }
    // SAFETY: eight aligned, writable bytes (contract of `new`), registered for atomic accesses.
    let word = unsafe { AtomicU64::from_ptr(word) };
    Some(match change {
        Change::Add(add) => word.fetch_add(add, Ordering::SeqCst),
        Change::Swap { expected, new } => {
            word.compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst).unwrap_or_else(|other| other)
        }
    })
}

/// Returns the size of the last word of `len` bytes that end at `end`: the largest aligned 8, 4, 2 or 1 that fits.
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

/// The last word of a transfer, of up to 8 bytes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(8))]
pub struct LastWord([u8; 8]);

impl LastWord {
    /// Returns the first `len` bytes, aligned to 8, for reading.
    #[inline]
    pub fn source(&self, len: usize) -> Source<'_> {
        Source::of(&self.0[..len.min(8)])
    }

    /// Returns the first `len` bytes for writing.
    #[inline]
    pub fn target(&mut self, len: usize) -> Target<'_> {
        Target::of(&mut self.0[..len.min(8)])
    }

    /// Stores the word at `place`, of the size [`tail_len`], after this thread's earlier stores.
    #[inline(always)]
    pub fn store(self, place: Target<'_>) {
        // SYNC tail-last: pairs with the program's Acquire or dependent load of the word, which then sees all bytes.
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

/// Copies as [`copy`] does, but stores the last word last.
#[inline(always)]
pub fn copy_tail_last(dst: Target<'_>, src: Source<'_>) -> usize {
    let len = dst.len().min(src.len());
    if len == 0 {
        return 0;
    }
    let end = dst.addr().wrapping_add(len as u64);
    if len >= 8 && end % 8 == 0 {
        let (last, place) = (src.as_ptr().wrapping_add(len - 8), dst.as_ptr().wrapping_add(len - 8));
        // SAFETY: the last 8 of the `len` bytes. Reading them first permits overlap.
        let word = unsafe { last.cast::<u64>().read_unaligned() };
        // SAFETY: each piece has more than `len - 8` bytes.
        unsafe { move_bytes(src.as_ptr(), dst.as_ptr(), len - 8) };
        // SYNC tail-last: pairs with the program's load of the word.
        fence(Ordering::Release);
        // SAFETY: the last 8 of the `len` writable bytes, and aligned.
        unsafe { AtomicU64::from_ptr(place.cast()) }.store(word, Ordering::Relaxed);
        return len;
    }
    copy_short_tail_last(dst, src, len)
}

fn copy_short_tail_last(dst: Target<'_>, src: Source<'_>, len: usize) -> usize {
    let tail = tail_len(dst.addr().wrapping_add(len as u64), len);
    let (head, place) = dst.split(len).0.split(len - tail);
    let mut word = LastWord::default();
    // SAFETY: `tail` is at most `len` and 8. Reading these bytes first permits overlap.
    unsafe { move_bytes(src.as_ptr().wrapping_add(len - tail), word.0.as_mut_ptr(), tail) };
    // SAFETY: each piece has at least `len - tail` bytes.
    unsafe { move_bytes(src.as_ptr(), head.as_ptr(), len - tail) };
    word.store(place);
    len
}

/// Removes the place of the transfer's last word from the destination `list`, and returns that place. The place is
/// empty if the list is.
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
    while left > 0 {
        let Some(piece) = list.pop() else { break };
        let len = piece.len();
        let (head, part) = piece.split(len.saturating_sub(left));
        left -= part.len();
        if !head.is_empty() {
            list.push(head);
        }
        if part.len() == tail {
            return part;
        }
    }
    // SAFETY: the removed, contiguous pieces cover these bytes, which are writable during `'a`.
    unsafe { Target::new(last.wrapping_sub(tail as u64), tail) }
}

/// Copies `sources` to `targets`, which have the same number of bytes.
pub fn copy_lists<'a>(targets: impl IntoIterator<Item = Target<'a>>, sources: &[Source<'_>]) {
    let mut sources = sources.iter().copied();
    let mut source = Source::EMPTY;
    for mut target in targets {
        while !target.is_empty() {
            if source.is_empty() {
                let Some(next) = sources.next() else { return };
                source = next;
                continue;
            }
            let (part, rest) = target.split(source.len());
            source = source.split(copy(part, source)).1;
            target = rest;
        }
    }
}

#[cfg(test)]
mod tests;
