//! The CPUs of a measurement.

use std::collections::BTreeSet;
use std::thread;

use anyhow::Context;
use dat_measure::perf::plan::Plan;
use rustix::system::sysinfo;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::print;

/// Pins the calling thread, and threads that it starts later, to a CPU of the list `cpus`. Successive numbers `thread`
/// get the CPUs in turn. An empty list pins no thread.
pub fn pin(cpus: &[usize], thread: usize) -> anyhow::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let cpu = cpus[thread % cpus.len()];
    let mut set = CpuSet::new();
    anyhow::ensure!(cpu < CpuSet::MAX_CPU, "CPU {cpu}: cannot pin a thread: the maximum is {}", CpuSet::MAX_CPU - 1);
    set.set(cpu);
    sched_setaffinity(None, &set).with_context(|| format!("CPU {cpu}: cannot pin a thread"))
}

#[derive(Clone, Debug)]
pub struct Cpus {
    /// Number of CPUs that the process may use before it is pinned.
    pub usable: usize,
    /// Load of the host during the last minute, before the measurement.
    pub load: f64,
    pub own: Vec<usize>,
    /// CPUs of the peer's threads, if the peer is a child process.
    pub peer: Vec<usize>,
    child: bool,
}

impl Cpus {
    pub fn new(own: &[usize], peer: &[usize], child: bool) -> Self {
        let usable = thread::available_parallelism().map_or(1, usize::from);
        let load = sysinfo().loads[0] as f64 / 65_536.0;
        Self { usable, load, own: own.to_vec(), peer: peer.to_vec(), child }
    }

    /// Returns the number of threads that poll, and the number of CPUs that they share. Counts the peer's threads too
    /// if the peer is a child process, or is on this host and this process is not pinned.
    pub fn pollers(&self, plan: &Plan) -> (usize, usize) {
        let threads = if plan.wait { 0 } else { plan.threads as usize };
        let both = plan.near && (self.child || self.own.is_empty());
        let unpinned = self.own.is_empty() || self.child && self.peer.is_empty();
        let pinned: BTreeSet<_> = self.own.iter().chain(&self.peer).collect();
        (if both { 2 * threads } else { threads }, if unpinned { self.usable } else { pinned.len() })
    }

    pub fn are_few_for(&self, plan: &Plan) -> bool {
        let (pollers, cpus) = self.pollers(plan);
        pollers > cpus
    }

    pub fn line(&self, plan: &Plan) -> String {
        let list = |pinned: &[usize]| match pinned {
            [] => "not pinned".to_owned(),
            _ => format!("pinned to {}", pinned.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")),
        };
        let mut line = format!("CPUs: {} usable, load {:.1}, {}", self.usable, self.load, list(&self.own));
        if !self.peer.is_empty() {
            line += &format!(" here, {} at the server", list(&self.peer));
        }
        let (pollers, cpus) = self.pollers(plan);
        if pollers > cpus {
            let cpus = print::counted(cpus as u64, "CPU");
            line += &format!("; {pollers} threads poll on {cpus}, so they yield to each other");
        }
        let busy = self.load > self.usable as f64;
        if busy {
            line += "; the host is busy, so the times include waits for a CPU";
        }
        let hint = if (busy && !plan.wait) || pollers > cpus { ": --wait may be faster" } else { "" };
        line + hint + "."
    }
}

#[cfg(test)]
mod tests;
