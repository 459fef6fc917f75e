//! Tests of bandwidth: many outstanding transfers.
//!
//! A message needs a buffer at the receiver. The sender counts credits, one for each posted buffer, and the receiver returns a
//! quarter of its credits in each message. The target of RDMA makes no transfers. With --both each thread does both parts:
//! then messages without bytes return the credits of sends, because every buffer may receive a transfer; and after RDMA the
//! sides exchange such a message, so that the measured time is that of both.

use std::ops::Range;

use anyhow::bail;
use dat::Completion;

use super::clock::Steps;
use super::plan::{Plan, Test, Transfer};
use super::worker::{CREDIT_BUFFERS, Worker, posted_for, slot};

/// Bytes of a message with credits: their number, and a flag that all messages have been received.
const CREDITS: usize = 16;

/// The state of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// Messages that were sent or received.
    number: u64,
    /// Credits of the sender, or those that the receiver has not returned yet.
    credits: usize,
}

/// The part of a thread in a test.
pub enum Part {
    Sender(Lanes),
    Receiver(Lanes),
    /// Sends and receives of both sides.
    Exchange(Exchange),
    Rdma(Lanes),
    /// RDMA of both sides.
    RdmaBoth(Lanes),
}

/// The state of each connection.
pub struct Lanes(Vec<Lane>);

impl Part {
    /// Returns the part of a thread that makes transfers.
    pub fn of(worker: &Worker) -> Self {
        let lanes = |credits| Lanes(vec![Lane { number: 0, credits }; worker.plan.active as usize]);
        match (worker.plan.test.transfer(), worker.plan.both) {
            (Transfer::Send, true) => {
                let credits = worker.depth - CREDIT_BUFFERS;
                let (sent, received) = (lanes(credits), lanes(0));
                Part::Exchange(Exchange { sent, received, quarter: (credits / 4).max(1), ahead: 0 })
            }
            (Transfer::Send, false) if worker.client => Part::Sender(lanes(worker.depth)),
            (Transfer::Send, false) => Part::Receiver(lanes(0)),
            (_, true) => Part::RdmaBoth(lanes(0)),
            (_, false) => Part::Rdma(lanes(0)),
        }
    }

    /// Makes the transfers with these numbers.
    pub fn run(&mut self, worker: &mut Worker, numbers: Range<u64>, steps: &mut Steps) -> anyhow::Result<()> {
        match self {
            Part::Sender(lanes) => send_all(worker, &mut lanes.0, numbers, steps),
            Part::Receiver(lanes) => receive_all(worker, &mut lanes.0, numbers),
            Part::Exchange(exchange) => exchange.all(worker, numbers, steps),
            Part::Rdma(lanes) => rdma_all(worker, &mut lanes.0, numbers, steps),
            Part::RdmaBoth(lanes) => {
                rdma_all(worker, &mut lanes.0, numbers, steps)?;
                // The other side has completed its transfers, too, when its message arrives.
                worker.post_send(0, 0, 0)?;
                let slot = slot(&worker.receive()?);
                worker.post_recv(0, slot)?;
                worker.reap_all()
            }
        }
    }
}

// ---- Sends ----

fn send_all(worker: &mut Worker, lanes: &mut [Lane], messages: Range<u64>, steps: &mut Steps) -> anyhow::Result<()> {
    let (mut connection, mut done) = (worker.connection_at(messages.start), false);
    for _ in messages {
        let account = account(worker, connection);
        while worker.outstanding >= worker.plan.outstanding as usize {
            worker.reap()?;
        }
        // Take credits before they are needed.
        if lanes[account].credits < worker.depth / 2 {
            while let Some(message) = worker.try_receive()? {
                done |= take_credits(worker, lanes, &message)?;
            }
        }
        while lanes[account].credits == 0 {
            let message = worker.receive()?;
            done |= take_credits(worker, lanes, &message)?;
        }
        post_next(worker, lanes, account, connection)?;
        connection = worker.next(connection);
        steps.step();
    }
    worker.reap_all()?;
    while !done {
        let message = worker.receive()?;
        done |= take_credits(worker, lanes, &message)?;
    }
    Ok(())
}

/// Returns the lane that has the credits of a connection: with a shared receive queue, one lane has those of all.
#[inline(always)]
fn account(worker: &Worker, connection: usize) -> usize {
    if worker.shared.is_some() { 0 } else { connection }
}

/// Sends the next message of a connection.
#[inline(always)]
fn post_next(worker: &mut Worker, lanes: &mut [Lane], account: usize, connection: usize) -> anyhow::Result<()> {
    let (size, number) = (worker.plan.size as usize, lanes[connection].number);
    let slot = if worker.plan.verify { slot_of(&worker.plan, connection, number) } else { 0 };
    if worker.plan.verify {
        worker.out.fill(slot, size, connection, number);
    }
    worker.post_send(connection, size, slot)?;
    lanes[account].credits -= 1;
    lanes[connection].number += 1;
    Ok(())
}

/// Takes the credits in a message, and returns whether the receiver has received all messages.
fn take_credits(worker: &Worker, lanes: &mut [Lane], message: &Completion) -> anyhow::Result<bool> {
    let bytes = worker.into.read::<CREDITS>(slot(message));
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[8 * at + i]));
    lanes[posted_for(message)].credits += usize::try_from(word(0)).unwrap_or(0).min(worker.depth);
    worker.post_recv(posted_for(message), slot(message))?;
    Ok(word(1) != 0)
}

fn receive_all(worker: &mut Worker, lanes: &mut [Lane], messages: Range<u64>) -> anyhow::Result<()> {
    let quarter = (worker.depth / 4).max(1);
    for number in messages.clone() {
        let message = worker.receive()?;
        let lane = posted_for(&message);
        check_message(worker, lanes, &message)?;
        worker.post_recv(lane, slot(&message))?;
        lanes[lane].credits += 1;
        if lanes[lane].credits >= quarter && number + 1 < messages.end {
            give_credits(worker, &mut lanes[lane], lane, false)?;
        }
    }
    give_credits(worker, &mut lanes[0], 0, true)?;
    worker.reap_all()
}

/// Checks the length of a message, and with --verify its bytes.
#[inline(always)]
fn check_message(worker: &Worker, lanes: &mut [Lane], message: &Completion) -> anyhow::Result<()> {
    let size = worker.plan.size;
    if message.length != size {
        bail!("a message has {} bytes instead of {size}", message.length);
    }
    if worker.plan.verify {
        let from = worker.connection_of(message.ep)?;
        worker.into.check(slot(message), size as usize, from, lanes[from].number)?;
        lanes[from].number += 1;
    }
    Ok(())
}

fn give_credits(worker: &mut Worker, lane: &mut Lane, connection: usize, all: bool) -> anyhow::Result<()> {
    // All credits use one buffer, so reap its last send.
    worker.reap_all()?;
    worker.out.write(0, 0, &(lane.credits as u64).to_le_bytes());
    worker.out.write(0, 8, &u64::from(all).to_le_bytes());
    lane.credits = 0;
    worker.post_send(connection, CREDITS, 0)
}

// ---- Sends of both sides ----

/// The state of a thread that sends and receives.
pub struct Exchange {
    sent: Lanes,
    received: Lanes,
    /// Credits that a message without bytes returns.
    quarter: usize,
    /// Messages that were received before the turn that waits for them.
    ahead: u64,
}

impl Exchange {
    /// Sends these messages, and receives as many.
    fn all(&mut self, worker: &mut Worker, messages: Range<u64>, steps: &mut Steps) -> anyhow::Result<()> {
        let mut connection = worker.connection_at(messages.start);
        let wanted = messages.end - messages.start;
        for _ in messages {
            let account = account(worker, connection);
            while worker.outstanding >= worker.plan.outstanding as usize {
                worker.reap()?;
            }
            while let Some(message) = worker.try_receive()? {
                self.take(worker, &message)?;
            }
            while self.sent.0[account].credits == 0 {
                let message = worker.receive()?;
                self.take(worker, &message)?;
            }
            post_next(worker, &mut self.sent.0, account, connection)?;
            connection = worker.next(connection);
            steps.step();
        }
        while self.ahead < wanted {
            let message = worker.receive()?;
            self.take(worker, &message)?;
        }
        self.ahead -= wanted;
        worker.reap_all()
    }

    /// Takes a message of the peer, or the credits that a message without bytes returns.
    fn take(&mut self, worker: &mut Worker, message: &Completion) -> anyhow::Result<()> {
        let (lane, slot) = (posted_for(message), slot(message));
        if message.length == 0 {
            self.sent.0[lane].credits += self.quarter;
            return worker.post_recv(lane, slot);
        }
        check_message(worker, &mut self.received.0, message)?;
        worker.post_recv(lane, slot)?;
        self.ahead += 1;
        let credits = &mut self.received.0[lane].credits;
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

fn rdma_all(worker: &mut Worker, lanes: &mut [Lane], transfers: Range<u64>, steps: &mut Steps) -> anyhow::Result<()> {
    let (size, verify) = (worker.plan.size as usize, worker.plan.verify);
    let read = worker.plan.test.transfer() == Transfer::Read;
    let window = worker.window() as usize;
    let mut connection = worker.connection_at(transfers.start);
    for _ in transfers {
        while worker.outstanding >= window {
            reap_rdma(worker, read && verify)?;
        }
        let number = lanes[connection].number;
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
        lanes[connection].number += 1;
        connection = worker.next(connection);
        steps.step();
    }
    while worker.outstanding > 0 {
        reap_rdma(worker, read && verify)?;
    }
    Ok(())
}

/// Reaps one completion. With `check` it is that of a read, whose bytes are compared.
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
pub fn fill_readable(worker: &Worker) {
    let Plan { test, size, outstanding, active, verify, .. } = worker.plan;
    if verify && test.transfer() == Transfer::Read {
        // Reads of a latency test share one buffer.
        let slots = if test.is_latency() { 1 } else { outstanding as usize * active as usize };
        for slot in 0..slots {
            worker.into.fill(slot, size as usize, slot / outstanding as usize, slot as u64);
        }
    }
}

/// With --verify, compares the bytes that the peer wrote last.
///
/// # Parameters
/// * `transfers` - number of transfers of the peer's thread.
pub fn check_written(worker: &Worker, transfers: u64) -> anyhow::Result<()> {
    let plan = worker.plan;
    if plan.verify && plan.test == Test::WriteBw && (plan.both || !worker.client) {
        for Used { connection, slot, last } in used(&plan, transfers) {
            worker.into.check(slot, plan.size as usize, connection, last)?;
        }
    }
    Ok(())
}

/// With --verify: returns the buffer of a transfer by its number on a connection.
fn slot_of(plan: &Plan, connection: usize, number: u64) -> usize {
    connection * plan.outstanding as usize + (number % u64::from(plan.outstanding)) as usize
}

/// A buffer at the end of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Used {
    connection: usize,
    slot: usize,
    /// The number of the last transfer of the connection in the buffer.
    last: u64,
}

/// Returns the buffers that a thread has used in `transfers`.
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
