//! One transfer at a time, there and back; of a read, one after the other.
//!
//! What is not needed for the next message is done while it is under way: the buffer is posted again, and the completion of
//! the send before is reaped. So each round reaps both completions.

use std::sync::atomic::{Ordering, fence};

use super::clock::{Measured, Steps, rest};
use super::gate::Pace;
use super::plan::{Plan, Transfer};
use super::stream;
use super::worker::Worker;
use crate::dat::RawEvent;

/// Looks at memory that take about as long as a poll.
const LOOKS: u32 = 64;

/// Runs the measurement of one thread; there is a result in the process that measures.
pub fn run(worker: &mut Worker, pace: &mut Pace<'_>) -> anyhow::Result<Option<Measured>> {
    let plan = worker.plan;
    let reads = plan.test.transfer() == Transfer::Read;
    if reads && !worker.client {
        worker.into.stamp(0, plan.size as usize, 0, 0);
        pace.meet()?;
        // Without a word about it the target of reads sleeps.
        if plan.target_polls {
            stream::stand(worker, pace)?
        } else {
            pace.stand(None)?
        }
        return Ok(None);
    }
    let measured = pace.measure(|numbers, steps| {
        // Memory that was never written looks like the end of a transfer with the number 0.
        let numbers = numbers.start + 1..numbers.end + 1;
        match plan.test.transfer() {
            Transfer::Send => each(worker, numbers, steps, round_send),
            Transfer::Write => each(worker, numbers, steps, round_write),
            Transfer::Read => each(worker, numbers, steps, round_read),
        }
    })?;
    worker.reap_all()?;
    Ok(worker.client.then_some(measured))
}

#[inline(always)]
fn each(
    worker: &mut Worker,
    numbers: std::ops::Range<u64>,
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
    let Plan { size, verify, pause, .. } = worker.plan;
    let size = size as usize;
    if verify {
        worker.out.stamp(0, size, connection, number);
    }
    if worker.client {
        rest_before(pause);
        worker.post_send(connection, size, 0)?;
    }
    if worker.under_way > 1 || (verify && worker.client) {
        worker.reap()?;
    }
    let mut place = RawEvent::uninit();
    let slot = worker.receive(&mut place)?.slot();
    if !worker.client {
        rest_before(pause);
        worker.post_send(connection, size, 0)?;
    }
    if verify {
        worker.into.check(slot, size, connection, number)?;
        worker.reap_all()?;
    }
    worker.post_recv(connection, slot)
}

#[inline(always)]
fn rest_before(pause: u32) {
    if pause > 0 {
        rest(pause);
    }
}

#[inline(always)]
fn round_write(worker: &mut Worker, connection: usize, number: u64) -> anyhow::Result<()> {
    let size = worker.plan.size as usize;
    if !worker.client {
        spin(worker, connection, number)?;
    }
    if worker.plan.verify {
        worker.out.stamp(0, size, connection, number);
    }
    worker.out.set_end(size, number);
    worker.post_write(connection, size, 0)?;
    worker.reap()?;
    if worker.client {
        spin(worker, connection, number)?;
    }
    Ok(())
}

/// Waits for the peer's write by looking at its last byte, which becomes visible last.
#[inline(always)]
fn spin(worker: &Worker, connection: usize, number: u64) -> anyhow::Result<()> {
    let size = worker.plan.size as usize;
    let mut looks = 0;
    while worker.into.load(size - 1) != number as u8 {
        looks += 1;
        if looks == worker.looks * LOOKS {
            looks = 0;
            worker.give_way()?;
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
