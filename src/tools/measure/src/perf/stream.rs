//! Tests of bandwidth: many outstanding transfers.
//!
//! A sender counts credits, one for each receive buffer that the peer has posted. Each empty message of the receiver
//! returns a quarter of the credits. The target of RDMA makes no transfers, unless --both is set. An empty message also
//! ends each turn of sends in one direction, of RDMA in both directions, and of RDMA by the server. So the measured
//! time includes the arrival of all transfers.

use std::ops::Range;

use anyhow::ensure;
use dat::Completion;

use super::clock::Steps;
use super::plan::{Plan, Test, Transfer};
use super::worker::{CREDIT_BUFFERS, Worker, posted_for, slot};

#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    number: u64,
    /// Credits of the sender, or unreturned credits of the receiver.
    credits: usize,
}

/// A thread's part in the transfers.
pub enum Part {
    /// Sends and receives.
    Messages(Messages),
    /// RDMA: the number of the next transfer on each connection.
    Rdma(Vec<u64>),
}

impl Part {
    /// Returns the part of a thread before its first transfer.
    pub fn of(worker: &Worker) -> Self {
        let active = worker.plan.active as usize;
        if worker.plan.test.transfer() != Transfer::Send {
            return Part::Rdma(vec![0; active]);
        }
        let credits = worker.depth.saturating_sub(CREDIT_BUFFERS).max(1);
        let lanes = |credits| vec![Lane { number: 0, credits }; active];
        let (sent, received) = (lanes(credits), lanes(0));
        Part::Messages(Messages { sent, received, credits, quarter: (credits / 4).max(1), ahead: 0 })
    }

    /// With --reverse, starts the measured transfers: the client sends an empty message, and the server waits for it.
    pub fn start(&mut self, worker: &mut Worker) -> anyhow::Result<()> {
        match self {
            _ if !worker.initiator => worker.post_send(0, 0, 0),
            Part::Messages(messages) => messages.await_empty(worker),
            Part::Rdma(_) => await_empty(worker),
        }
    }

    /// Performs the transfers with these numbers, and adds a step for each.
    pub fn run(&mut self, worker: &mut Worker, numbers: Range<u64>, steps: &mut Steps) -> anyhow::Result<()> {
        match self {
            Part::Messages(messages) => messages.exchange(worker, numbers, steps),
            Part::Rdma(next) => {
                let Plan { both, reverse, .. } = worker.plan;
                let (initiator, transfers) = (worker.initiator, numbers.end - numbers.start);
                if initiator || both {
                    rdma_all(worker, next, numbers, steps)?;
                }
                if both || (reverse && initiator) {
                    worker.post_send(0, 0, 0)?;
                }
                if both || (reverse && !initiator) {
                    // The peer sends its message after its transfers.
                    await_empty(worker)?;
                }
                if reverse && !initiator {
                    steps.step_by(transfers);
                }
                worker.reap_all()
            }
        }
    }
}

// ---- Sends ----

/// The state of a thread that sends, receives, or both.
pub struct Messages {
    sent: Vec<Lane>,
    received: Vec<Lane>,
    /// All credits of a lane; an empty message returns a quarter of them.
    credits: usize,
    quarter: usize,
    /// Received messages that [`exchange`](Self::exchange) has not counted yet. They may belong to the next turn.
    ahead: u64,
}

impl Messages {
    /// Sends the messages with these numbers, receives that many messages, or both.
    fn exchange(&mut self, worker: &mut Worker, messages: Range<u64>, steps: &mut Steps) -> anyhow::Result<()> {
        let (initiator, both, wanted) = (worker.initiator, worker.plan.both, messages.end - messages.start);
        if initiator || both {
            self.send(worker, messages, steps)?;
        }
        if !initiator || both {
            for _ in 0..wanted {
                while self.ahead == 0 {
                    self.take_next(worker)?;
                }
                self.ahead -= 1;
                if !both {
                    steps.step();
                }
            }
        }
        if initiator && !both {
            self.await_empty(worker)?;
        } else if !both {
            worker.post_send(0, 0, 0)?;
        }
        worker.reap_all()
    }

    fn send(&mut self, worker: &mut Worker, messages: Range<u64>, steps: &mut Steps) -> anyhow::Result<()> {
        let mut connection = worker.connection_at(messages.start);
        for _ in messages {
            // With a shared receive queue, one lane has the credits of all connections.
            let account = if worker.shared.is_some() { 0 } else { connection };
            while worker.outstanding >= worker.plan.outstanding as usize {
                worker.reap()?;
            }
            // Take returned credits before they are needed, so that the sender rarely waits.
            if worker.plan.both || self.sent[account].credits < self.credits / 2 {
                while let Some(message) = worker.try_receive()? {
                    self.take(worker, &message)?;
                }
            }
            while self.sent[account].credits == 0 {
                self.take_next(worker)?;
            }
            let (size, number) = (worker.plan.size as usize, self.sent[connection].number);
            let slot = if worker.plan.verify { slot_of(&worker.plan, connection, number) } else { 0 };
            if worker.plan.verify {
                worker.out.fill(slot, size, connection, number);
            }
            worker.post_send(connection, size, slot)?;
            self.sent[account].credits -= 1;
            self.sent[connection].number += 1;
            connection = worker.next(connection);
            steps.step();
        }
        Ok(())
    }

    /// Waits for the empty message that starts or ends a turn: only this message raises the credits above the maximum.
    fn await_empty(&mut self, worker: &mut Worker) -> anyhow::Result<()> {
        while self.sent[0].credits <= self.credits {
            self.take_next(worker)?;
        }
        self.sent[0].credits -= self.quarter;
        Ok(())
    }

    fn take_next(&mut self, worker: &mut Worker) -> anyhow::Result<()> {
        let message = worker.receive()?;
        self.take(worker, &message)
    }

    /// Takes a message of the peer, or the credits that an empty message returns.
    fn take(&mut self, worker: &mut Worker, message: &Completion) -> anyhow::Result<()> {
        let (lane, slot, active) = (posted_for(message), slot(message), self.sent.len());
        ensure!(lane < active, "connection {lane}: the peer sent a message on a connection without traffic");
        if message.length == 0 {
            self.sent[lane].credits += self.quarter;
            return worker.post_recv(lane, slot);
        }
        let size = worker.plan.size;
        ensure!(message.length == size, "a message has {} bytes instead of {size}", message.length);
        if worker.plan.verify {
            let from = worker.connection_of(message.ep)?;
            ensure!(from < active, "connection {from}: the peer sent a message on a connection without traffic");
            worker.into.check(slot, size as usize, from, self.received[from].number)?;
            self.received[from].number += 1;
        }
        worker.post_recv(lane, slot)?;
        self.ahead += 1;
        let credits = &mut self.received[lane].credits;
        *credits += 1;
        if *credits == self.quarter {
            *credits = 0;
            while worker.outstanding > worker.plan.outstanding as usize {
                worker.reap()?;
            }
            worker.post_send(lane, 0, 0)?;
        }
        Ok(())
    }
}

// ---- RDMA ----

/// Waits for the peer's empty message.
fn await_empty(worker: &mut Worker) -> anyhow::Result<()> {
    let slot = slot(&worker.receive()?);
    worker.post_recv(0, slot)
}

fn rdma_all(worker: &mut Worker, next: &mut [u64], transfers: Range<u64>, steps: &mut Steps) -> anyhow::Result<()> {
    let (size, verify) = (worker.plan.size as usize, worker.plan.verify);
    let read = worker.plan.test.transfer() == Transfer::Read;
    let window = worker.window() as usize;
    let mut connection = worker.connection_at(transfers.start);
    for _ in transfers {
        while worker.outstanding >= window {
            reap_rdma(worker, read && verify)?;
        }
        let number = next[connection];
        let slot = if verify { slot_of(&worker.plan, connection, number) } else { 0 };
        if read {
            if verify {
                worker.out.clear(slot, size);
            }
            worker.post_read(connection, size, slot)?;
        } else {
            if verify {
                worker.out.fill(slot, size, connection, number);
            }
            worker.post_write(connection, size, slot)?;
        }
        next[connection] += 1;
        connection = worker.next(connection);
        steps.step();
    }
    while worker.outstanding > 0 {
        reap_rdma(worker, read && verify)?;
    }
    Ok(())
}

/// Reaps one completion of an RDMA operation. With `check`, compares the bytes of the read.
#[inline(always)]
fn reap_rdma(worker: &mut Worker, check: bool) -> anyhow::Result<()> {
    let slot = worker.reap()?;
    if check {
        let Plan { size, outstanding, .. } = worker.plan;
        worker.out.check(slot, size as usize, slot / outstanding as usize, slot as u64)?;
    }
    Ok(())
}

/// With --verify, writes the bytes that the peer reads.
pub(crate) fn fill_readable(worker: &Worker) {
    let Plan { test, size, outstanding, active, verify, .. } = worker.plan;
    if verify && test.transfer() == Transfer::Read {
        // Reads of a latency test share one buffer.
        let slots = if test.is_latency() { 1 } else { outstanding as usize * active as usize };
        for slot in 0..slots {
            worker.into.fill(slot, size as usize, slot / outstanding as usize, slot as u64);
        }
    }
}

/// With --verify in write_bw, compares the bytes that the peer wrote in `transfers` transfers: in each buffer, the
/// bytes of the last transfer.
pub fn check_written(worker: &Worker, transfers: u64) -> anyhow::Result<()> {
    let plan = worker.plan;
    if plan.verify && plan.test == Test::WriteBw && (plan.both || !worker.initiator) {
        for Used { connection, slot, last } in used(&plan, transfers) {
            worker.into.check(slot, plan.size as usize, connection, last)?;
        }
    }
    Ok(())
}

/// With --verify, returns the buffer for the transfer `number` of a connection.
fn slot_of(plan: &Plan, connection: usize, number: u64) -> usize {
    connection * plan.outstanding as usize + (number % u64::from(plan.outstanding)) as usize
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Used {
    connection: usize,
    slot: usize,
    /// Number of the connection's last transfer in the buffer.
    last: u64,
}

fn used(plan: &Plan, transfers: u64) -> impl Iterator<Item = Used> + use<> {
    let plan = *plan;
    (0..plan.active as usize).flat_map(move |connection| {
        let all = transfers.saturating_sub(connection as u64).div_ceil(u64::from(plan.active));
        let first = all.saturating_sub(u64::from(plan.outstanding));
        (first..all).map(move |last| Used { connection, slot: slot_of(&plan, connection, last), last })
    })
}

#[cfg(test)]
mod tests;
