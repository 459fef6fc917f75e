//! Where the threads of a process meet each other, and with them the peer.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail, ensure};
use parking_lot::{Condvar, Mutex};

use super::clock::{Measured, Steps, Usage};
use super::control::{Control, GONE, Message};
use super::plan::Plan;

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
    /// What the process had used when the measurement began, and when it ended.
    began: Usage,
    ended: Usage,
}

impl<'a> Pace<'a> {
    /// For a thread; the first one has the connection to the peer.
    pub fn new(gate: &'a Gate, control: Option<&'a mut Control>) -> Self {
        Self { gate, control, began: Usage::default(), ended: Usage::default() }
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
    /// * `alone` - the peer makes no transfers itself, and gets a message when what is measured begins and ends.
    /// * `transfers` - makes those with these numbers, which begin with 0.
    pub fn measure(
        &mut self,
        plan: &Plan,
        alone: bool,
        mut transfers: impl FnMut(Range<u64>, &mut Steps) -> anyhow::Result<()>,
    ) -> anyhow::Result<Measured> {
        let mut steps = Steps::new(plan.iterations);
        self.meet()?;
        if plan.warmup > 0 {
            transfers(0..plan.warmup, &mut steps)?;
        }
        if alone {
            self.gate.pass()?;
            self.tell(&Message::Begin)?;
        }
        self.gate.pass()?;
        self.began = Usage::until_now();
        steps.start();
        transfers(plan.warmup..plan.warmup + plan.iterations, &mut steps)?;
        let measured = steps.end();
        self.gate.pass()?;
        self.ended = Usage::until_now();
        if alone {
            self.tell(&Message::Done)?;
        }
        Ok(measured)
    }

    fn tell(&mut self, message: &Message) -> anyhow::Result<()> {
        self.control.as_mut().map_or(Ok(()), |control| control.say(message))
    }

    /// Does what the target of the peer's transfers does, until the peer says that they have ended.
    ///
    /// # Parameters
    /// * `look` - looks at the memory for some microseconds; without it the thread waits.
    pub fn stand(&mut self, look: Option<&dyn Fn()>) -> anyhow::Result<()> {
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
                Some(Message::Begin) => self.began = Usage::until_now(),
                Some(Message::Done) => {
                    self.ended = Usage::until_now();
                    self.gate.over.store(true, Ordering::Relaxed);
                    return self.gate.pass();
                }
                Some(other) => bail!("the peer says {other:?} during a measurement"),
            }
        }
    }

    /// What the process has used between begin and end.
    pub fn usage(&self) -> Usage {
        self.ended.since(self.began)
    }
}

#[cfg(test)]
mod tests;
