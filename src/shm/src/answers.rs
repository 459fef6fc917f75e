//! Bytes of this process's memory that the peer asked for because it cannot read them itself.

use std::collections::VecDeque;

use dat_core::event::Status;
use dat_core::transport::{Checked, RemoteSegment, RequestId};

use crate::budget::Budget;
use crate::copy;
use crate::os::user::Source;
use crate::outlet::{Outlet, Put};
use crate::pair::End;
use crate::record::{self, ANSWER_MAX, Acknowledge, Header, kind};
use crate::ring::Producer;

/// Reads of the peer that this side takes at a time.
const MAX_READS: usize = 256;

/// A read of the peer.
struct Read {
    target: RemoteSegment,
    /// Bytes that are in the ring already.
    offset: u64,
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
    /// A read of the peer.
    Read(Status),
    /// A message of this side.
    Message(RequestId, Status),
}

/// The ring that answers go into, and what is not answered yet.
#[derive(Default)]
pub struct Answers {
    outlet: Outlet,
    reads: VecDeque<Read>,
    message: Option<Wanted>,
}

impl Answers {
    /// Opens the ring.
    pub fn open(&mut self, producer: Producer) {
        self.outlet.open(producer);
    }

    /// Answers nothing more.
    pub fn close(&mut self) {
        self.outlet.close();
        self.reads = VecDeque::new();
        self.message = None;
    }

    /// True if there is nothing to answer.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.message.is_none()
    }

    /// Takes a read of the peer; false if there are more than it may have, or there is no memory for it.
    pub fn add_read(&mut self, target: RemoteSegment) -> bool {
        let room = self.reads.len() < MAX_READS && self.reads.try_reserve(1).is_ok();
        if room {
            self.reads.push_back(Read { target, offset: 0 });
        }
        room
    }

    /// Takes a message that the peer asks for; false if it asked for one before that it has not got yet, or there is
    /// nothing to send.
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
        let put = self.outlet.put(end, header, place.len(), |room| {
            room.write(Source::of(&place));
            true
        });
        let there = matches!(put, Put::At(_));
        if there {
            end.tell_of_answers();
        }
        there
    }

    /// Gives the peer its bytes, as far as there is room and `budget` allows.
    pub fn progress(&mut self, end: &End, budget: &mut Budget) -> Option<Failed> {
        let mut went = false;
        let mut failed = None;
        while failed.is_none() {
            let put = if self.message.is_some() { self.put_message(end, budget) } else { self.put_read(end, budget) };
            match put {
                Ok(true) => went = true,
                Ok(false) => break,
                Err(error) => failed = Some(error),
            }
        }
        if went {
            end.tell_of_answers();
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
        let put = self.outlet.put(end, header, take as usize, |room| {
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

    /// Puts the next piece of the oldest read into the ring; false if there is none, or no room or budget.
    fn put_read(&mut self, end: &End, budget: &mut Budget) -> Result<bool, Failed> {
        let Some(Read { target, offset }) = self.reads.front_mut() else { return Ok(false) };
        let take = record::piece(target.len - *offset, ANSWER_MAX);
        if !budget.record(end, target.len, take) {
            return Ok(false);
        }
        let header = Header { kind: kind::READ_DATA, solicited: false, acknowledge: Acknowledge::No, aux: target.len };
        let put = self.outlet.put(end, header, take as usize, |room| {
            copy::read_for_peer(end, target, *offset, take, |bytes| {
                room.write(bytes);
            })
        });
        match put {
            Put::NoRoom => Ok(false),
            Put::Failed(status) => Err(Failed::Read(status)),
            Put::At(_) => {
                *offset += take;
                if *offset == target.len {
                    self.reads.pop_front();
                }
                Ok(true)
            }
        }
    }
}
