//! The clock of the measuring loop, which is read at each step, and processor time.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// The processor's counter where there is one, since reading it takes a few nanoseconds and no call.
#[inline(always)]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every processor of this architecture has the instruction.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        u64::try_from(duration_of(ClockId::Monotonic).as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Nanoseconds of a tick, measured once, which takes some milliseconds.
pub fn nanoseconds_of_tick() -> f64 {
    static KNOWN: OnceLock<f64> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let (began, first) = moment();
        while began.elapsed() < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        let (ended, last) = moment();
        (ended - began).as_nanos() as f64 / (last - first) as f64
    })
}

/// The time of the system and the counter at the same moment. Others may get the processor between two readings, so of
/// several the closest ones count.
fn moment() -> (Instant, u64) {
    let mut closest = (u64::MAX, Instant::now(), ticks());
    for _ in 0..20 {
        let (before, now, after) = (ticks(), Instant::now(), ticks());
        // A counter that differs between processors may go back; then this is no small number.
        let width = after.wrapping_sub(before);
        if width < closest.0 {
            closest = (width, now, before + width / 2);
        }
    }
    (closest.1, closest.2)
}

/// Does nothing for some microseconds, without giving the processor away.
pub fn rest(microseconds: u32) {
    let end = ticks() + (f64::from(microseconds) * 1e3 / nanoseconds_of_tick()) as u64;
    while ticks() < end {
        std::hint::spin_loop();
    }
}

/// Time that passes, and processor time that this process uses, of all of its threads, in the kernel and outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub elapsed: Duration,
    pub processor: Duration,
}

impl Usage {
    /// Both until now, from some moment on.
    pub fn until_now() -> Self {
        Self { elapsed: duration_of(ClockId::Monotonic), processor: duration_of(ClockId::ProcessCPUTime) }
    }

    /// What has come since an earlier moment.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            elapsed: self.elapsed.saturating_sub(earlier.elapsed),
            processor: self.processor.saturating_sub(earlier.processor),
        }
    }

    /// Both together with those of another time.
    pub fn plus(self, other: Self) -> Self {
        Self { elapsed: self.elapsed + other.elapsed, processor: self.processor + other.processor }
    }

    /// The processor time in percent of the time that passed.
    pub fn percent(self) -> f64 {
        if self.elapsed.is_zero() { 0.0 } else { self.processor.as_secs_f64() / self.elapsed.as_secs_f64() * 100.0 }
    }
}

fn duration_of(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The most steps of a turn: the memory of their times stays in the cache.
pub const KEPT: usize = 1 << 15;
/// Digits of a time in the histogram.
const DIGITS: u8 = 3;

/// The times of the steps of one thread.
#[derive(Debug)]
pub struct Steps {
    /// Of this turn.
    kept: Box<[u32]>,
    count: usize,
    last: u64,
    began: Instant,
    measured: Measured,
}

/// What one thread has measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// When each turn began, and how long it took.
    pub turns: Vec<(Instant, Duration)>,
    /// The times of all steps, in ticks.
    pub ticks: Histogram<u64>,
    /// Nanoseconds of a tick.
    pub tick: f64,
}

impl Steps {
    /// Room for the steps of a turn, before the first one.
    pub fn new() -> Self {
        // The memory is written now, so that no page of it is missing later.
        let kept = vec![u32::MAX; KEPT].into_boxed_slice();
        let measured = Measured { turns: Vec::new(), ticks: times(), tick: nanoseconds_of_tick() };
        Self { kept, count: 0, last: ticks(), began: Instant::now(), measured }
    }

    /// Begins the first step of a turn.
    pub fn start(&mut self) {
        self.count = 0;
        self.began = Instant::now();
        self.last = ticks();
    }

    /// Ends a step and begins the next one.
    #[inline(always)]
    pub fn step(&mut self) {
        let now = ticks();
        let at = self.count & (self.kept.len() - 1);
        // A counter may differ a little between processors.
        self.kept[at] = u32::try_from(now.saturating_sub(self.last)).unwrap_or(u32::MAX);
        self.count += 1;
        self.last = now;
    }

    /// Ends a turn, whose steps are added to those before; the time that it took.
    pub fn stop(&mut self) -> Duration {
        let elapsed = self.began.elapsed();
        for &ticks in &self.kept[..self.count.min(KEPT)] {
            self.measured.ticks.saturating_record(ticks.into());
        }
        self.measured.turns.push((self.began, elapsed));
        elapsed
    }

    /// All turns.
    pub fn end(self) -> Measured {
        self.measured
    }
}

/// A histogram without times, for all that a step can take.
pub fn times() -> Histogram<u64> {
    Histogram::new_with_bounds(1, u32::MAX.into(), DIGITS).expect("the bounds are in order")
}

#[cfg(test)]
mod tests;
