//! Recent replies to UD requests. After a lost reply, the peer's kernel repeats the request. The repetition arrives as
//! a new request, because the local kernel has discarded the first, and gets the same reply.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use host::lock::Mutex;
use host::memory::{self, Room};

use super::hello::Hello;
use crate::sys::cm::{CmId, Terms};

/// Time for which kernels repeat a request: 16 times 4.1 seconds.
const REPEAT_TIME: Duration = Duration::from_secs(66);
/// Maximum number of stored replies, which limits the time of a search.
const MAX_ANSWERS: usize = 4096;

/// Replies, oldest first.
#[derive(Default)]
pub struct Answers(Mutex<VecDeque<Answer>>);

struct Answer {
    given: Instant,
    to: Hello,
    /// The accepting queue pair; `None` for a rejection.
    qp: Option<u32>,
    bytes: Box<[u8]>,
}

impl Answers {
    /// Stores a reply, if there is memory.
    pub fn note(&self, to: &Hello, qp: Option<u32>, bytes: &[u8]) {
        let mut answers = self.0.lock();
        while answers.len() >= MAX_ANSWERS || answers.front().is_some_and(|oldest| oldest.given.elapsed() > REPEAT_TIME)
        {
            answers.pop_front();
        }
        if let (Ok(()), Ok(bytes)) = (answers.room(1), memory::copied(bytes)) {
            answers.push_back(Answer { given: Instant::now(), to: *to, qp, bytes });
        }
    }

    /// Sends the stored reply to a repeated request, over its identifier `id`. Returns `false` if no reply is stored.
    pub fn repeat(&self, hello: &Hello, id: &CmId) -> bool {
        let answers = self.0.lock();
        let Some(answer) = answers.iter().rev().find(|answer| answer.to == *hello) else { return false };
        let sent = match answer.qp {
            Some(qp_number) => id.accept(&Terms { qp_number, srq: true, reads: (0, 0), private_data: &answer.bytes }),
            None => id.reject(&answer.bytes),
        };
        log::debug!(target: host::diagnostics::CM, "connection request: repeated, so the reply is sent again: {sent:?}");
        true
    }
}
