//! The clock of the measured loops, which is read at each step, and CPU time.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Returns the CPU's time stamp counter on x86-64, without a system call; elsewhere, a clock in nanoseconds.
#[inline(always)]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every CPU of this architecture has the instruction.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        u64::try_from(duration_of(ClockId::Monotonic).as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Returns the nanoseconds of a tick of [`ticks`], which the first call measures for 5 ms.
pub fn nanoseconds_of_tick() -> f64 {
    static KNOWN: OnceLock<f64> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let (began, first) = clock_and_ticks();
        while began.elapsed() < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        let (ended, last) = clock_and_ticks();
        (ended - began).as_nanos() as f64 / (last - first) as f64
    })
}

/// Reads the clock and the counter at the same time: uses the closest of 20 attempts, because another thread may run
/// between two reads.
fn clock_and_ticks() -> (Instant, u64) {
    let mut closest = (u64::MAX, Instant::now(), ticks());
    for _ in 0..20 {
        let (before, now, after) = (ticks(), Instant::now(), ticks());
        // Counters of CPUs may differ; a negative difference wraps to a large number.
        let width = after.wrapping_sub(before);
        if width < closest.0 {
            closest = (width, now, before + width / 2);
        }
    }
    (closest.1, closest.2)
}

/// Spins for a time in microseconds.
pub fn pause(microseconds: u32) {
    let end = ticks() + (f64::from(microseconds) * 1e3 / nanoseconds_of_tick()) as u64;
    while ticks() < end {
        std::hint::spin_loop();
    }
}

/// Elapsed time, and the CPU time of all threads of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Elapsed time.
    pub elapsed: Duration,
    /// CPU time.
    pub processor: Duration,
}

impl Usage {
    /// Returns the usage since an arbitrary but fixed time, for [`Self::since`].
    pub fn until_now() -> Self {
        Self { elapsed: duration_of(ClockId::Monotonic), processor: duration_of(ClockId::ProcessCPUTime) }
    }

    /// Adds the usage since `before`.
    pub fn add_since(&mut self, before: Self) {
        let more = Self::until_now().since(before);
        self.elapsed += more.elapsed;
        self.processor += more.processor;
    }

    /// Returns the usage since `before`.
    pub fn since(self, before: Self) -> Self {
        Self {
            elapsed: self.elapsed.saturating_sub(before.elapsed),
            processor: self.processor.saturating_sub(before.processor),
        }
    }

    /// Returns the CPU time in percent of the elapsed time. It exceeds 100 if several threads run.
    pub fn percent(self) -> f64 {
        if self.elapsed.is_zero() { 0.0 } else { self.processor.as_secs_f64() / self.elapsed.as_secs_f64() * 100.0 }
    }
}

fn duration_of(clock: ClockId) -> Duration {
    clock_gettime(clock).try_into().unwrap_or_default()
}

/// Maximum steps of a turn, so that their times stay in the cache.
pub const MAX_STEPS: usize = 1 << 15;
const DIGITS: u8 = 3;

/// The times of a thread's transfers: one step for each transfer, or for each round trip.
#[derive(Debug)]
pub struct Steps {
    /// Durations of the steps of this turn, in ticks.
    ticks: Box<[u64]>,
    count: usize,
    last: u64,
    began: Instant,
    /// The times of all ended turns.
    pub measured: Measured,
}

/// The measured times of a thread.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Start and duration of each turn.
    pub turns: Vec<(Instant, Duration)>,
    /// Durations of all steps, in ticks.
    pub ticks: Histogram<u64>,
    /// Nanoseconds of a tick.
    pub tick: f64,
}

impl Steps {
    /// Creates steps without times. May measure the counter for 5 ms.
    #[expect(clippy::new_without_default, reason = "a default value does not take 5 ms")]
    pub fn new() -> Self {
        // Write the memory now, to avoid page faults in a turn.
        let ticks_of_turn = vec![u64::MAX; MAX_STEPS].into_boxed_slice();
        let measured = Measured { turns: Vec::new(), ticks: times(), tick: nanoseconds_of_tick() };
        Self { ticks: ticks_of_turn, count: 0, last: ticks(), began: Instant::now(), measured }
    }

    /// Starts a turn.
    pub fn start(&mut self) {
        self.count = 0;
        self.began = Instant::now();
        self.last = ticks();
    }

    /// Adds a step, which ends now.
    #[inline(always)]
    pub fn step(&mut self) {
        let now = ticks();
        let at = self.count & (self.ticks.len() - 1);
        // The counters of two CPUs may differ slightly, so `now` may be less than `last`.
        self.ticks[at] = now.saturating_sub(self.last);
        self.count += 1;
        self.last = now;
    }

    /// Adds `count` steps since the last step, each with their mean time.
    pub fn step_by(&mut self, count: u64) {
        let now = ticks();
        let mean = now.saturating_sub(self.last) / count.max(1);
        for _ in 0..count {
            let at = self.count & (self.ticks.len() - 1);
            self.ticks[at] = mean;
            self.count += 1;
        }
        self.last = now;
    }

    /// Ends a turn, and adds the times of its steps to `measured`. Returns the duration of the turn.
    pub fn stop(&mut self) -> Duration {
        let elapsed = self.began.elapsed();
        for &ticks in &self.ticks[..self.count.min(MAX_STEPS)] {
            self.measured.ticks.saturating_record(ticks);
        }
        self.measured.turns.push((self.began, elapsed));
        elapsed
    }
}

/// Creates a histogram of times in ticks.
pub fn times() -> Histogram<u64> {
    Histogram::new_with_bounds(1, u64::MAX, DIGITS).expect("the bounds are in order")
}

#[cfg(test)]
mod tests;
