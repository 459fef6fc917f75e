//! Many transfers one way, some of them under way at a time.
//!
//! A message needs a buffer at the receiver. The sender counts credits, one for each posted buffer; the receiver returns them
//! by a message for each quarter of its buffers. RDMA goes to a process that makes no transfers meanwhile. Where both sides
//! make transfers, each thread does both parts: of sends, credits come back by messages without bytes, since every buffer may
//! be about to receive a transfer; after RDMA the sides exchange such a message, so that the time is that of both.

use std::ops::Range;

use anyhow::bail;

use super::clock::{Measured, Steps};
use super::gate::Pace;
use super::plan::{Plan, Transfer};
use super::worker::{CREDIT_BUFFERS, Done, Worker};
use crate::dat::RawEvent;

/// Bytes of a message from the receiver: credits, and whether it has received all.
const CREDITS: usize = 16;
/// What the target of RDMA looks or polls before it checks whether the peer has ended.
const LOOKS: usize = 10_000;
/// The same where another thread needs the processor.
const CROWDED_LOOKS: usize = 100;

/// What one side knows of each connection.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// Messages sent, or received.
    number: u64,
    /// The sender's credits; or those that the receiver did not yet return.
    credits: usize,
}

/// Runs the measurement of one thread; there is a result in the process that measures.
pub fn run(worker: &mut Worker, pace: &mut Pace<'_>) -> anyhow::Result<Option<Measured>> {
    match (worker.plan.test.transfer(), worker.client) {
        (Transfer::Send, _) if worker.plan.both => exchange(worker, pace).map(Some),
        _ if worker.plan.both => rdma_both(worker, pace).map(Some),
        (Transfer::Send, true) => send(worker, pace).map(Some),
        (Transfer::Send, false) => receive(worker, pace).map(|()| None),
        (_, true) => rdma(worker, pace).map(Some),
        (_, false) => be_target(worker, pace).map(|()| None),
    }
}

// ---- Sends ----

fn send(worker: &mut Worker, pace: &mut Pace<'_>) -> anyhow::Result<Measured> {
    let plan = worker.plan;
    let mut lanes = vec![Lane { number: 0, credits: worker.depth }; plan.active as usize];
    pace.measure(|numbers, steps| send_all(worker, &mut lanes, numbers, steps))
}

fn send_all(worker: &mut Worker, lanes: &mut [Lane], messages: Range<u64>, steps: &mut Steps) -> anyhow::Result<()> {
    let (size, outstanding) = (worker.plan.size as usize, worker.plan.outstanding as usize);
    let (verify, shared) = (worker.plan.verify, worker.shared.is_some());
    let (mut connection, mut done, mut place) = (worker.connection_at(messages.start), false, RawEvent::uninit());
    for _ in messages {
        // Of a shared receive queue, all connections have the credits together.
        let purse = if shared { 0 } else { connection };
        while worker.under_way >= outstanding {
            worker.reap()?;
        }
        // Those that are there, before they are needed.
        if lanes[purse].credits < worker.depth / 2 {
            while let Some(message) = worker.try_fetch(&worker.evds.recv, &mut place)? {
                done |= take_credits(worker, lanes, message)?;
            }
        }
        while lanes[purse].credits == 0 {
            let message = worker.receive(&mut place)?;
            done |= take_credits(worker, lanes, message)?;
        }
        let slot = if verify { slot_of(&worker.plan, connection, lanes[connection].number) } else { 0 };
        if verify {
            worker.out.stamp(slot, size, connection, lanes[connection].number);
        }
        worker.post_send(connection, size, slot)?;
        lanes[purse].credits -= 1;
        lanes[connection].number += 1;
        connection = worker.next(connection);
        steps.step();
    }
    worker.reap_all()?;
    while !done {
        let message = worker.receive(&mut place)?;
        done |= take_credits(worker, lanes, message)?;
    }
    Ok(())
}

/// Takes credits that the receiver has sent, and says whether it has received all.
fn take_credits(worker: &Worker, lanes: &mut [Lane], message: Done<'_>) -> anyhow::Result<bool> {
    let bytes = worker.into.read(message.slot(), CREDITS);
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[8 * at + i]));
    lanes[message.posted_for()].credits += usize::try_from(word(0)).unwrap_or(0).min(worker.depth);
    worker.post_recv(message.posted_for(), message.slot())?;
    Ok(word(1) != 0)
}

fn receive(worker: &mut Worker, pace: &mut Pace<'_>) -> anyhow::Result<()> {
    let plan = worker.plan;
    let mut lanes = vec![Lane::default(); plan.active as usize];
    pace.measure(|numbers, _| receive_all(worker, &mut lanes, numbers)).map(drop)
}

fn receive_all(worker: &mut Worker, lanes: &mut [Lane], messages: Range<u64>) -> anyhow::Result<()> {
    let size = worker.plan.size;
    let mut place = RawEvent::uninit();
    let quarter = (worker.depth / 4).max(1);
    for number in messages.clone() {
        let message = worker.receive(&mut place)?;
        let lane = message.posted_for();
        if message.length() != size {
            bail!("a message of {} bytes instead of {size}", message.length());
        }
        if worker.plan.verify {
            let from = worker.connection_of(message.ep())?;
            worker.into.check(message.slot(), size as usize, from, lanes[from].number)?;
            lanes[from].number += 1;
        }
        worker.post_recv(lane, message.slot())?;
        lanes[lane].credits += 1;
        if lanes[lane].credits >= quarter && number + 1 < messages.end {
            give_credits(worker, &mut lanes[lane], lane, false)?;
        }
    }
    give_credits(worker, &mut lanes[0], 0, true)?;
    worker.reap_all()
}

fn give_credits(worker: &mut Worker, lane: &mut Lane, connection: usize, all: bool) -> anyhow::Result<()> {
    // One buffer for them: the one before has been reaped.
    worker.reap_all()?;
    worker.out.write(0, 0, &(lane.credits as u64).to_le_bytes());
    worker.out.write(0, 8, &u64::from(all).to_le_bytes());
    lane.credits = 0;
    worker.post_send(connection, CREDITS, 0)
}

// ---- Sends of both sides ----

/// What a thread knows that sends and receives at the same time.
struct Exchange {
    sent: Vec<Lane>,
    received: Vec<Lane>,
    /// Messages that a message without bytes gives back.
    quarter: usize,
    /// Messages that have come and were not yet waited for.
    ahead: u64,
}

fn exchange(worker: &mut Worker, pace: &mut Pace<'_>) -> anyhow::Result<Measured> {
    let lanes = vec![Lane::default(); worker.plan.active as usize];
    let credits = worker.depth - CREDIT_BUFFERS;
    let sent = vec![Lane { number: 0, credits }; lanes.len()];
    let mut both = Exchange { sent, received: lanes, quarter: (credits / 4).max(1), ahead: 0 };
    pace.measure(|numbers, steps| both.all(worker, numbers, steps))
}

impl Exchange {
    /// Sends these messages, and receives as many.
    fn all(&mut self, worker: &mut Worker, messages: Range<u64>, steps: &mut Steps) -> anyhow::Result<()> {
        let (size, outstanding) = (worker.plan.size as usize, worker.plan.outstanding as usize);
        let (verify, shared) = (worker.plan.verify, worker.shared.is_some());
        let (mut connection, mut place) = (worker.connection_at(messages.start), RawEvent::uninit());
        let wanted = messages.end - messages.start;
        for _ in messages {
            let purse = if shared { 0 } else { connection };
            while worker.under_way >= outstanding {
                worker.reap()?;
            }
            while let Some(message) = worker.try_fetch(&worker.evds.recv, &mut place)? {
                self.take(worker, message)?;
            }
            while self.sent[purse].credits == 0 {
                let message = worker.receive(&mut place)?;
                self.take(worker, message)?;
            }
            let number = self.sent[connection].number;
            let slot = if verify { slot_of(&worker.plan, connection, number) } else { 0 };
            if verify {
                worker.out.stamp(slot, size, connection, number);
            }
            worker.post_send(connection, size, slot)?;
            self.sent[purse].credits -= 1;
            self.sent[connection].number += 1;
            connection = worker.next(connection);
            steps.step();
        }
        while self.ahead < wanted {
            let message = worker.receive(&mut place)?;
            self.take(worker, message)?;
        }
        self.ahead -= wanted;
        worker.reap_all()
    }

    /// Takes a message of the peer, or the credits that it has given back.
    fn take(&mut self, worker: &mut Worker, message: Done<'_>) -> anyhow::Result<()> {
        let (lane, slot, length) = (message.posted_for(), message.slot(), message.length());
        if length == 0 {
            self.sent[lane].credits += self.quarter;
            return worker.post_recv(lane, slot);
        }
        if length != worker.plan.size {
            bail!("a message of {length} bytes instead of {}", worker.plan.size);
        }
        if worker.plan.verify {
            let from = worker.connection_of(message.ep())?;
            worker.into.check(slot, length as usize, from, self.received[from].number)?;
            self.received[from].number += 1;
        }
        worker.post_recv(lane, slot)?;
        self.ahead += 1;
        self.received[lane].credits += 1;
        if self.received[lane].credits == self.quarter {
            self.received[lane].credits = 0;
            while worker.under_way > worker.plan.outstanding as usize {
                worker.reap()?;
            }
            worker.post_send(lane, 0, 0)?;
        }
        Ok(())
    }
}

// ---- RDMA ----

fn rdma(worker: &mut Worker, pace: &mut Pace<'_>) -> anyhow::Result<Measured> {
    let plan = worker.plan;
    let mut lanes = vec![Lane::default(); plan.active as usize];
    pace.measure(|numbers, steps| rdma_all(worker, &mut lanes, numbers, steps))
}

fn rdma_all(worker: &mut Worker, lanes: &mut [Lane], transfers: Range<u64>, steps: &mut Steps) -> anyhow::Result<()> {
    let (size, verify) = (worker.plan.size as usize, worker.plan.verify);
    let read = worker.plan.test.transfer() == Transfer::Read;
    let window = worker.window() as usize;
    let mut connection = worker.connection_at(transfers.start);
    for _ in transfers {
        while worker.under_way >= window {
            reap_rdma(worker, read && verify)?;
        }
        let slot = if verify { slot_of(&worker.plan, connection, lanes[connection].number) } else { 0 };
        if read {
            if verify {
                worker.out.clear(slot, size);
            }
            worker.post_read(connection, size, slot)?;
        } else {
            if verify {
                worker.out.stamp(slot, size, connection, lanes[connection].number);
            }
            worker.post_write(connection, size, slot)?;
        }
        lanes[connection].number += 1;
        connection = worker.next(connection);
        steps.step();
    }
    while worker.under_way > 0 {
        reap_rdma(worker, read && verify)?;
    }
    Ok(())
}

/// Both sides make the transfers.
fn rdma_both(worker: &mut Worker, pace: &mut Pace<'_>) -> anyhow::Result<Measured> {
    stamp_readable(worker);
    let mut lanes = vec![Lane::default(); worker.plan.active as usize];
    let measured = pace.measure(|numbers, steps| {
        rdma_all(worker, &mut lanes, numbers, steps)?;
        // The other side has ended as well when its message is here.
        worker.post_send(0, 0, 0)?;
        let mut place = RawEvent::uninit();
        let slot = worker.receive(&mut place)?.slot();
        worker.post_recv(0, slot)?;
        worker.reap_all()
    })?;
    check_written(worker, pace)?;
    Ok(measured)
}

/// Reaps one completion; that of a read means that the bytes to compare are there.
#[inline(always)]
fn reap_rdma(worker: &mut Worker, check: bool) -> anyhow::Result<()> {
    let slot = worker.reap_slot()?;
    if check {
        let Plan { size, outstanding, .. } = worker.plan;
        worker.out.check(slot, size as usize, slot / outstanding as usize, slot as u64)?;
    }
    Ok(())
}

/// Does what a target does meanwhile, which makes no transfers: looks at its memory, polls, or sleeps.
pub fn stand(worker: &Worker, pace: &mut Pace<'_>) -> anyhow::Result<()> {
    let Plan { size, wait, target_polls, crowded, .. } = worker.plan;
    let looks = if crowded { CROWDED_LOOKS } else { LOOKS };
    let rest = || {
        if crowded {
            rustix::thread::sched_yield();
        }
    };
    let look = || {
        for _ in 0..looks {
            let _ = worker.into.load(size as usize - 1);
        }
        rest();
    };
    let poll = || {
        let mut place = RawEvent::uninit();
        for _ in 0..looks {
            // Nothing comes; a broken connection is found otherwise.
            let _ = worker.try_fetch(&worker.evds.recv, &mut place);
        }
        rest();
    };
    match (wait, target_polls) {
        (true, _) => pace.stand(None),
        (false, true) => pace.stand(Some(&poll)),
        (false, false) => pace.stand(Some(&look)),
    }
}

/// The target's part of a measurement.
fn be_target(worker: &mut Worker, pace: &mut Pace<'_>) -> anyhow::Result<()> {
    stamp_readable(worker);
    pace.meet()?;
    stand(worker, pace)?;
    check_written(worker, pace)
}

/// Writes what the peer is to read, if it is to be compared.
fn stamp_readable(worker: &Worker) {
    let Plan { size, outstanding, active, .. } = worker.plan;
    if worker.plan.verify && worker.plan.test.transfer() == Transfer::Read {
        for slot in 0..outstanding as usize * active as usize {
            worker.into.stamp(slot, size as usize, slot / outstanding as usize, slot as u64);
        }
    }
}

/// Compares what the peer has written at last, if it is to be compared.
fn check_written(worker: &Worker, pace: &Pace<'_>) -> anyhow::Result<()> {
    let plan = worker.plan;
    if plan.verify && plan.test.transfer() == Transfer::Write {
        for Used { connection, slot, last } in used(&plan, pace.made()) {
            worker.into.check(slot, plan.size as usize, connection, last)?;
        }
    }
    Ok(())
}

/// With bytes that are compared: the buffer of a transfer by its number on a connection.
fn slot_of(plan: &Plan, connection: usize, number: u64) -> usize {
    connection * plan.outstanding as usize + (number % u64::from(plan.outstanding)) as usize
}

/// A buffer that transfers of RDMA have used at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Used {
    connection: usize,
    slot: usize,
    /// The number of the last transfer on the connection that has used it.
    last: u64,
}

/// The buffers that a thread has used which made these transfers.
fn used(plan: &Plan, transfers: u64) -> impl Iterator<Item = Used> + use<> {
    let plan = *plan;
    (0..plan.active as usize).flat_map(move |connection| {
        // Connections take turns.
        let all = transfers.saturating_sub(connection as u64).div_ceil(u64::from(plan.active));
        let first = all.saturating_sub(u64::from(plan.outstanding));
        (first..all).map(move |last| Used { connection, slot: slot_of(&plan, connection, last), last })
    })
}

#[cfg(test)]
mod tests;
