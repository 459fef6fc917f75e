//! The answers that were given to requests for datagrams a short time ago. The kernel forgets a request once it is
//! answered. If the answer gets lost, the kernel of the peer repeats the request, which arrives as if it were another one,
//! and gets the same answer.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use host::lock::Mutex;
use host::memory::{self, Room};

use super::hello::Hello;
use crate::sys::cm::{CmId, Terms};

/// The time for which kernels repeat a request: 16 times 4.1 seconds.
const REPEATS: Duration = Duration::from_secs(66);
/// The most answers that are remembered, so that nobody who asks again and again makes the search for one long.
const MOST: usize = 4096;

/// Answers, oldest first.
#[derive(Default)]
pub struct Answers(Mutex<VecDeque<Answer>>);

struct Answer {
    given: Instant,
    to: Hello,
    /// The queue pair that accepted it; none if it was turned down.
    qp: Option<u32>,
    bytes: Box<[u8]>,
}

impl Answers {
    /// Remembers an answer. Without memory it is forgotten.
    pub fn note(&self, to: &Hello, qp: Option<u32>, bytes: &[u8]) {
        let mut answers = self.0.lock();
        while answers.len() >= MOST || answers.front().is_some_and(|oldest| oldest.given.elapsed() > REPEATS) {
            answers.pop_front();
        }
        if let (Ok(()), Ok(bytes)) = (answers.room(1), memory::copied(bytes)) {
            answers.push_back(Answer { given: Instant::now(), to: *to, qp, bytes });
        }
    }

    /// Repeats the answer to a request that was answered; false if it was not.
    pub fn repeat(&self, hello: &Hello, id: &CmId) -> bool {
        let answers = self.0.lock();
        let Some(answer) = answers.iter().rev().find(|answer| answer.to == *hello) else { return false };
        let sent = match answer.qp {
            Some(qp_number) => id.accept(&Terms { qp_number, srq: true, reads: (0, 0), private_data: &answer.bytes }),
            None => id.reject(&answer.bytes),
        };
        log::debug!(target: host::diagnostics::CM, "a request for datagrams was repeated, and so is its answer: {sent:?}");
        true
    }
}
