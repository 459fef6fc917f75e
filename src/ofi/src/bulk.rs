//! Long parts of transfers, whose bytes libfabric moves between its socket and the memory of the program.
//!
//! A record announces such a part, and its bytes follow as a message of their own. One receive is posted at a time, so that the
//! receiver chooses where those bytes go once it has seen the record: to their place, or to memory of the connection if they
//! have none yet.
//!
//! The memory is held meanwhile: whoever takes it away waits a moment for what is under way, and then cuts the connection.

use std::sync::{Arc, Weak};
use std::time::Duration;

use arrayvec::ArrayVec;
use dat_core::Rights;
use dat_core::transport::Segment;
use dat_memory::copy;
use dat_memory::user::{Piece, Read, Source, Target};
use host::lock::Mutex;

use crate::device::{Device, Regions};
use crate::link::Link;
use crate::record::BULK;
use crate::sys::VECS;

/// The time that bytes under way have when their memory goes, or their connection ends: 4 MiB need less at 1 Gb/s.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// Pieces of a message.
pub type Pieces<A> = ArrayVec<Piece<A>, VECS>;

/// Keys of the regions that the pieces of a message lie in.
pub type Keys = ArrayVec<u32, VECS>;

/// The rows of registered memory that are held, and by which connection.
#[derive(Default)]
pub struct Holders(Mutex<Vec<(u32, Weak<Link>)>>);

impl Holders {
    /// The connections that hold a row.
    pub fn of(&self, key: u32) -> Vec<Arc<Link>> {
        let list = self.0.lock();
        list.iter().filter(|(held, _)| *held == key).filter_map(|(_, link)| link.upgrade()).collect()
    }

    /// Whether a connection holds a row.
    pub fn has(&self, key: u32) -> bool {
        self.0.lock().iter().any(|(held, _)| *held == key)
    }

    /// Whether no row is held.
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    fn remove(&self, key: u32, number: u64) {
        let mut list = self.0.lock();
        let own = |(held, link): &(u32, Weak<Link>)| {
            *held == key && link.upgrade().is_none_or(|link| link.number() == number)
        };
        if let Some(at) = list.iter().position(own) {
            list.swap_remove(at);
        }
    }
}

/// Registered memory that a message of libfabric's is in. It is not deregistered as long as this lives.
pub struct Held {
    device: Arc<Device>,
    number: u64,
    keys: Keys,
}

impl Held {
    /// Holds the memory of these regions for a connection; `None` if one of them is gone.
    pub fn new(link: &Arc<Link>, keys: &[u32]) -> Option<Held> {
        let mut held = Held { device: link.device().clone(), number: link.number(), keys: Keys::new() };
        for &key in keys {
            if held.keys.is_full() {
                return None;
            }
            // Whoever closes the row cuts those in the list; behind that nobody can hold it.
            held.device.holders.0.lock().push((key, Arc::downgrade(link)));
            if !held.regions().hold(key) {
                held.device.holders.remove(key, held.number);
                return None;
            }
            held.keys.push(key);
        }
        Some(held)
    }

    fn regions(&self) -> &Regions {
        &self.device.regions
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for &key in &self.keys {
            self.device.holders.remove(key, self.number);
            self.regions().release(key);
        }
    }
}

/// How many bytes from `offset` on lie in `most` pieces, or in as many as a message has.
pub fn reach(segments: &[Segment], offset: u64, most: usize) -> u64 {
    let mut skip = offset;
    let mut pieces = 0;
    let mut reach = 0;
    for segment in segments {
        if skip >= segment.len {
            skip -= segment.len;
            continue;
        }
        if pieces == most {
            break;
        }
        pieces += 1;
        reach += segment.len - skip;
        skip = 0;
    }
    reach.min(BULK as u64)
}

/// Calls `f` with the pieces of the segments that make up the bytes `offset .. offset + len`, and the keys of their regions, which
/// are pinned meanwhile; `None` if a region is gone, or there are too many pieces.
pub fn with_sources<R>(
    regions: &Regions,
    segments: &[Segment],
    offset: u64,
    len: u64,
    f: impl FnOnce(&Pieces<Read<'_>>, &Keys) -> R,
) -> Option<R> {
    let pins = copy::pin_all(segments, |key| regions.pin(key))?;
    let (mut from, mut keys, mut room) = (Pieces::new(), Keys::new(), true);
    copy::pieces(segments, &pins, offset, len, |segment, pin, skip, take| {
        room &= from.try_push(copy::source(pin, segment, skip, take)).is_ok();
        let _ = keys.try_push(segment.key as u32);
    });
    (room && from.iter().map(|piece| piece.len() as u64).sum::<u64>() == len).then(|| f(&from, &keys))
}

/// Has libfabric receive bytes of a long part into the bytes `offset .. offset + len` of the segments; false if a region is gone,
/// there are too many pieces, or the connection ends.
pub fn receive(link: &Arc<Link>, segments: &[Segment], offset: u64, len: u64) -> bool {
    let Some(pins) = copy::pin_all(segments, |key| link.regions().pin(key)) else { return false };
    let (mut to, mut keys, mut room) = (Pieces::new(), Keys::new(), true);
    copy::pieces(segments, &pins, offset, len, |segment, pin, skip, take| {
        room &= to.try_push(copy::target(pin, segment, skip, take, Rights::LOCAL_WRITE)).is_ok();
        let _ = keys.try_push(segment.key as u32);
    });
    let whole = to.iter().map(|piece| piece.len() as u64).sum::<u64>() == len;
    room && whole && to.len() <= link.pieces() && receive_to(link, &to, &keys)
}

/// As [`receive`], into pieces of memory that is pinned.
pub fn receive_to(link: &Arc<Link>, to: &[Target<'_>], keys: &[u32]) -> bool {
    Held::new(link, keys).is_some_and(|held| link.receive_into(to, held).is_ok())
}

/// The bytes of a part of a transfer.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    /// Those of a record.
    Short(&'a [u8]),
    /// Those of a long part, which are not in their place yet, and those of its record.
    Apart(&'a [u8], &'a [u8]),
    /// So many in their place, and those of the record behind them.
    Placed(u64, &'a [u8]),
}

impl<'a> Body<'a> {
    /// How many there are.
    pub fn len(&self) -> u64 {
        match self {
            Body::Short(bytes) => bytes.len() as u64,
            Body::Apart(long, rest) => (long.len() + rest.len()) as u64,
            Body::Placed(long, rest) => long + rest.len() as u64,
        }
    }

    /// The same without the first bytes of its record, which are for something else.
    pub fn behind(self, head: usize) -> Self {
        let cut = |bytes: &'a [u8]| bytes.get(head..).unwrap_or_default();
        match self {
            Body::Short(bytes) => Body::Short(cut(bytes)),
            Body::Apart(long, rest) => Body::Apart(long, cut(rest)),
            Body::Placed(long, rest) => Body::Placed(long, cut(rest)),
        }
    }

    /// Those of its record.
    pub fn record(&self) -> &'a [u8] {
        match *self {
            Body::Short(bytes) | Body::Apart(_, bytes) | Body::Placed(_, bytes) => bytes,
        }
    }

    /// Calls `put` with the bytes that are not in their place, and how many are before them; false once that is.
    pub fn place(&self, mut put: impl FnMut(u64, &'a [u8]) -> bool) -> bool {
        match *self {
            Body::Short(bytes) => put(0, bytes),
            Body::Apart(long, rest) => put(0, long) && (rest.is_empty() || put(long.len() as u64, rest)),
            Body::Placed(long, rest) => rest.is_empty() || put(long, rest),
        }
    }

    /// Puts them into the segments from byte `offset` on; with `last` they end the transfer. False if a region is gone.
    pub fn scatter(&self, regions: &Regions, segments: &[Segment], offset: u64, last: bool) -> bool {
        let len = self.len();
        self.place(|before, bytes| {
            let last = last && before + bytes.len() as u64 == len;
            copy::scatter(regions, segments, offset + before, Source::of(bytes), last)
        })
    }
}

#[cfg(test)]
mod tests;
