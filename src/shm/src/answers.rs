//! RDMA reads of the peer that this process carries out, because the peer cannot read its memory.

use std::collections::VecDeque;

use dat_core::event::Status;
use dat_core::transport::RemoteSegment;

use crate::copy;
use crate::outlet::{Outlet, Put};
use crate::pair::End;
use crate::record::{ANSWER_MAX, Header, kind};
use crate::ring::Producer;

/// Reads of the peer that this process takes at a time.
const MAX_ANSWERS: usize = 256;

/// A read of the peer.
struct Answer {
    target: RemoteSegment,
    /// Bytes that are in the ring already.
    offset: u64,
}

/// The reads of the peer that are not answered yet, in order, and the ring that the data go into.
#[derive(Default)]
pub struct Answers {
    outlet: Outlet,
    queue: VecDeque<Answer>,
}

impl Answers {
    /// Opens the ring.
    pub fn open(&mut self, producer: Producer) {
        self.outlet.open(producer);
    }

    /// Carries out nothing any more.
    pub fn close(&mut self) {
        self.outlet.close();
        self.queue.clear();
    }

    /// Takes a read; false if there are more than the peer may have.
    pub fn take(&mut self, target: RemoteSegment) -> bool {
        let room = self.queue.len() < MAX_ANSWERS;
        if room {
            self.queue.push_back(Answer { target, offset: 0 });
        }
        room
    }

    /// Carries out reads, as far as there is room; gives the status with which one failed.
    pub fn serve(&mut self, end: &End) -> Option<Status> {
        let mut went = false;
        let failed = loop {
            let Some(answer) = self.queue.front_mut() else { break None };
            let (target, offset) = (answer.target, answer.offset);
            let take = (target.len - offset).min(ANSWER_MAX);
            let header = Header { kind: kind::READ_DATA, flags: 0, aux: target.len };
            let put = self.outlet.put(header, take as usize, |room| {
                copy::read_for_peer(end, &target, offset, take, |bytes| {
                    room.write(bytes);
                })
            });
            match put {
                Put::NoRoom => break None,
                Put::Failed(status) => break Some(status),
                Put::At(_) => {
                    went = true;
                    answer.offset += take;
                    if answer.offset == target.len {
                        self.queue.pop_front();
                    }
                }
            }
        };
        if went {
            end.tell_peer();
        }
        failed
    }
}
