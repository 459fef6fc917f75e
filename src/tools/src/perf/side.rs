//! One process of a measurement: its objects and connections.

use std::net::IpAddr;
use std::time::Duration;

use anyhow::{bail, ensure};
use dat::sys::*;
use dat::{Ia, Pz, event_name};
use dat_measure::perf::limit::Limit;
use dat_measure::perf::plan::{Plan, Transfer};
use dat_measure::perf::worker::{self, Worker};

use super::control::{Control, Message};
use super::listener::{Listener, greeting};
use crate::peer::max_memory;

pub struct Side {
    pub workers: Vec<Worker>,
}

impl Side {
    pub fn new(ia: &Ia, name: &str, plan: &Plan, client: bool, limit: &Limit) -> anyhow::Result<Self> {
        let (adapter, initiator) = (ia.attributes()?, plan.is_initiator(client));
        let max = match plan.test.transfer() {
            Transfer::Send => adapter.ia.max_message_size,
            Transfer::Write | Transfer::Read => adapter.ia.max_rdma_size,
        };
        ensure!(plan.size <= max, "{name}: the maximum size of a transfer is {max} bytes");
        ensure!(plan.threads == 1 || adapter.provider.is_thread_safe, "{name}: the provider is not thread-safe");
        // Checked at the server too, because the client determines the size.
        let (memory, max) = (worker::memory(plan, &adapter.ia, initiator), max_memory());
        ensure!(memory <= max, "it needs {} MiB of memory; the maximum is {} MiB", memory >> 20, max >> 20);
        let pz = Pz::new(ia)?;
        let workers = (0..plan.threads)
            .map(|_| Worker::new(&pz, &adapter, plan, initiator, limit))
            .collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Self { workers })
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

    /// Requests all connections of a measurement from the server at `host`.
    pub fn connect(&self, (host, qualifier): (IpAddr, u64), number: u64, timeout: Duration) -> anyhow::Result<()> {
        for (thread, worker) in self.workers.iter().enumerate() {
            for (connection, ep) in worker.eps.iter().enumerate() {
                ep.connect(host, qualifier, timeout, &greeting(number, thread, connection))?;
                worker.established().map_err(|error| {
                    // No query returns how many connections there can be between two processes, so the error reports
                    // it.
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

    /// Accepts all connections of a measurement.
    pub fn accept(&self, number: u64, listener: &mut Listener, control: &mut Control) -> anyhow::Result<()> {
        for (thread, worker) in self.workers.iter().enumerate() {
            for (connection, ep) in worker.eps.iter().enumerate() {
                listener.connection(&greeting(number, thread, connection), control)?.accept(ep, &[])?;
                worker.established()?;
            }
        }
        Ok(())
    }
}
