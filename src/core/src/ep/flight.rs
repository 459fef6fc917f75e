//! Requests in flight: what was posted and has not completed, in posting order.

use std::collections::VecDeque;

use crate::event::Transfer;
use crate::slab::Handle;
use crate::transport::RequestId;

/// What a request in flight will report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Transfer(Transfer),
    Bind(Handle),
}

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub cookie: u64,
    pub flags: u32,
    pub len: u64,
    pub kind: Kind,
}

/// The requests in flight of one endpoint. Numbers rise by one with each post, so a
/// report on one of them tells about all earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    entries: VecDeque<Entry>,
    first: RequestId,
    capacity: usize,
}

impl Flight {
    /// Makes room for `capacity` requests.
    pub fn reserve(&mut self, capacity: usize) -> bool {
        let more = capacity.saturating_sub(self.entries.len());
        if self.entries.try_reserve_exact(more).is_err() {
            return false;
        }
        self.capacity = capacity;
        true
    }

    /// The number that the next request will have; `None` if there is no room for it.
    pub fn next(&self) -> Option<RequestId> {
        (self.entries.len() < self.capacity).then(|| self.first + self.entries.len() as u64)
    }

    /// Adds the request of which [`Flight::next`] gave the number.
    pub fn push(&mut self, entry: Entry) {
        self.entries.push_back(entry);
    }

    /// Takes back the request pushed last.
    pub fn unpush(&mut self) {
        self.entries.pop_back();
    }

    /// The oldest request, if its number is at most `last`.
    pub fn pop_through(&mut self, last: RequestId) -> Option<Entry> {
        if self.first > last {
            return None;
        }
        let entry = self.entries.pop_front()?;
        self.first += 1;
        Some(entry)
    }

    /// The oldest request.
    pub fn pop(&mut self) -> Option<Entry> {
        self.pop_through(RequestId::MAX)
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(cookie: u64) -> Entry {
        Entry { cookie, flags: 0, len: 0, kind: Kind::Transfer(Transfer::Send) }
    }

    #[test]
    fn a_report_completes_all_earlier_requests_once() {
        let mut flight = Flight::default();
        assert_eq!(flight.next(), None);
        assert!(flight.reserve(3));
        for cookie in 0..3 {
            assert_eq!(flight.next(), Some(cookie));
            flight.push(entry(cookie));
        }
        assert_eq!(flight.next(), None);
        let through = |flight: &mut Flight, last| {
            std::iter::from_fn(|| flight.pop_through(last)).map(|entry| entry.cookie).collect::<Vec<_>>()
        };
        assert_eq!(through(&mut flight, 1), [0, 1]);
        assert_eq!(through(&mut flight, 1), []);
        assert_eq!(flight.next(), Some(3));
        assert_eq!(through(&mut flight, 9), [2]);
        assert!(flight.is_empty());
    }
}
