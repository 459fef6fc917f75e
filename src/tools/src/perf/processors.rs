//! The processors on which threads run.

use anyhow::Context;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Has this thread, and those that it starts, run on one processor of a list, which is used in turn; an empty list leaves
/// the choice to the system.
pub fn pin(processors: &[usize], thread: usize) -> anyhow::Result<()> {
    if processors.is_empty() {
        return Ok(());
    }
    let processor = processors[thread % processors.len()];
    let mut set = CpuSet::new();
    anyhow::ensure!(processor < CpuSet::MAX_CPU, "there is no processor {processor}");
    set.set(processor);
    sched_setaffinity(None, &set).with_context(|| format!("processor {processor} cannot be used"))
}

#[cfg(test)]
mod tests;
