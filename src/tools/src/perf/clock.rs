//! The clock of the measuring loop, which is read at each step, and processor time.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

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

    /// The processor time in percent of the time that passed.
    pub fn percent(self) -> f64 {
        if self.elapsed.is_zero() { 0.0 } else { self.processor.as_secs_f64() / self.elapsed.as_secs_f64() * 100.0 }
    }
}

fn duration_of(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The most steps whose times are kept: of a longer run the last ones, so that the memory stays in the cache.
const KEPT: usize = 1 << 15;

/// The times of the steps of one thread.
#[derive(Debug)]
pub struct Steps {
    kept: Box<[u32]>,
    count: usize,
    last: u64,
    began: Instant,
}

impl Steps {
    /// Room for as many steps, before the first one.
    pub fn new(steps: u64) -> Self {
        let room = usize::try_from(steps).unwrap_or(KEPT).clamp(1, KEPT).next_power_of_two();
        // The memory is written now, so that no page of it is missing later.
        let kept = vec![u32::MAX; room].into_boxed_slice();
        let _ = nanoseconds_of_tick();
        Self { kept, count: 0, last: ticks(), began: Instant::now() }
    }

    /// Begins the first step.
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

    /// Ends the measurement.
    pub fn end(&self) -> Measured {
        let elapsed = self.began.elapsed();
        let kept = self.count.min(self.kept.len());
        let tick = nanoseconds_of_tick();
        Measured {
            began: self.began,
            elapsed,
            steps: self.count as u64,
            nanoseconds: self.kept[..kept].iter().map(|&ticks| f64::from(ticks) * tick).collect(),
        }
    }
}

/// What one thread has measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// When the first step began.
    pub began: Instant,
    /// The time of all steps.
    pub elapsed: Duration,
    pub steps: u64,
    /// The time of each of the last ones.
    pub nanoseconds: Vec<f64>,
}

#[cfg(test)]
mod tests;
