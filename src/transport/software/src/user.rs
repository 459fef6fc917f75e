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

    /// The `len` bytes at `addr`.
    ///
    /// # Safety
    /// The bytes must be accessible as `A` says while it lasts, and nothing in Rust may hold a reference to them if they
    /// can be written; or `len` must be 0.
    #[inline]
    pub unsafe fn new(addr: u64, len: usize) -> Self {
        Piece::at(ptr::with_exposed_provenance_mut(addr as usize), len)
    }

    /// The pieces in the form that the system takes.
    #[inline]
    pub fn as_vecs(pieces: &[Self]) -> &[libc::iovec] {
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
            65..=128 => both_ends::<[u128; 4]>(src, dst, len),
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
pub struct LastWord([u8; 8]);

impl LastWord {
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
    if len >= 8 && end % 8 == 0 {
        // SAFETY: all are inside of the `len` bytes of each; the word is aligned and read first, because an overlapping
        // head would overwrite it.
        unsafe {
            let word = src.as_ptr().add(len - 8).cast::<u64>().read_unaligned();
            move_bytes(src.as_ptr(), dst.as_ptr(), len - 8);
            // SYNC tail-last: as in `LastWord::store`.
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
    let mut word = LastWord::default();
    // SAFETY: `head + tail` is `len`, so these are the last bytes of the source; the word has 8 and `tail` is at most
    // 8. They are read first, because an overlapping head would overwrite them.
    unsafe { move_bytes(src.as_ptr().add(len - tail), word.0.as_mut_ptr(), tail) };
    // SAFETY: these are the first of `len` bytes of each; overlap is allowed.
    unsafe { move_bytes(src.as_ptr(), head.as_ptr(), len - tail) };
    word.store(place);
    len
}

/// Takes the last word of a transfer off its destination, whose last bytes are to be stored with [`LastWord::store`]. Pieces
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
    while left > 0 {
        let Some(piece) = list.pop() else { break };
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
mod tests;
