//! Copies of datagrams that wait for room on a connection, in memory that exists only while they wait.

use std::collections::VecDeque;

use dat_core::Rights;
use dat_core::error::Result;
use dat_core::transport::datagrams::MAX_DATAGRAM;
use dat_core::transport::{RegisteredRegion, Segment, Transport};
use host::memory::Room;

use crate::pages::Pages;

/// Maximum number of datagrams that wait for one peer. For a message of 1 MiB, Intel MPI sends over 256 datagrams in a
/// burst. With a maximum of 256, four processes over TCP lost thousands and took 20 s instead of 1 s. With 1024, they
/// lost none.
const MAX_WAITING: usize = 1024;
const PIECE: usize = 16 * MAX_DATAGRAM;

/// The waiting datagrams of one peer, oldest first.
pub struct Queue<T: Transport> {
    pieces: VecDeque<Piece<T>>,
    spent: Vec<Piece<T>>,
    /// Datagrams that are not posted. The flag is `true` if the datagram requests a solicited event.
    waiting: VecDeque<(Segment, bool)>,
    posted: usize,
}

struct Piece<T: Transport> {
    /// Dropped before the memory that it registers.
    region: T::Region,
    pages: Pages,
    /// Number of bytes in use, from the start of `pages`.
    used: usize,
    /// Number of incomplete datagrams in this piece.
    datagrams: usize,
}

impl<T: Transport> Default for Queue<T> {
    fn default() -> Self {
        Queue { pieces: VecDeque::new(), spent: Vec::new(), waiting: VecDeque::new(), posted: 0 }
    }
}

impl<T: Transport> Queue<T> {
    /// Returns the number of incomplete datagrams.
    pub fn len(&self) -> usize {
        self.waiting.len() + self.posted
    }

    /// Adds a datagram of `len` bytes, which `fill` copies. Returns `false` if the queue is full or `fill` fails.
    ///
    /// # Errors
    /// There is no memory.
    pub fn push(
        &mut self,
        transport: &T,
        zone: &T::Zone,
        (len, solicited): (usize, bool),
        fill: impl FnOnce(&mut [u8]) -> bool,
    ) -> Result<bool> {
        if self.len() >= MAX_WAITING {
            return Ok(false);
        }
        self.waiting.room(1)?;
        if self.pieces.back().is_none_or(|piece| PIECE - piece.used < len) {
            self.pieces.room(1)?;
            self.spent.room(self.pieces.len() + 1)?;
            let piece = self.spent.pop().map_or_else(|| Piece::new(transport, zone), Ok)?;
            self.pieces.push_back(piece);
        }
        let Some(piece) = self.pieces.back_mut() else { return Ok(false) };
        let addr = piece.pages.addr() + piece.used as u64;
        if !piece.pages.part(piece.used, len).is_some_and(fill) {
            return Ok(false);
        }
        piece.used += len;
        piece.datagrams += 1;
        self.waiting.push_back((Segment { addr, len: len as u64, key: piece.region.local_key(), since: 0 }, solicited));
        Ok(true)
    }

    /// Removes the oldest unposted datagram. Its memory stays until [`Queue::keep_posted`] completes it.
    pub fn post(&mut self) -> Option<(Segment, bool)> {
        let next = self.waiting.pop_front()?;
        self.posted += 1;
        Some(next)
    }

    /// Completes all posted datagrams except the last `outstanding`. Their memory can then be reused.
    pub fn keep_posted(&mut self, outstanding: usize) {
        while self.posted > outstanding {
            self.posted -= 1;
            while self.pieces.front().is_some_and(|oldest| oldest.datagrams == 0) {
                self.spent.extend(self.pieces.pop_front().map(|piece| Piece { used: 0, ..piece }));
            }
            if let Some(oldest) = self.pieces.front_mut() {
                oldest.datagrams -= 1;
            }
        }
    }
}

impl<T: Transport> Piece<T> {
    fn new(transport: &T, zone: &T::Zone) -> Result<Self> {
        let pages = Pages::new(PIECE)?;
        let addr = pages.addr();
        let region = transport.register(zone, addr, PIECE as u64, Rights::LOCAL_READ, addr)?;
        Ok(Piece { region, pages, used: 0, datagrams: 0 })
    }
}
