//! Where the threads of a process meet each other, and with them the peer.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use parking_lot::{Condvar, Mutex};

use super::clock::{Measured, Steps, Usage};
use super::control::{Control, GONE, Message};
use super::goal::{Goal, Turn};

/// A barrier for the threads of one process, which releases all with an error when one of them has failed.
pub struct Gate {
    threads: usize,
    state: Mutex<Gathering>,
    all: Condvar,
    over: AtomicBool,
}

#[derive(Debug, Default)]
struct Gathering {
    here: usize,
    round: u64,
    /// What the threads do next, and what all turns until now have had of transfers of each thread.
    turn: Turn,
    made: u64,
    /// Of the thread that failed first; the errors of those that it released say less.
    error: Option<anyhow::Error>,
}

impl Gate {
    /// For as many threads.
    pub fn new(threads: usize) -> Self {
        Self { threads, state: Mutex::default(), all: Condvar::new(), over: AtomicBool::new(false) }
    }

    /// Returns when all threads are here.
    fn pass(&self) -> anyhow::Result<()> {
        let mut state = self.state.lock();
        let round = state.round;
        state.here += 1;
        if state.here == self.threads {
            state.here = 0;
            state.round += 1;
            self.all.notify_all();
        }
        while state.round == round && state.error.is_none() {
            self.all.wait(&mut state);
        }
        ensure!(state.error.is_none(), "another thread has failed");
        Ok(())
    }

    /// What the first thread says comes next.
    fn set_turn(&self, turn: Turn) {
        let mut state = self.state.lock();
        state.turn = turn;
        state.made += turn.all();
    }

    /// Passes a result on; an error is kept if it is the first, and releases the other threads.
    pub fn outcome<T>(&self, result: anyhow::Result<T>) -> Option<T> {
        let error = match result {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let mut state = self.state.lock();
        state.error.get_or_insert(error);
        self.over.store(true, Ordering::Relaxed);
        self.all.notify_all();
        None
    }

    /// The values of all threads, or the error of the thread that failed first.
    pub fn all<T>(&self, values: impl IntoIterator<Item = Option<T>>) -> anyhow::Result<Vec<T>> {
        let values = values.into_iter().flatten().collect();
        self.state.lock().error.take().map_or(Ok(values), Err)
    }
}

/// The steps of one thread of a measurement. The first thread also talks to the peer. Each step fails when the peer has gone
/// away, the time is up, or another thread has failed.
pub struct Pace<'a> {
    pub gate: &'a Gate,
    control: Option<&'a mut Control>,
    /// Of the first thread of the process that measures.
    goal: Option<Goal>,
    /// What the process has used in the turns that count.
    used: Usage,
}

impl<'a> Pace<'a> {
    /// For a thread; the first one has the connection to the peer, and that of the client knows what is wanted.
    pub fn new(gate: &'a Gate, control: Option<&'a mut Control>, goal: Option<Goal>) -> Self {
        Self { gate, control, goal, used: Usage::default() }
    }

    /// Returns when all threads of both processes are here.
    pub fn meet(&mut self) -> anyhow::Result<()> {
        self.gate.pass()?;
        if let Some(control) = &mut self.control {
            control.meet()?;
        }
        self.gate.pass()
    }

    /// Warms up, and measures.
    ///
    /// # Parameters
    /// * `transfers` - makes those with these numbers, which begin with 0.
    pub fn measure(
        &mut self,
        mut transfers: impl FnMut(Range<u64>, &mut Steps) -> anyhow::Result<()>,
    ) -> anyhow::Result<Measured> {
        let mut steps = Steps::new();
        self.meet()?;
        let mut number = 0;
        loop {
            let turn = self.next_turn()?;
            if turn.transfers == 0 {
                return Ok(steps.end());
            }
            let end = number + turn.all();
            let took = if turn.counts {
                // The peer has heard of the turn only now; it is not to be measured how long that took.
                transfers(number..number + 1, &mut steps)?;
                let before = Usage::until_now();
                steps.start();
                transfers(number + 1..end, &mut steps)?;
                let took = steps.stop();
                self.used = self.used.plus(Usage::until_now().since(before));
                took
            } else {
                let began = Instant::now();
                steps.start();
                transfers(number..end, &mut steps)?;
                began.elapsed()
            };
            number = end;
            if let Some(goal) = &mut self.goal {
                goal.made(turn, took);
            }
        }
    }

    /// What comes next, in all threads of both processes.
    fn next_turn(&mut self) -> anyhow::Result<Turn> {
        self.gate.pass()?;
        let turn = match (&mut self.control, &self.goal) {
            (Some(control), Some(goal)) => {
                let turn = goal.next(Instant::now());
                control.say(&Message::Turn(turn))?;
                Some(turn)
            }
            (Some(control), None) => match control.hear()? {
                Message::Turn(turn) => {
                    control.begin();
                    Some(turn)
                }
                other => bail!("the peer says {other:?} and not what comes next"),
            },
            _ => None,
        };
        if let Some(turn) = turn {
            self.gate.set_turn(turn);
        }
        self.gate.pass()?;
        Ok(self.gate.state.lock().turn)
    }

    /// Transfers of a thread in all turns until now.
    pub fn made(&self) -> u64 {
        self.gate.state.lock().made
    }

    /// Does what the target of the peer's transfers does, until the peer says that they have ended.
    ///
    /// # Parameters
    /// * `look` - looks at the memory for some microseconds; without it the thread waits.
    pub fn stand(&mut self, look: Option<&dyn Fn()>) -> anyhow::Result<()> {
        let mut began = None;
        loop {
            let said = match (&mut self.control, look) {
                (None, None) => return self.gate.pass(),
                (None, Some(look)) => {
                    look();
                    if self.gate.over.load(Ordering::Relaxed) {
                        return self.gate.pass();
                    }
                    continue;
                }
                (Some(control), None) => Some(control.hear_or_end()?.context(GONE)?),
                (Some(control), Some(look)) => {
                    look();
                    control.poll()?
                }
            };
            match said {
                None => {}
                Some(Message::Turn(turn)) => {
                    let now = Usage::until_now();
                    if let Some(before) = began.take() {
                        self.used = self.used.plus(now.since(before));
                    }
                    began = turn.counts.then_some(now);
                    self.gate.set_turn(turn);
                    if let Some(control) = &mut self.control {
                        control.begin();
                    }
                    if turn.transfers == 0 {
                        self.gate.over.store(true, Ordering::Relaxed);
                        return self.gate.pass();
                    }
                }
                Some(other) => bail!("the peer says {other:?} during a measurement"),
            }
        }
    }

    /// What the process has used in the turns that count.
    pub fn usage(&self) -> Usage {
        self.used
    }
}

#[cfg(test)]
mod tests;
