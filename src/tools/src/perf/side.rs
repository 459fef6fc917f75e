//! One process of a measurement: its objects and connections.

use std::net::IpAddr;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use dat::sys::*;
use dat::{Cr, Evd, Event, Ia, Library, Psp, Pz, event_name};

use super::control::{Control, Message};
use super::limit::Limit;
use super::plan::{Plan, Transfer};
use super::worker::{self, Worker};
use crate::peer::max_memory;
use crate::tool::open_adapter;

/// Interval at which a server that waits for a connection checks whether the client has disconnected.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

pub struct Side {
    pub workers: Vec<Worker>,
    ia: Ia,
}

impl Side {
    pub fn new(library: Library, name: &str, plan: &Plan, client: bool, limit: &Limit) -> anyhow::Result<Self> {
        let ia = open_adapter(library, name)?;
        let adapter = ia.attributes()?;
        let max = match plan.test.transfer() {
            Transfer::Send => adapter.ia.max_message_size,
            Transfer::Write | Transfer::Read => adapter.ia.max_rdma_size,
        };
        ensure!(plan.size <= max, "{name}: the maximum size of a transfer is {max} bytes");
        ensure!(plan.threads == 1 || adapter.provider.is_thread_safe, "{name}: the provider is not thread-safe");
        // Checked, because the peer determines the size.
        let (memory, max) = (worker::memory(plan, &adapter.ia, client), max_memory());
        ensure!(memory <= max, "it needs {} MiB of memory; the maximum is {} MiB", memory >> 20, max >> 20);
        let pz = Pz::new(&ia)?;
        let workers = (0..plan.threads)
            .map(|_| Worker::new(&pz, &adapter, plan, client, limit))
            .collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Self { workers, ia })
    }

    pub fn listen(&self) -> anyhow::Result<(Psp, Evd)> {
        let requests = Evd::new(&self.ia, 64, DAT_EVD_CR_FLAG, None)?;
        Ok((Psp::new(&self.ia, None, &requests)?, requests))
    }

    pub fn exchange(&mut self, control: &mut Control) -> anyhow::Result<()> {
        control.say(&Message::Memory(self.workers.iter().map(Worker::offer).collect()))?;
        match control.hear()? {
            Message::Memory(all) if all.len() == self.workers.len() => {
                self.workers.iter_mut().zip(all).for_each(|(worker, target)| worker.target = target);
                Ok(())
            }
            other => bail!("the peer sent {other:?} instead of its memory"),
        }
    }

    pub fn connect(&self, host: IpAddr, qualifier: u64, timeout: Duration) -> anyhow::Result<()> {
        for (thread, worker) in self.workers.iter().enumerate() {
            for (connection, ep) in worker.eps.iter().enumerate() {
                ep.connect(host, qualifier, timeout, &greeting(thread, connection))?;
                worker.established().map_err(|error| {
                    // No query returns the maximum connections between two processes.
                    let before = thread * worker.eps.len() + connection;
                    let limits = [DAT_CONNECTION_EVENT_NON_PEER_REJECTED, DAT_CONNECTION_EVENT_UNREACHABLE];
                    let full = before > 0 && limits.into_iter().any(|limit| error.to_string() == event_name(limit));
                    let most =
                        if full { format!("; there is room for {before} to this server") } else { String::new() };
                    error.context(format!("connection {connection} of thread {thread}{most}"))
                })?;
            }
        }
        Ok(())
    }

    /// Accepts all connections of the client, and rejects other requests.
    pub fn accept(&self, requests: &Evd, control: &mut Control) -> anyhow::Result<()> {
        for (thread, worker) in self.workers.iter().enumerate() {
            for (connection, ep) in worker.eps.iter().enumerate() {
                request(requests, &greeting(thread, connection), control)?.accept(ep, &[])?;
                worker.established()?;
            }
        }
        Ok(())
    }
}

/// Waits for the request with this private data. Fails after the client disconnected.
fn request(requests: &Evd, greeting: &[u8], control: &mut Control) -> anyhow::Result<Cr> {
    loop {
        if let Some(Event::Request(request)) = requests.wait(CHECK_INTERVAL)? {
            if request.query()?.private_data.starts_with(greeting) {
                return Ok(request);
            }
        }
        if let Some(message) = control.poll().context("the client does not connect")? {
            bail!("the client sent {message:?} instead of a request");
        }
    }
}

fn greeting(thread: usize, connection: usize) -> Vec<u8> {
    format!("dat-data {thread} {connection}.").into_bytes()
}
