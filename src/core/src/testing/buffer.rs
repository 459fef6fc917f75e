//! Registered memory of a test.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::ia::Ia;
use crate::lmr::{Lmr, Memory};
use crate::lmr_table::LocalSegment;
use crate::mem::{Base, Rights};
use crate::pz::Pz;
use crate::transport::{RemoteSegment, Transport};

/// Registered memory. The bytes are atomics, because a transport may write them while the test reads.
pub struct Buffer<T: Transport> {
    lmr: Arc<Lmr<T>>,
    bytes: Box<[AtomicU8]>,
}

impl<T: Transport> Drop for Buffer<T> {
    fn drop(&mut self) {
        // A test may have freed it already.
        if self.lmr.region().is_some() {
            self.lmr.free_anyway();
        }
    }
}

/// Returns byte `at` of the pattern `seed`. The period of a pattern is no power of two. Different seeds have different
/// patterns, unless they are equal modulo 256.
fn pattern(at: usize, seed: usize) -> u8 {
    (at * 7 + at / 251 + seed * 37 + 1) as u8
}

impl<T: Transport> Buffer<T> {
    pub fn new(ia: &Arc<Ia<T>>, pz: &Arc<Pz<T>>, len: usize, rights: Rights) -> Self {
        Self::with_base(ia, pz, len, rights, Base::Address)
    }

    pub fn with_base(ia: &Arc<Ia<T>>, pz: &Arc<Pz<T>>, len: usize, rights: Rights, base: Base) -> Self {
        let bytes: Box<[AtomicU8]> = (0..len).map(|_| AtomicU8::new(0)).collect();
        let addr = bytes.as_ptr().expose_provenance() as u64;
        let lmr = Lmr::create(ia, Memory::Virtual(addr), None, len as u64, pz, rights, base).unwrap();
        Buffer { lmr, bytes }
    }

    pub fn start(&self) -> u64 {
        self.bytes.as_ptr().addr() as u64
    }

    pub fn lmr(&self) -> &Arc<Lmr<T>> {
        &self.lmr
    }

    pub fn at(&self, offset: usize, len: usize) -> LocalSegment {
        LocalSegment { context: self.lmr.context, addr: self.lmr.addr() + offset as u64, len: len as u64 }
    }

    pub fn remote(&self, offset: usize, len: usize) -> RemoteSegment {
        RemoteSegment { addr: self.lmr.addr() + offset as u64, len: len as u64, key: self.lmr.remote_key }
    }

    pub fn fill(&self, part: Range<usize>, byte: u8) {
        for cell in &self.bytes[part] {
            cell.store(byte, Ordering::Relaxed);
        }
    }

    pub fn paint(&self, part: Range<usize>, seed: usize) {
        for (at, cell) in self.bytes[part].iter().enumerate() {
            cell.store(pattern(at, seed), Ordering::Relaxed);
        }
    }

    pub fn is_all(&self, part: Range<usize>, byte: u8) -> bool {
        self.bytes[part].iter().all(|cell| cell.load(Ordering::Relaxed) == byte)
    }

    pub fn shows(&self, part: Range<usize>, seed: usize) -> bool {
        self.shows_from(part, seed, 0)
    }

    /// Returns whether a range contains the pattern `seed` from byte `first` of the pattern on.
    pub fn shows_from(&self, part: Range<usize>, seed: usize, first: usize) -> bool {
        let mut cells = self.bytes[part].iter().zip(first..);
        cells.all(|(cell, at)| cell.load(Ordering::Relaxed) == pattern(at, seed))
    }

    pub fn put(&self, offset: usize, bytes: &[u8]) {
        for (cell, &byte) in self.bytes[offset..].iter().zip(bytes) {
            cell.store(byte, Ordering::Relaxed);
        }
    }

    pub fn bytes(&self, part: Range<usize>) -> Vec<u8> {
        self.bytes[part].iter().map(|cell| cell.load(Ordering::Relaxed)).collect()
    }
}
