//! The objects of one process for a measurement, its connections, and its threads.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use dat_udat12::*;

use super::clock::{Measured, Usage};
use super::control::{Control, Message, established};
use super::gate::{Gate, Pace};
use super::goal::Goal;
use super::limit::within;
use super::plan::{Plan, Transfer};
use super::worker::{self, Worker};
use super::{latency, stream};
use crate::dat::event::event_name;
use crate::dat::memory::most_for_peers;
use crate::dat::{Cr, Ep, Evd, Evds, Event, Ia, Library, Psp, Pz};

/// How long a server waits for a connection before it checks that the client is still there.
const LOOK: Duration = Duration::from_millis(500);

/// One process of a measurement, with an adapter instance of its own.
pub struct Node {
    workers: Vec<Worker>,
    ia: Ia,
    /// Whether several threads may make calls.
    thread_safe: bool,
    /// Whether this is the process that measures.
    client: bool,
}

/// What a process has measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Of each thread, in the process that measures.
    pub threads: Vec<Measured>,
    /// What this process has used.
    pub usage: Usage,
    /// Transfers of a thread that were under way at a time.
    pub window: u32,
}

impl Node {
    /// Makes all objects.
    pub fn new(library: Library, name: &str, plan: &Plan, client: bool) -> anyhow::Result<Self> {
        let ia = Ia::open(library, name)?;
        let adapter = ia.attributes()?;
        let most = match plan.test.transfer() {
            Transfer::Send => adapter.ia.max_message_size,
            Transfer::Write | Transfer::Read => adapter.ia.max_rdma_size,
        };
        if plan.size > most {
            bail!("a transfer of {name} has at most {most} bytes");
        }
        let thread_safe = adapter.provider.is_thread_safe != DAT_FALSE;
        if plan.threads > 1 && !thread_safe {
            bail!("the provider of {name} is for one thread");
        }
        // A peer chooses how much it is.
        let (memory, most) = (worker::memory(plan, &adapter.ia, client), most_for_peers());
        if memory > most {
            bail!("it needs {} MiB of memory; {} MiB is the most", memory >> 20, most >> 20);
        }
        let pz = Pz::new(&ia)?;
        let workers = (0..plan.threads)
            .map(|_| Worker::new(&ia, &pz, &adapter, plan, client))
            .collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Self { workers, ia, thread_safe, client })
    }

    /// Listens for the connections of the client.
    pub fn listen(&self) -> anyhow::Result<Psp> {
        Psp::new(&self.ia, None, &Evd::new(&self.ia, 64, DAT_EVD_CR_FLAG, None)?)
    }

    /// Tells the peer the memory of each thread, and hears of his.
    pub fn exchange(&mut self, control: &mut Control) -> anyhow::Result<()> {
        for worker in &self.workers {
            control.say(&Message::Memory(worker.offer()))?;
        }
        for worker in &mut self.workers {
            match control.hear()? {
                Message::Memory(target) => worker.target = target,
                other => bail!("the peer says {other:?} and not where its memory is"),
            }
        }
        Ok(())
    }

    /// Makes all connections to the server.
    pub fn connect(&self, host: IpAddr, qualifier: u64, longest: Duration) -> anyhow::Result<()> {
        for (thread, worker) in self.workers.iter().enumerate() {
            for (connection, ep) in worker.eps.iter().enumerate() {
                ep.connect(host, qualifier, longest, &greeting(thread, connection))?;
                established(&worker.evds.connect, longest).map_err(|error| {
                    let what = self.refusal(thread, connection, &error);
                    error.context(what)
                })?;
            }
        }
        Ok(())
    }

    /// What is said of a connection that does not come about. Nothing that can be asked before tells how many there can be
    /// between two processes.
    fn refusal(&self, thread: usize, connection: usize, error: &anyhow::Error) -> String {
        let before = self.workers[..thread].iter().map(|worker| worker.eps.len()).sum::<usize>() + connection;
        let full = error.to_string() == event_name(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
        let most =
            if full && before > 0 { format!("; there is room for {before} to this server") } else { String::new() };
        format!("connection {connection} of thread {thread}{most}")
    }

    /// Accepts all connections of the client; requests of others are rejected.
    pub fn accept(&self, psp: &Psp, control: &Control) -> anyhow::Result<()> {
        for (thread, worker) in self.workers.iter().enumerate() {
            for (connection, ep) in worker.eps.iter().enumerate() {
                request(psp, &greeting(thread, connection), control)?.accept(ep, &[])?;
                established(&worker.evds.connect, control.left())?;
            }
        }
        Ok(())
    }

    /// Carries out the plan, in as many threads as it says. A server ends its connections when the time is up, so that a
    /// client which does nothing does not hold it; a provider for one thread leaves no way to do so.
    ///
    /// # Parameters
    /// * `processors` - of the threads, one after the other; none to leave that to the system.
    /// * `goal` - what the client wants.
    ///
    /// # Errors
    /// The first that a thread met, that there can be no more threads, or that the time is up.
    pub fn run(&mut self, control: &mut Control, processors: &[usize], goal: Option<Goal>) -> anyhow::Result<Outcome> {
        let window = self.workers.first().map_or(0, Worker::window);
        let gate = Gate::new(self.workers.len());
        let limited = self.thread_safe && !self.client;
        let connections: Vec<_> =
            self.workers.iter().map(|worker| (Arc::clone(&worker.eps), worker.evds.clone())).collect();
        let end_all = move || connections.iter().for_each(|(eps, evds)| end(eps, evds));
        let until = control.until();
        let (first, others) = self.workers.split_first_mut().context("a plan has a thread")?;
        let measure = || {
            std::thread::scope(|scope| {
                let others: Vec<_> = others
                    .iter_mut()
                    .enumerate()
                    .map(|(at, worker)| {
                        let gate = &gate;
                        let thread = std::thread::Builder::new().spawn_scoped(scope, move || {
                            gate.outcome(super::processors::pin(processors, at + 1))?;
                            carry_out(worker, Pace::new(gate, None, None))
                        });
                        gate.outcome(thread.context("there can be no more threads"))
                    })
                    .collect();
                let own = carry_out(first, Pace::new(&gate, Some(&mut *control), goal));
                let others = others
                    .into_iter()
                    .map(|thread| thread?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
                gate.all(std::iter::once(own).chain(others))
            })
        };
        let results = if limited { within(until, end_all, measure) } else { measure() };
        if limited && results.is_err() && control.left().is_zero() {
            return Err(control.too_late());
        }
        let (threads, usages): (Vec<_>, Vec<_>) = results?.into_iter().unzip();
        Ok(Outcome { threads: threads.into_iter().flatten().collect(), usage: usages[0], window })
    }
}

/// Ends connections. A thread that polls finds its transfers flushed, or the connection gone; one that waits is woken.
fn end(eps: &[Ep], evds: &Evds) {
    // What has ended already is no error here.
    for ep in eps {
        let _ = ep.disconnect(DAT_CLOSE_ABRUPT_FLAG);
    }
    for evd in [&evds.recv, &evds.request] {
        let _ = evd.set_unwaitable();
    }
}

fn carry_out(worker: &mut Worker, mut pace: Pace<'_>) -> Option<(Option<Measured>, Usage)> {
    let run = if worker.plan.test.is_latency() { latency::run } else { stream::run };
    let result = run(worker, &mut pace);
    let measured = pace.gate.outcome(result)?;
    // Nobody frees what the peer may still use.
    let met = pace.meet();
    pace.gate.outcome(met)?;
    Some((measured, pace.usage()))
}

/// The request that comes with these bytes; others are rejected. A client that has gone would make none.
fn request(psp: &Psp, greeting: &[u8], control: &Control) -> anyhow::Result<Cr> {
    while !control.left().is_zero() {
        if let Some(Event::Request(request)) = psp.requests.wait(control.left().min(LOOK))? {
            if request.query()?.private_data.starts_with(greeting) {
                return Ok(request);
            }
        }
        control.still_connected()?;
    }
    bail!("the client does not connect");
}

/// The private data of a request for a connection of a measurement.
fn greeting(thread: usize, connection: usize) -> Vec<u8> {
    format!("dat-data {thread} {connection}.").into_bytes()
}
