//! The processors on which threads run, and what else they have to do.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;

use anyhow::Context;
use rustix::system::sysinfo;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use super::plan::Plan;

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

/// Where the threads of a process run.
#[derive(Clone, Debug)]
pub struct Processors {
    /// Those that the process may use, unless it pins itself to some.
    pub usable: BTreeSet<usize>,
    /// Processes that ran or were to run on this host, in the mean of a minute, before anything was measured.
    pub load: f64,
    /// Those to which its threads are pinned, one after the other.
    pub own: Vec<usize>,
    /// The same of the peer, if it is known.
    pub peer: Vec<usize>,
    /// Whether the peer is a child, which may use the same processors.
    child: bool,
}

impl Processors {
    /// What there is, before anything is pinned.
    pub fn new(own: &[usize], peer: &[usize], child: bool) -> Self {
        // A machine with more processors than the set has room for has enough of them.
        let usable = sched_getaffinity(None).map_or_else(
            |_| (0..CpuSet::MAX_CPU).collect(),
            |set| (0..CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor)).collect(),
        );
        let load = sysinfo().loads[0] as f64 / 65_536.0;
        Self { usable, load, own: own.to_vec(), peer: peer.to_vec(), child }
    }

    /// Pins both ends to different processors, if nobody has said where they run and so many are free that none of the
    /// chosen ones has something else to do. Those that sleep are left to the system, which wakes them where it is best.
    pub fn spread(&mut self, threads: u32, wait: bool) {
        let threads = threads as usize;
        let free = self.usable.len() as f64 - self.load;
        if !self.child || wait || !self.own.is_empty() || !self.peer.is_empty() || free + 0.5 < 2.0 * threads as f64 {
            return;
        }
        let chosen = apart(&self.usable, sched_getcpu(), siblings, 2 * threads);
        if let Some((own, peer)) = chosen.as_ref().and_then(|chosen| chosen.split_at_checked(threads)) {
            (self.own, self.peer) = (own.to_vec(), peer.to_vec());
        }
    }

    /// Threads that poll on the processors of this process, and how many processors these are.
    pub fn pollers(&self, plan: &Plan) -> (usize, usize) {
        let threads = if plan.wait { 0 } else { plan.threads as usize };
        let set = |pinned: &[usize]| {
            if pinned.is_empty() { self.usable.clone() } else { pinned.iter().copied().collect::<BTreeSet<_>>() }
        };
        let own = set(&self.own);
        if self.child {
            (2 * threads, own.union(&set(&self.peer)).count())
        } else if plan.near && self.own.is_empty() {
            (2 * threads, own.len())
        } else {
            (threads, own.len())
        }
    }

    /// Whether these are too few.
    pub fn are_few_for(&self, plan: &Plan) -> bool {
        let (pollers, processors) = self.pollers(plan);
        pollers > processors
    }

    /// A line for people about them, and whether they are too few for the plan.
    pub fn line(&self, plan: &Plan) -> String {
        let list = |pinned: &[usize]| match pinned {
            [] => "not pinned".to_owned(),
            _ => format!("pinned to {}", pinned.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")),
        };
        let place = match (self.child, self.own.is_empty() && self.peer.is_empty()) {
            (true, false) => format!("{} here, {} at the server", list(&self.own), list(&self.peer)),
            _ => list(&self.own),
        };
        let (pollers, processors) = self.pollers(plan);
        let few = match () {
            () if pollers > processors && processors == 1 => {
                format!(
                    "; {pollers} threads poll on one processor, so they give way to each other: --wait may be better"
                )
            }
            () if pollers > processors => format!(
                "; {pollers} threads poll on {processors} processors, so they give way to each other: --wait may be better"
            ),
            () => String::new(),
        };
        format!("Processors: {self}, {place}{few}.")
    }
}

/// How many, and what they have to do.
impl fmt::Display for Processors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} usable, load {:.1}", self.usable.len(), self.load)
    }
}

/// As many processors of a set as are wanted, beginning with one of them and on different cores as far as there are enough.
fn apart(
    usable: &BTreeSet<usize>,
    first: usize,
    siblings: impl Fn(usize) -> BTreeSet<usize>,
    wanted: usize,
) -> Option<Vec<usize>> {
    let order = || usable.range(first..).chain(usable.range(..first)).copied();
    let (mut chosen, mut taken) = (Vec::new(), BTreeSet::new());
    for processor in order() {
        if !taken.contains(&processor) {
            chosen.push(processor);
            taken.extend(siblings(processor));
        }
    }
    chosen.extend(order().filter(|processor| !chosen.contains(processor)).collect::<Vec<_>>());
    chosen.truncate(wanted);
    (chosen.len() == wanted).then_some(chosen)
}

/// The processors of the same core, as far as the system says.
fn siblings(processor: usize) -> BTreeSet<usize> {
    let file = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
    let list = fs::read_to_string(file).unwrap_or_default();
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.parse::<usize>().ok()?..=to.parse().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests;
