//! Records for the response ring: responses to the peer's reads and atomic operations, bytes of messages and writes
//! that the peer requests, and this side's own requests for such bytes.

use std::collections::VecDeque;

use dat_core::event::Status;
use dat_core::transport::{Checked, RemoteSegment, RequestId};
use dat_software::records::Fatal;
use dat_software::user::Source;

use crate::budget::Budget;
use crate::copy;
use crate::peer_segment::End;
use crate::record::{self, ANSWER_MAX, Acknowledge, Header, WORD, kind};
use crate::ring::Producer;
use crate::sleep::Notice;
use crate::tx_ring::{Put, TxRing};

const MAX_READS: usize = 256;

pub enum PendingResponse {
    Bytes { target: RemoteSegment, offset: u64 },
    Value(u64),
}

pub struct Wanted {
    pub id: RequestId,
    pub segments: Checked,
    pub len: u64,
    /// Number of leading bytes that the peer has, or that have been sent.
    pub offset: u64,
}

#[derive(Default)]
pub struct Responses {
    tx_ring: TxRing,
    pending_records: VecDeque<PendingResponse>,
    /// The failure because of the peer's last request. It ends the connection after all pending responses are sent.
    refusal: Option<Fatal>,
    message: Option<Wanted>,
}

impl Responses {
    pub fn open(&mut self, producer: Producer) {
        self.tx_ring.open(producer);
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending_records.is_empty() && self.refusal.is_none() && self.message.is_none()
    }

    /// Returns whether one more pending response can be queued.
    pub fn has_room(&mut self) -> bool {
        self.pending_records.len() < MAX_READS && self.pending_records.try_reserve(1).is_ok()
    }

    pub fn owe(&mut self, pending_records: PendingResponse) {
        self.pending_records.push_back(pending_records);
    }

    /// Queues the refusal of the peer's last request, after the pending responses. Needs no room.
    pub fn add_refusal(&mut self, fatal: Fatal) {
        self.refusal.get_or_insert(fatal);
    }

    pub fn take_refusal(&mut self) -> Option<Fatal> {
        self.refusal.take()
    }

    /// Queues the requested bytes of a message or write. Returns `false` if others are already queued, or no bytes
    /// remain.
    pub fn add_message(&mut self, wanted: Wanted) -> bool {
        let right = self.message.is_none() && wanted.offset < wanted.len;
        if right {
            self.message = Some(wanted);
        }
        right
    }

    pub fn on_done(&mut self, id: RequestId) {
        if self.message.as_ref().is_some_and(|wanted| wanted.id == id) {
            self.message = None;
        }
    }

    pub fn ask_for(&mut self, end: &End, position: u64, offset: u64) -> bool {
        let place = [position, offset].map(u64::to_le_bytes);
        let place = place.as_flattened();
        let header = Header { kind: kind::FETCH, solicited: false, acknowledge: Acknowledge::No, aux: 0 };
        let put = self.tx_ring.put(end.taken(), header, place.len(), |room| {
            room.write(Source::of(place));
            true
        });
        let there = matches!(put, Put::At(_));
        if there {
            end.tell_always();
        }
        there
    }

    pub fn progress(&mut self, end: &End, budget: &mut Budget) -> Option<Fatal> {
        let (mut message, mut pending_records) = (false, false);
        let mut failed = None;
        while failed.is_none() {
            let (went, put) = match self.message {
                Some(_) => (&mut message, self.put_message(end, budget)),
                None => (&mut pending_records, self.put_owed(end, budget)),
            };
            match put {
                Ok(true) => *went = true,
                Ok(false) => break,
                Err(error) => failed = Some(error),
            }
        }
        // A polling peer checks for responses only while it has reads in flight, so message bytes always need a ready
        // bit.
        if message {
            end.tell_always();
        } else if pending_records {
            end.notify_peer(Notice::Record);
        }
        failed
    }

    /// Sends the next piece of the requested message or write. Returns `false` if there is none, or no room or budget.
    fn put_message(&mut self, end: &End, budget: &mut Budget) -> Result<bool, Fatal> {
        let Some(wanted) = &mut self.message else { return Ok(false) };
        let take = record::piece(wanted.len - wanted.offset, ANSWER_MAX);
        if !budget.record(end, wanted.len, take) {
            return Ok(false);
        }
        let header =
            Header { kind: kind::MESSAGE_DATA, solicited: false, acknowledge: Acknowledge::No, aux: wanted.len };
        let put = self.tx_ring.put(end.taken(), header, take as usize, |room| {
            let mut wrote = 0;
            let Wanted { segments, offset, .. } = &*wanted;
            let there = copy::gather(end.regions(), segments, *offset, take, |bytes| wrote += room.write(bytes));
            there && wrote as u64 == take
        });
        match put {
            Put::NoRoom => Ok(false),
            Put::Failed(status) => Err(Fatal::of_request(wanted.id, status)),
            Put::At(_) => {
                wanted.offset += take;
                if wanted.offset == wanted.len {
                    self.message = None;
                }
                Ok(true)
            }
        }
    }

    /// Sends the next pending response, or its next piece. Returns `false` if there is none, no room in the ring, or no
    /// budget. After the last response, fails with the queued refusal, if any.
    fn put_owed(&mut self, end: &End, budget: &mut Budget) -> Result<bool, Fatal> {
        let (len, offset) = match self.pending_records.front() {
            None => return self.refusal.map_or(Ok(false), Err),
            Some(PendingResponse::Bytes { target, offset }) => (target.len, *offset),
            Some(PendingResponse::Value(_)) => (WORD, 0),
        };
        let take = record::piece(len - offset, ANSWER_MAX);
        if !budget.record(end, len, take) {
            return Ok(false);
        }
        let header = Header { kind: kind::READ_DATA, solicited: false, acknowledge: Acknowledge::No, aux: len };
        let pending_records = &self.pending_records;
        let put = self.tx_ring.put(end.taken(), header, take as usize, |room| match pending_records.front() {
            Some(PendingResponse::Bytes { target, .. }) => copy::read_for_peer(end, target, offset, take, |bytes| {
                room.write(bytes);
            }),
            Some(PendingResponse::Value(value)) => room.write(Source::of(&value.to_ne_bytes())) == WORD as usize,
            _ => false,
        });
        match put {
            Put::NoRoom => Ok(false),
            Put::Failed(_) => Err(Fatal::of_peer(Status::RemoteAccess)),
            Put::At(_) => {
                match self.pending_records.front_mut() {
                    Some(PendingResponse::Bytes { offset, .. }) if *offset + take < len => *offset += take,
                    _ => drop(self.pending_records.pop_front()),
                }
                Ok(true)
            }
        }
    }
}

#[cfg(test)]
mod tests;
