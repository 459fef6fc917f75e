//! What is registered: which memory may be touched by whom.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::ep::Change;
use crate::mem::Rights;
use crate::transport::{RemoteSegment, Segment};

/// A range of memory that a key names.
#[derive(Clone, Copy)]
pub struct Row {
    /// First byte.
    pub addr: u64,
    /// The number by which peers name it.
    pub first: u64,
    /// Bytes.
    pub len: u64,
    /// Rights granted.
    pub rights: Rights,
    /// The zone in which they are.
    pub zone: u32,
    /// The region that a window is bound into; `None` for a region itself.
    pub region: Option<u32>,
    /// The end whose peer alone can use it.
    pub only: Option<u64>,
}

/// Which of two lists of segments is not, or not any more, registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unregistered {
    /// The one to copy from.
    Source,
    /// The one to copy to.
    Target,
}

/// All regions and windows of a fabric. Its lock is held while memory is touched, so that
/// memory is the program's again when it has been deregistered.
#[derive(Default)]
pub struct Table {
    rows: BTreeMap<u32, Row>,
    /// What each window is bound to, by its number.
    windows: BTreeMap<u32, Option<u32>>,
    last: u32,
}

impl Table {
    /// A key that was never used.
    pub fn reserve(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// Registers a range; gives its key.
    pub fn insert(&mut self, row: Row) -> u32 {
        let key = self.reserve();
        self.rows.insert(key, row);
        key
    }

    /// Deregisters a range.
    pub fn remove(&mut self, key: u32) {
        self.rows.remove(&key);
    }

    /// Makes an unbound window; gives its number.
    pub fn open_window(&mut self) -> u32 {
        let number = self.reserve();
        self.windows.insert(number, None);
        number
    }

    /// Unbinds a window for good; a bind of it that is still to come has no effect.
    pub fn close_window(&mut self, number: u32) {
        if let Some(Some(key)) = self.windows.remove(&number) {
            self.rows.remove(&key);
        }
    }

    /// Binds a window to a range under `key`, or to nothing. False if the region is gone.
    pub fn bind(&mut self, number: u32, key: u32, row: Option<Row>) -> bool {
        let Some(bound) = self.windows.get_mut(&number) else { return true };
        if let Some(before) = bound.take() {
            self.rows.remove(&before);
        }
        let Some(row) = row else { return true };
        if !row.region.is_some_and(|region| self.rows.contains_key(&region)) {
            return false;
        }
        *bound = Some(key);
        self.rows.insert(key, row);
        true
    }

    /// The range that a key names, as long as the region behind it is there.
    fn find(&self, key: u32) -> Option<&Row> {
        let row = self.rows.get(&key)?;
        match row.region {
            Some(region) if !self.rows.contains_key(&region) => None,
            _ => Some(row),
        }
    }

    /// What the peer of the end `target`, which is in `zone`, names, if it has `right` there.
    pub fn open_to(&self, remote: &RemoteSegment, target: u64, zone: u32, right: Rights) -> Option<Segment> {
        let row = self.find(remote.key)?;
        let offset = remote.addr.checked_sub(row.first)?;
        let piece = Segment { addr: row.addr.checked_add(offset)?, len: remote.len, key: remote.key, since: 0 };
        (row.admits(target, zone) && row.rights.contains(right) && row.covers(&piece)).then_some(piece)
    }

    /// The window that the peer of the end `target`, which is in `zone`, names, if it has one there.
    pub fn window_of(&self, key: u32, target: u64, zone: u32) -> Option<u32> {
        self.find(key).filter(|row| row.region.is_some() && row.admits(target, zone))?;
        self.windows.iter().find(|(_, bound)| **bound == Some(key)).map(|(&number, _)| number)
    }

    fn registered(&self, segments: &[Segment]) -> bool {
        segments.iter().all(|segment| self.find(segment.key).is_some_and(|row| row.covers(segment)))
    }

    /// Changes the eight bytes of a piece that is open to the peer and aligned. What they were goes to the eight bytes of another
    /// one.
    ///
    /// # Errors
    /// Nothing was changed then.
    pub fn change(&self, piece: &Segment, change: Change, to: &Segment) -> Result<(), Unregistered> {
        if !self.registered(std::slice::from_ref(to)) {
            return Err(Unregistered::Target);
        }
        let place = std::ptr::with_exposed_provenance_mut::<u64>(piece.addr as usize);
        // SAFETY: it is aligned and lies in memory that is registered, which is the program's promise that it may be read and
        // written, and stays so while the table is borrowed.
        let word = unsafe { AtomicU64::from_ptr(place) };
        let before = match change {
            Change::Add(add) => word.fetch_add(add, Ordering::AcqRel),
            Change::Swap { expected, new } => {
                let swapped = word.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire);
                swapped.unwrap_or_else(|found| found)
            }
        };
        let before = before.to_ne_bytes();
        let place = std::ptr::with_exposed_provenance_mut::<u8>(to.addr as usize);
        // SAFETY: as above; there are so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(before.as_ptr(), place, before.len()) };
        Ok(())
    }

    /// Copies `len` bytes from the memory of the first list to that of the second, each in
    /// the order of the list; both are long enough. The last byte becomes visible last.
    ///
    /// # Errors
    /// Nothing was copied then.
    pub fn copy(&self, from: &[Segment], to: &[Segment], len: u64) -> Result<(), Unregistered> {
        if !self.registered(from) {
            return Err(Unregistered::Source);
        }
        if !self.registered(to) {
            return Err(Unregistered::Target);
        }
        let (mut sources, mut targets) = (from.iter(), to.iter());
        let (mut source, mut target) = (Segment::default(), Segment::default());
        let mut left = len;
        while left > 0 {
            while source.len == 0 {
                source = *sources.next().ok_or(Unregistered::Source)?;
            }
            while target.len == 0 {
                target = *targets.next().ok_or(Unregistered::Target)?;
            }
            let piece = left.min(source.len).min(target.len);
            left -= piece;
            let first = std::ptr::with_exposed_provenance::<u8>(source.addr as usize);
            let place = std::ptr::with_exposed_provenance_mut::<u8>(target.addr as usize);
            let before_last = piece as usize - usize::from(left == 0);
            // SAFETY: both lie in memory that is registered, which is the program's promise that
            // it may be read and written, and stays so while the table is borrowed.
            unsafe {
                let last = first.add(piece as usize - 1).read();
                std::ptr::copy(first, place, before_last);
                if left == 0 {
                    AtomicU8::from_ptr(place.add(before_last)).store(last, Ordering::Release);
                }
            }
            for segment in [&mut source, &mut target] {
                segment.addr += piece;
                segment.len -= piece;
            }
        }
        Ok(())
    }
}

impl Row {
    /// Whether the peer of the end `target`, which is in `zone`, can use it.
    fn admits(&self, target: u64, zone: u32) -> bool {
        self.zone == zone && self.only.is_none_or(|only| only == target)
    }

    fn covers(&self, piece: &Segment) -> bool {
        let offset = piece.addr.checked_sub(self.addr);
        offset.is_some_and(|offset| offset <= self.len && piece.len <= self.len - offset)
    }
}
