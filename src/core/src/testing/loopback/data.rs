//! How bytes move: requests are carried out in order, as far as there are receives for them.

use std::sync::atomic::AtomicU64;

use host::lock::Mutex;

use super::fabric::{End, Receive, Report, State, Task, Transfer, Work};
use super::memory::{Table, Unregistered};
use crate::ep::Change;
use crate::event::Status;
use crate::mem::Rights;
use crate::transport::{FailedRequest, Mark, RecvDone, RemoteSegment, RequestId, Segment, Special, Verdict};

/// What came of a request.
enum Outcome {
    Done,
    /// There is no receive for it yet.
    Wait,
    /// The connection fails: with the status of the request, and of the receive it took.
    Failed(Option<Status>, Option<RecvDone>),
}

impl State {
    /// Takes work from the intake.
    pub fn carry_out(&mut self, memory: &Mutex<Table>, work: Work) {
        match work {
            Work::Recv(number, receive) => {
                let Some(end) = self.ends.get_mut(&number) else { return };
                end.recvs.push_back(receive);
                if let Some(peer) = end.peer {
                    self.advance(memory, peer);
                }
            }
            Work::SharedRecv(number, receive) => {
                let Some(srq) = self.srqs.get_mut(&number) else { return };
                srq.recvs.push_back(receive);
                self.feed(memory, number);
            }
            Work::Request(number, transfer) => {
                let Some(end) = self.ends.get_mut(&number) else { return };
                end.requests.push_back(transfer);
                self.advance(memory, number);
            }
        }
    }

    /// Lets the ends that wait for a buffer of a shared queue go on, in turn.
    fn feed(&mut self, memory: &Mutex<Table>, number: u64) {
        loop {
            let Some(srq) = self.srqs.get_mut(&number) else { return };
            if srq.recvs.is_empty() {
                return;
            }
            let Some(starved) = srq.starved.pop_front() else { return };
            let Some(end) = self.ends.get_mut(&starved) else { continue };
            end.starved = false;
            if let Some(peer) = end.peer {
                self.advance(memory, peer);
            }
        }
    }

    /// Carries out the requests of an end, until one has to wait.
    fn advance(&mut self, memory: &Mutex<Table>, number: u64) {
        loop {
            let Some(end) = self.ends.get_mut(&number) else { return };
            let Some(peer) = end.peer else { return };
            let Some(transfer) = end.requests.pop_front() else { return };
            match self.perform(memory, peer, &transfer) {
                Outcome::Done => self.report_done(number, transfer.id),
                Outcome::Wait => {
                    if let Some(end) = self.ends.get_mut(&number) {
                        end.requests.push_front(transfer);
                    }
                    return;
                }
                Outcome::Failed(status, recv) => {
                    self.fail(number, status.map(|status| (transfer.id, status)), recv);
                    return;
                }
            }
        }
    }

    fn perform(&mut self, memory: &Mutex<Table>, peer: u64, transfer: &Transfer) -> Outcome {
        match &transfer.task {
            Task::Send { solicited, invalidate } => self.send(memory, peer, transfer, *solicited, *invalidate),
            Task::Write(to) => self.rdma(memory, peer, transfer, to, Rights::REMOTE_WRITE),
            Task::Read(_) | Task::Atomic(..) if !self.serves_reads(peer) => {
                Outcome::Failed(Some(Status::RemoteResponder), None)
            }
            Task::Read(from) => self.rdma(memory, peer, transfer, from, Rights::REMOTE_READ),
            Task::WriteImmediate { to, value, solicited } => {
                self.write_immediate(memory, peer, transfer, to, *value, *solicited)
            }
            Task::Atomic(target, change) => self.change(memory, peer, transfer, target, *change),
            Task::Bind(bind) => {
                if memory.lock().bind(bind.window, bind.key, bind.row) {
                    Outcome::Done
                } else {
                    Outcome::Failed(Some(Status::RmrOperation), None)
                }
            }
        }
    }

    /// Puts a message into the peer's next receive.
    fn send(
        &mut self,
        memory: &Mutex<Table>,
        peer: u64,
        transfer: &Transfer,
        solicited: bool,
        invalidate: Option<u32>,
    ) -> Outcome {
        let Some(receive) = self.take_receive(peer) else { return Outcome::Wait };
        let Some(end) = self.ends.get(&peer) else { return Outcome::Wait };
        let window = invalidate.map(|key| (key, memory.lock().window_of(key, peer, end.zone)));
        if let Some((_, None)) = window {
            self.put_back(peer, receive);
            return Outcome::Failed(Some(Status::RemoteAccess), None);
        }
        if end.srq.is_some() && end.sink.recv_taken(receive.id) == Verdict::Break {
            return Outcome::Failed(None, None);
        }
        let done = |status, len| RecvDone { id: receive.id, status, len, solicited };
        let capacity: u64 = receive.segments.iter().map(|segment| segment.len).sum();
        if transfer.len > capacity {
            return Outcome::Failed(Some(Status::RemoteResponder), Some(done(Status::LocalLength, 0)));
        }
        let copied = memory.lock().copy(&transfer.segments, &receive.segments, transfer.len);
        match copied {
            Ok(()) => {
                let done = done(Status::Success, transfer.len);
                if let Some((key, Some(window))) = window {
                    memory.lock().bind(window, 0, None);
                    end.sink.recv_special(done, Special::Invalidated(key));
                } else {
                    end.sink.recv_done(done);
                }
                Outcome::Done
            }
            Err(Unregistered::Source) => Outcome::Failed(Some(Status::LocalProtection), None),
            Err(Unregistered::Target) => {
                Outcome::Failed(Some(Status::RemoteResponder), Some(done(Status::LocalProtection, 0)))
            }
        }
    }

    /// Writes, and then completes the peer's next receive with a value. Before there is one, nothing is written.
    fn write_immediate(
        &mut self,
        memory: &Mutex<Table>,
        peer: u64,
        transfer: &Transfer,
        to: &RemoteSegment,
        value: u32,
        solicited: bool,
    ) -> Outcome {
        let Some(receive) = self.take_receive(peer) else { return Outcome::Wait };
        let outcome = self.rdma(memory, peer, transfer, to, Rights::REMOTE_WRITE);
        let Some(end) = self.ends.get(&peer) else { return Outcome::Wait };
        if !matches!(outcome, Outcome::Done) {
            self.put_back(peer, receive);
            return outcome;
        }
        if end.srq.is_some() && end.sink.recv_taken(receive.id) == Verdict::Break {
            return Outcome::Failed(None, None);
        }
        let done = RecvDone { id: receive.id, status: Status::Success, len: transfer.len, solicited };
        end.sink.recv_special(done, Special::Immediate(value));
        Outcome::Done
    }

    /// Changes eight bytes of the peer's memory; what they were goes into the segment of the request.
    fn change(
        &mut self,
        memory: &Mutex<Table>,
        peer: u64,
        transfer: &Transfer,
        target: &RemoteSegment,
        change: Change,
    ) -> Outcome {
        let Some(zone) = self.ends.get(&peer).map(|end| end.zone) else { return Outcome::Wait };
        let memory = memory.lock();
        let Some(piece) = memory.open_to(target, peer, zone, Rights::REMOTE_ATOMIC) else {
            return Outcome::Failed(Some(Status::RemoteAccess), None);
        };
        if !piece.addr.is_multiple_of(align_of::<AtomicU64>() as u64) {
            return Outcome::Failed(Some(Status::RemoteResponder), None);
        }
        match transfer.segments.first().map(|to| memory.change(&piece, change, to)) {
            Some(Ok(())) => Outcome::Done,
            _ => Outcome::Failed(Some(Status::LocalProtection), None),
        }
    }

    /// Whether the peers of an end may read its memory.
    fn serves_reads(&self, number: u64) -> bool {
        self.ends.get(&number).is_some_and(|end| end.serves_reads)
    }

    /// The next receive of an end. If there is none in its shared queue, it joins the line.
    fn take_receive(&mut self, number: u64) -> Option<Receive> {
        let end = self.ends.get_mut(&number)?;
        let Some(srq) = end.srq else { return end.recvs.pop_front() };
        let srq = self.srqs.get_mut(&srq)?;
        let receive = srq.recvs.pop_front();
        if receive.is_none() && !std::mem::replace(&mut end.starved, true) {
            srq.starved.push_back(number);
        }
        receive
    }

    /// Puts a receive back that was taken for nothing.
    fn put_back(&mut self, number: u64, receive: Receive) {
        let Some(end) = self.ends.get_mut(&number) else { return };
        match end.srq.and_then(|srq| self.srqs.get_mut(&srq)) {
            Some(srq) => srq.recvs.push_front(receive),
            None => end.recvs.push_front(receive),
        }
    }

    /// Writes to the peer's memory, or reads it.
    fn rdma(
        &mut self,
        memory: &Mutex<Table>,
        peer: u64,
        transfer: &Transfer,
        remote: &RemoteSegment,
        right: Rights,
    ) -> Outcome {
        // Nothing to move is nothing wrong, wherever it should have gone.
        if transfer.len == 0 {
            return Outcome::Done;
        }
        let Some(zone) = self.ends.get(&peer).map(|end| end.zone) else { return Outcome::Wait };
        let memory = memory.lock();
        // Of a longer target only the beginning is written.
        let touched = RemoteSegment { len: transfer.len, ..*remote };
        let Some(piece) = memory.open_to(&touched, peer, zone, right) else {
            return Outcome::Failed(Some(Status::RemoteAccess), None);
        };
        let there: &[Segment] = &[piece];
        let here: &[Segment] = &transfer.segments;
        let (from, to) = if right == Rights::REMOTE_READ { (there, here) } else { (here, there) };
        match memory.copy(from, to, transfer.len) {
            Ok(()) => Outcome::Done,
            Err(_) => Outcome::Failed(Some(Status::LocalProtection), None),
        }
    }

    fn report_done(&mut self, number: u64, id: RequestId) {
        let Some(end) = self.ends.get(&number) else { return };
        if end.sink.requests_done(Mark(id)) {
            self.reports.push_back((number, Report::Drained(end.sink.clone())));
        }
    }

    /// The connection of an end fails.
    fn fail(&mut self, number: u64, request: Option<(RequestId, Status)>, recv: Option<RecvDone>) {
        let Some(end) = self.remove(number) else { return };
        let peer = end.peer;
        let request = request.map(|(id, status)| (FailedRequest::Number(id), status));
        self.reports.push_back((number, Report::Failed(end.sink, None, request)));
        if let Some((peer, other)) = peer.and_then(|peer| Some((peer, self.remove(peer)?))) {
            self.reports.push_back((peer, Report::Failed(other.sink, recv, None)));
        }
    }

    /// Lets go of an end and all of its work.
    pub fn remove(&mut self, number: u64) -> Option<End> {
        let end = self.ends.remove(&number)?;
        if let Some(srq) = end.srq.and_then(|srq| self.srqs.get_mut(&srq)) {
            srq.starved.retain(|&other| other != number);
        }
        Some(end)
    }
}
