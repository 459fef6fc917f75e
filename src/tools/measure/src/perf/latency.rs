//! Tests of latency: one outstanding transfer.
//!
//! While a message is in flight, both sides reap the completion of the previous send, and the server posts its receive.

use std::ops::Range;
use std::sync::atomic::{Ordering, fence};

use super::clock::{Steps, pause};
use super::plan::{Plan, Transfer};
use super::worker::{Worker, slot};

/// Number of reads of memory that take about as long as a poll of a dispatcher.
const LOADS: u32 = 64;

/// Performs the transfers with these numbers, one after the other, and adds a step for each.
pub fn run(worker: &mut Worker, numbers: Range<u64>, steps: &mut Steps) -> anyhow::Result<()> {
    // Numbers start at 1, because unwritten memory looks like the end of transfer 0.
    let numbers = numbers.start + 1..numbers.end + 1;
    match worker.plan.test.transfer() {
        Transfer::Send => each(worker, numbers, steps, round_send),
        Transfer::Write => each(worker, numbers, steps, round_write),
        Transfer::Read => each(worker, numbers, steps, round_read),
    }
}

#[inline(always)]
fn each(
    worker: &mut Worker,
    numbers: Range<u64>,
    steps: &mut Steps,
    round: impl Fn(&mut Worker, usize, u64) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut connection = worker.connection_at(numbers.start);
    for number in numbers {
        round(worker, connection, number)?;
        connection = worker.next(connection);
        steps.step();
    }
    Ok(())
}

#[inline(always)]
fn round_send(worker: &mut Worker, connection: usize, number: u64) -> anyhow::Result<()> {
    let Plan { size, verify, .. } = worker.plan;
    let size = size as usize;
    if verify {
        worker.out.fill(0, size, connection, number);
    }
    if worker.initiator {
        send(worker, connection, size)?;
    }
    if worker.outstanding > 1 || (verify && worker.initiator) {
        worker.reap()?;
    }
    let slot = slot(&worker.receive()?);
    if !worker.initiator {
        send(worker, connection, size)?;
    }
    if verify {
        worker.into.check(slot, size, connection, number)?;
        worker.reap_all()?;
    }
    worker.post_recv(connection, slot)
}

#[inline(always)]
fn send(worker: &mut Worker, connection: usize, size: usize) -> anyhow::Result<()> {
    if worker.plan.pause > 0 {
        pause(worker.plan.pause);
    }
    worker.post_send(connection, size, 0)
}

#[inline(always)]
fn round_write(worker: &mut Worker, connection: usize, number: u64) -> anyhow::Result<()> {
    let size = worker.plan.size as usize;
    if !worker.initiator {
        await_write(worker, connection, number)?;
    }
    if worker.plan.verify {
        worker.out.fill(0, size, connection, number);
    }
    worker.out.set_end(size, number);
    worker.post_write(connection, size, 0)?;
    worker.reap()?;
    if worker.initiator {
        await_write(worker, connection, number)?;
    }
    Ok(())
}

/// Waits for the peer's write by reading its last byte, which becomes visible last.
#[inline(always)]
fn await_write(worker: &Worker, connection: usize, number: u64) -> anyhow::Result<()> {
    let size = worker.plan.size as usize;
    let mut loads = 0;
    while worker.into.load(size - 1) != number as u8 {
        loads += 1;
        if loads == worker.polls * LOADS {
            loads = 0;
            worker.yield_cpu()?;
        }
    }
    fence(Ordering::Acquire);
    if worker.plan.verify {
        worker.into.check_with_end(size, connection, number)?;
    }
    Ok(())
}

#[inline(always)]
fn round_read(worker: &mut Worker, connection: usize, _number: u64) -> anyhow::Result<()> {
    let size = worker.plan.size as usize;
    if worker.plan.verify {
        worker.out.clear(0, size);
    }
    worker.post_read(connection, size, 0)?;
    worker.reap()?;
    if worker.plan.verify {
        worker.out.check(0, size, 0, 0)?;
    }
    Ok(())
}
