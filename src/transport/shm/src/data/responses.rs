//! Bytes of this process's memory that the peer asked for because it cannot read them itself.

use std::collections::VecDeque;

use dat_core::event::Status;
use dat_core::transport::{Checked, RemoteSegment, RequestId};
use dat_memory::user::Source;

use crate::budget::Budget;
use crate::copy;
use crate::peer_segment::End;
use crate::record::{self, ANSWER_MAX, Acknowledge, Header, WORD, kind};
use crate::ring::Producer;
use crate::sleep::News;
use crate::tx_ring::{Put, TxRing};

/// Reads and atomic operations of the peer that this side takes at a time.
const MAX_READS: usize = 256;

/// What the peer is owed.
pub enum PendingResponse {
    /// The bytes of a read, from `offset` on; those before are in the ring already.
    Bytes { target: RemoteSegment, offset: u64 },
    /// What a word was before an atomic operation.
    Value(u64),
}

/// A message of this side that the peer has asked for.
pub struct Wanted {
    /// The request.
    pub id: RequestId,
    /// Its segments.
    pub segments: Checked,
    /// Its bytes.
    pub len: u64,
    /// Bytes that are in the ring already, or need not go there.
    pub offset: u64,
}

/// A failure while the peer was given its bytes.
#[derive(Clone, Copy, Debug)]
pub enum Failed {
    /// A read or an atomic operation of the peer.
    Read(Status),
    /// A message of this side.
    Message(RequestId, Status),
}

/// The ring that answers go into, and what is not answered yet.
#[derive(Default)]
pub struct Responses {
    tx_ring: TxRing,
    owed: VecDeque<PendingResponse>,
    /// The peer asked for something that it may not have, or that finds no room. It learns so after all that it is owed.
    refusal: Option<Status>,
    message: Option<Wanted>,
}

impl Responses {
    /// Opens the ring.
    pub fn open(&mut self, producer: Producer) {
        self.tx_ring.open(producer);
    }

    /// Answers nothing more.
    pub fn close(&mut self) {
        self.tx_ring.close();
        self.owed = VecDeque::new();
        self.refusal = None;
        self.message = None;
    }

    /// True if there is nothing to answer.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.owed.is_empty() && self.refusal.is_none() && self.message.is_none()
    }

    /// Whether there is room for one more read or atomic operation of the peer: not if there are as many as it may have, or
    /// no memory for it.
    pub fn has_room(&mut self) -> bool {
        self.owed.len() < MAX_READS && self.owed.try_reserve(1).is_ok()
    }

    /// Answers this after all before it. There is room.
    pub fn owe(&mut self, owed: PendingResponse) {
        self.owed.push_back(owed);
    }

    /// Refuses a read or an atomic operation of the peer, whose last question that is. Needs no room.
    pub fn add_refusal(&mut self, status: Status) {
        self.refusal = Some(status);
    }

    /// Takes a message that the peer asks for; false if another one is not sent yet, or there is nothing to send.
    pub fn add_message(&mut self, wanted: Wanted) -> bool {
        let right = self.message.is_none() && wanted.offset < wanted.len;
        if right {
            self.message = Some(wanted);
        }
        right
    }

    /// The request `id` is complete, so that the peer needs nothing more of it.
    pub fn on_done(&mut self, id: RequestId) {
        if self.message.as_ref().is_some_and(|wanted| wanted.id == id) {
            self.message = None;
        }
    }

    /// Asks the peer for a message that it announced, from byte `offset` on; false if there is no room yet.
    pub fn ask_for(&mut self, end: &End, position: u64, offset: u64) -> bool {
        let place = record::place(position, offset);
        let header = Header { kind: kind::FETCH, solicited: false, acknowledge: Acknowledge::No, aux: 0 };
        let put = self.tx_ring.put(end.taken(), header, place.len(), |room| {
            room.write(Source::of(&place));
            true
        });
        let there = matches!(put, Put::At(_));
        if there {
            end.tell_of_answers();
        }
        there
    }

    /// Sends the peer its bytes, as far as there is room and `budget` allows.
    pub fn progress(&mut self, end: &End, budget: &mut Budget) -> Option<Failed> {
        let (mut message, mut owed) = (false, false);
        let mut failed = None;
        while failed.is_none() {
            let (went, put) = match self.message {
                Some(_) => (&mut message, self.put_message(end, budget)),
                None => (&mut owed, self.put_owed(end, budget)),
            };
            match put {
                Ok(true) => *went = true,
                Ok(false) => break,
                Err(error) => failed = Some(error),
            }
        }
        // A peer that polls looks for answers to its reads, and for no others.
        if message {
            end.tell_of_answers();
        } else if owed {
            end.tell_peer(News::Record);
        }
        failed
    }

    /// Puts the next piece of the message into the ring; false if there is none, or no room or budget.
    fn put_message(&mut self, end: &End, budget: &mut Budget) -> Result<bool, Failed> {
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
            Put::Failed(status) => Err(Failed::Message(wanted.id, status)),
            Put::At(_) => {
                wanted.offset += take;
                if wanted.offset == wanted.len {
                    self.message = None;
                }
                Ok(true)
            }
        }
    }

    /// Puts what the peer is owed next into the ring, or the next piece of it; false if it is owed nothing, or there is no
    /// room or budget.
    fn put_owed(&mut self, end: &End, budget: &mut Budget) -> Result<bool, Failed> {
        let (len, offset) = match self.owed.front() {
            None => return self.refusal.map_or(Ok(false), |status| Err(Failed::Read(status))),
            Some(PendingResponse::Bytes { target, offset }) => (target.len, *offset),
            Some(PendingResponse::Value(_)) => (WORD, 0),
        };
        let take = record::piece(len - offset, ANSWER_MAX);
        if !budget.record(end, len, take) {
            return Ok(false);
        }
        let header = Header { kind: kind::READ_DATA, solicited: false, acknowledge: Acknowledge::No, aux: len };
        let owed = &self.owed;
        let put = self.tx_ring.put(end.taken(), header, take as usize, |room| match owed.front() {
            Some(PendingResponse::Bytes { target, .. }) => copy::read_for_peer(end, target, offset, take, |bytes| {
                room.write(bytes);
            }),
            Some(PendingResponse::Value(value)) => room.write(Source::of(&value.to_ne_bytes())) == WORD as usize,
            _ => false,
        });
        match put {
            Put::NoRoom => Ok(false),
            // The region went while the peer read it.
            Put::Failed(_) => Err(Failed::Read(Status::RemoteAccess)),
            Put::At(_) => {
                match self.owed.front_mut() {
                    Some(PendingResponse::Bytes { offset, .. }) if *offset + take < len => *offset += take,
                    _ => drop(self.owed.pop_front()),
                }
                Ok(true)
            }
        }
    }
}

#[cfg(test)]
mod tests;
