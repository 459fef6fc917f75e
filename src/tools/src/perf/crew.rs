//! The threads of a process in a measurement. The first also talks to the peer, passes each turn to the others, and
//! waits for them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use dat_measure::perf::clock::{Measured, Steps, Usage};
use dat_measure::perf::latency;
use dat_measure::perf::limit::{GONE, OtherFailed};
use dat_measure::perf::plan::{Plan, Test};
use dat_measure::perf::stream::{self, Part};
use dat_measure::perf::worker::Worker;

use super::control::{Control, Message};
use super::cpus::pin;
use super::goal::{Goal, Turn};
use super::interval::Intervals;

#[derive(Clone, Debug)]
pub struct Outcome {
    pub threads: Vec<Measured>,
    /// The usage of this process in the counted turns.
    pub usage: Usage,
}

/// Runs the threads until the client ends the measurement. Fails if a thread fails.
///
/// The calling thread is the first thread, already pinned to the first of `cpus`. Only the client has a `goal`, and
/// with --interval `intervals`.
pub fn run<'a>(
    workers: &mut [Worker],
    control: &'a mut Control,
    cpus: &[usize],
    goal: Option<Goal>,
    intervals: Option<Intervals<'a>>,
) -> anyhow::Result<Outcome> {
    let (first, others) = workers.split_first_mut().context("a plan has no thread")?;
    let (reports, reported) = mpsc::channel();
    thread::scope(|scope| {
        let mut lead = Lead { control, goal, intervals, turns: Vec::new(), reported, usage: Usage::default() };
        let mut threads = Vec::new();
        for (index, worker) in others.iter_mut().enumerate() {
            let (sender, turns) = mpsc::channel();
            let (reports, limit) = (reports.clone(), lead.control.limit.clone());
            let follow = move || {
                let run = || pin(cpus, index + 1).and_then(|()| follow(worker, &turns, &reports));
                let made = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(anyhow!("a thread panicked")));
                made.map_err(|error| {
                    let _ = reports.send(Err(error));
                    limit.fail();
                })
                .ok()
            };
            threads.push(thread::Builder::new().spawn_scoped(scope, follow).context("cannot create a thread")?);
            lead.turns.push(sender);
        }
        let made = lead.run(first).inspect_err(|_| lead.control.limit.fail());
        let Lead { turns, reported, usage, .. } = lead;
        // The other threads end when their senders of turns are dropped.
        drop(turns);
        let others: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect();
        let failed = reported.try_iter().filter_map(Result::err);
        let (first, error) = made.map_or_else(|error| (None, Some(error)), |first| (Some(first), None));
        let threads = first.into_iter().chain(others.into_iter().flatten()).collect();
        cause(error.into_iter().chain(failed)).map_or(Ok(Outcome { threads, usage }), Err)
    })
}

/// Returns the first error that is not a consequence of another thread's failure, or else the first.
fn cause(errors: impl Iterator<Item = anyhow::Error>) -> Option<anyhow::Error> {
    errors.min_by_key(|error| error.is::<OtherFailed>())
}

struct Member<'a> {
    worker: &'a mut Worker,
    part: Option<Part>,
    steps: Steps,
    made: u64,
}

impl<'a> Member<'a> {
    fn new(worker: &'a mut Worker) -> Self {
        let part = (!worker.plan.test.is_latency()).then(|| Part::of(worker));
        Self { worker, part, steps: Steps::new(), made: 0 }
    }

    fn is_target(&self) -> bool {
        let Plan { test, both, reverse, .. } = self.worker.plan;
        // With --reverse, the target waits for the message that ends each turn, so it takes part in the turn.
        !self.worker.initiator && !both && !reverse && matches!(test, Test::ReadLat | Test::WriteBw | Test::ReadBw)
    }

    /// Performs the transfers of a turn. Returns their duration. In a turn that counts, omits the first transfer, and
    /// adds the usage of the others to `usage`.
    fn make(&mut self, turn: Turn, usage: &mut Usage) -> anyhow::Result<Duration> {
        let (start, end) = (self.made, self.made + turn.all());
        self.made = end;
        if self.is_target() {
            return Ok(Duration::ZERO);
        }
        if !turn.counts {
            let began = Instant::now();
            self.steps.start();
            self.transfer(start, end)?;
            return Ok(began.elapsed());
        }
        // The first transfer does not count, because the peer may not have received the turn yet.
        self.transfer(start, start + 1)?;
        let before = Usage::until_now();
        self.steps.start();
        if let Some(part) = self.part.as_mut().filter(|_| self.worker.plan.reverse) {
            part.start(self.worker)?;
        }
        self.transfer(start + 1, end)?;
        let took = self.steps.stop();
        usage.add_since(before);
        Ok(took)
    }

    fn transfer(&mut self, start: u64, end: u64) -> anyhow::Result<()> {
        match &mut self.part {
            None => latency::run(self.worker, start..end, &mut self.steps),
            Some(part) => part.run(self.worker, start..end, &mut self.steps),
        }
    }

    /// Waits for the next turn. `next(true)` sleeps until it arrives; `next(false)` returns `None` if it has not
    /// arrived. A target of RDMA may poll its memory or dispatcher between calls of `next(false)`.
    fn await_turn(&self, mut next: impl FnMut(bool) -> anyhow::Result<Option<Turn>>) -> anyhow::Result<Turn> {
        let Plan { wait, target_polls, test, .. } = self.worker.plan;
        // The target of read_lat sleeps, so that it does not disturb the measurement.
        let sleeps = !self.is_target() || wait || (test == Test::ReadLat && !target_polls);
        loop {
            if let Some(turn) = next(sleeps)? {
                return Ok(turn);
            }
            self.worker.poll_as_target();
        }
    }

    fn end(self) -> anyhow::Result<Measured> {
        self.worker.reap_all()?;
        stream::check_written(self.worker, self.made)?;
        Ok(self.steps.measured)
    }
}

struct Lead<'a> {
    control: &'a mut Control,
    goal: Option<Goal>,
    intervals: Option<Intervals<'a>>,
    turns: Vec<Sender<Turn>>,
    reported: Receiver<anyhow::Result<()>>,
    usage: Usage,
}

impl Lead<'_> {
    fn run(&mut self, worker: &mut Worker) -> anyhow::Result<Measured> {
        let mut member = Member::new(worker);
        let target = member.is_target();
        // A target makes no transfers, so its usage is measured from a turn that counts to the next turn.
        let mut before = None;
        loop {
            self.show_interval(&member, false)?;
            let turn = self.next_turn(&member)?;
            if let Some(before) = before.take() {
                self.usage.add_since(before);
            }
            for sender in &self.turns {
                // Sending fails if the thread has ended. It has then reported its error.
                let _ = sender.send(turn);
            }
            if turn.transfers == 0 {
                self.show_interval(&member, true)?;
                return member.end();
            }
            let took = member.make(turn, &mut self.usage)?;
            if target {
                before = turn.counts.then(Usage::until_now);
                continue;
            }
            for _ in &self.turns {
                self.reported.recv().map_err(|_| anyhow!("a thread has ended"))??;
            }
            if let Some(goal) = &mut self.goal {
                goal.made(turn, took);
            }
        }
    }

    fn show_interval(&mut self, member: &Member, ended: bool) -> anyhow::Result<()> {
        let Some(intervals) = &mut self.intervals else { return Ok(()) };
        intervals.show(&member.steps.measured, self.usage, ended)
    }

    fn next_turn(&mut self, member: &Member) -> anyhow::Result<Turn> {
        if let Some(goal) = &self.goal {
            let now = Instant::now();
            let turn = goal.next(now, self.intervals.as_ref().map_or(Duration::MAX, |intervals| intervals.left(now)));
            self.control.say(&Message::Turn(turn))?;
            return Ok(turn);
        }
        let turn = member.await_turn(|wait| {
            let message = if wait { Some(self.control.hear_or_end()?.context(GONE)?) } else { self.control.poll()? };
            match message {
                None => Ok(None),
                Some(Message::Turn(turn)) => Ok(Some(turn)),
                Some(other) => bail!("the peer sent {other:?} during a measurement"),
            }
        })?;
        self.control.limit.begin();
        Ok(turn)
    }
}

fn follow(
    worker: &mut Worker,
    turns: &Receiver<Turn>,
    reports: &Sender<anyhow::Result<()>>,
) -> anyhow::Result<Measured> {
    let mut member = Member::new(worker);
    loop {
        let turn = member.await_turn(|wait| {
            let turn = if wait { turns.recv().map_err(|_| TryRecvError::Disconnected) } else { turns.try_recv() };
            match turn {
                Ok(turn) => Ok(Some(turn)),
                Err(TryRecvError::Empty) => Ok(None),
                Err(TryRecvError::Disconnected) => bail!(OtherFailed),
            }
        })?;
        if turn.transfers == 0 {
            return member.end();
        }
        member.make(turn, &mut Usage::default())?;
        if !member.is_target() {
            let _ = reports.send(Ok(()));
        }
    }
}

#[cfg(test)]
mod tests;
