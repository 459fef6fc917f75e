use dat_core::transport::{Operation, RemoteSegment, Request, RequestId};

use super::{GATHERED, GROUP, GROUP_BYTES, Leave, MEDIUM, STREAM, Tx};

const SEND: Operation = Operation::Send { solicited: false };

/// A sending direction without a stream, and the number of polls of its adapter.
#[derive(Default)]
struct Program {
    tx: Tx,
    polls: u64,
}

impl Program {
    fn new() -> Program {
        Program { polls: 1, ..Program::default() }
    }

    /// Posts a request, and sends all waiting ones if they leave.
    fn post_any(&mut self, operation: Operation, len: u64, fence: bool) -> Leave {
        let request = Request { id: RequestId::default(), operation, segments: &[], len, fence, signalled: true };
        assert!(self.tx.post(&request, false).is_ok());
        let leave = self.tx.gather(self.polls);
        if leave == Leave::Now {
            self.send();
        }
        leave
    }

    fn post(&mut self, len: u64) -> Leave {
        self.post_any(SEND, len, false)
    }

    /// Posts a request, then polls once.
    fn post_and_poll(&mut self, len: u64) -> Leave {
        let leave = self.post(len);
        self.polls += 1;
        if leave == Leave::Soon {
            self.send();
        }
        leave
    }

    /// Sends all waiting requests, as a pump does if nothing prevents this.
    fn send(&mut self) {
        (self.tx.gathers, self.tx.gathered) = (false, 0);
        while self.tx.launched < self.tx.requests.len() {
            self.tx.launched();
        }
    }

    fn complete_all(&mut self) {
        self.tx.requests.clear();
        self.tx.launched = 0;
    }
}

#[test]
fn sends_the_requests_of_a_ping_pong_in_the_post() {
    let mut program = Program::new();
    for _ in 0..5 {
        assert!(program.post_and_poll(64) == Leave::Now);
        program.complete_all();
    }
}

#[test]
fn sends_after_few_outstanding_requests_in_the_next_poll() {
    let mut program = Program::new();
    assert!(program.post_and_poll(64) == Leave::Now);
    for _ in 1..STREAM {
        assert!(program.post_and_poll(64) == Leave::Soon);
    }
    assert!(program.post_and_poll(64) == Leave::WithLater);
}

#[test]
fn groups_of_a_stream_are_as_long_as_what_is_outstanding() {
    let mut program = Program::new();
    (0..STREAM).for_each(|_| _ = program.post_and_poll(64));
    for outstanding in [STREAM, STREAM + GROUP, STREAM + GROUP + STREAM + GROUP] {
        assert_eq!(program.tx.launched, outstanding);
        let group = outstanding.clamp(GROUP, GATHERED);
        for _ in 1..group {
            assert!(program.post_and_poll(64) == Leave::WithLater);
        }
        assert!(program.post_and_poll(64) == Leave::Now);
    }
}

#[test]
fn reads_and_fenced_requests_wait_for_no_later_post() {
    let from = RemoteSegment { addr: 0, len: 8, key: 1 };
    for (operation, fence) in [(Operation::Read(from), false), (SEND, true)] {
        let mut program = Program::new();
        (0..STREAM).for_each(|_| _ = program.post_and_poll(64));
        assert!(program.post(64) == Leave::WithLater);
        assert!(program.post_any(operation, 8, fence) == Leave::Soon);
    }
    let mut program = Program::new();
    (0..STREAM).for_each(|_| _ = program.post_and_poll(64));
    program.tx.reading = 1;
    assert!(program.post(64) == Leave::Soon);
}

#[test]
fn longer_requests_wait_only_for_the_next_poll_and_are_sent_in_parts() {
    let mut program = Program::new();
    (0..STREAM).for_each(|_| _ = program.post_and_poll(64));
    for _ in 1..GROUP_BYTES / MEDIUM {
        assert!(program.post(MEDIUM) == Leave::Soon);
    }
    assert!(program.post(MEDIUM) == Leave::Now);
    assert!(program.post(MEDIUM + 1) == Leave::Now);
}

#[test]
fn first_request_after_a_burst_waits_for_the_rest_of_the_next_burst() {
    let mut program = Program::new();
    let mut leaves = Vec::new();
    for burst in [1, 3, 3, 1, 1] {
        leaves.push(program.post(64));
        (1..burst).for_each(|_| _ = program.post(64));
        program.polls += 1;
        program.complete_all();
        program.send();
    }
    let expected = [Leave::Now, Leave::Now, Leave::Soon, Leave::Soon, Leave::Now];
    assert!(leaves == expected);
}

#[test]
fn gathered_requests_are_not_blocked() {
    let mut program = Program::new();
    program.post(64);
    program.post(64);
    assert!(program.tx.gathers && !program.tx.is_blocked());
}
