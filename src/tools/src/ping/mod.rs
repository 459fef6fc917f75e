//! dat-ping.
//!
//! A client has two connections to the server, one of them with shared receive queues. The section ROUNDS of the manual
//! page describes a round. The bytes of a transfer depend on its round ([`wire::bytes`]), and each side compares them.
//!
//! Private data identify the protocol and the connections of a client, and contain the size of transfers and the memory
//! for RDMA. With a peer that sends other private data, dat-ping connects, but exchanges no data. One thread of the
//! server serves all clients. It polls if a client requests this, and otherwise waits for one notification object.
//! After a lost round, the client opens the adapter and connects again, so that it does not mistake a late response for
//! the next.

mod arguments;
mod client;
mod connect;
mod report;
mod server;

use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use dat_measure::interrupt::Interrupt;
use dat_measure::node::Node;
use dat_measure::ping::wire;

pub use arguments::Arguments;
use report::Report;

use crate::peer::{Target, child};
use crate::tool::{Found, Outcome, Tool, log_errors, open_adapter};

const PORT: u64 = 18_515;
/// Maximum bytes of a transfer. Each side of a connection takes some ten times as much memory.
const MAX_SIZE: u32 = 64 << 20;
/// Maximum queued events of each kind for a client's connections.
const EVENTS: usize = 32;
/// Receive buffers of a connection. dat-ping sends one message and waits for the response, but other programs may send
/// more.
const RECEIVES: usize = 4;

impl Tool for Arguments {
    const MANUAL: &'static str = include_str!("manual.txt");

    fn run(self) -> anyhow::Result<Outcome> {
        // Without a name, dat-ping tries each adapter, so a failure to open one is no error.
        if self.name.is_some() {
            log_errors();
        }
        if self.peer.is_server() {
            let interrupt = Interrupt::catch().context("cannot catch signals")?;
            let library = self.peer.common.library_with(self.name.as_deref().map(str::as_bytes))?.library;
            return server::run(&self, library, &interrupt);
        }
        let mut report = Report::new(&self);
        let pinged = self.ping(&mut report);
        let shown = report.finish(pinged.as_ref().err());
        pinged.and(shown).map(|()| report.outcome())
    }
}

impl Arguments {
    fn ping(&self, report: &mut Report) -> anyhow::Result<()> {
        let peer = &self.peer;
        let found = peer.common.library_with(self.name.as_deref().map(str::as_bytes))?;
        let library = found.library;
        let interrupt = Interrupt::catch().context("cannot catch signals")?;
        if let Some(deadline) = self.deadline {
            interrupt.set_after(Duration::from_secs_f64(deadline)).context("cannot create a thread")?;
        }
        let adapter = match &self.name {
            Some(name) => name.clone(),
            None => first_that_opens(found)?,
        };
        report.adapter = Some(adapter.clone());

        let start = || child::Server::start(library, peer.common.library.as_deref(), &adapter, []);
        let server = peer.own_peer.then(start).transpose()?;
        let target = Target {
            tool: "dat-ping",
            adapter: &adapter,
            host: peer.host.as_deref(),
            qualifier: server.as_ref().map_or(peer.qualifier.unwrap_or(PORT), |server| server.qualifier),
            timeout: Duration::from_secs_f64(self.timeout),
            interrupt: &interrupt,
        };
        report.qualifier = Some(target.qualifier);
        let interval = if self.flood { Duration::ZERO } else { Duration::from_secs_f64(self.interval) };
        let (size, poll, count) = (self.size, !self.wait, self.count);
        client::run(&connect::Plan { library, target, size, poll, count, interval }, report)
    }
}

/// Returns the first adapter that opens: a configuration may list absent devices.
fn first_that_opens(found: Found) -> anyhow::Result<String> {
    let library = found.library;
    let mut first = None;
    for adapter in found.load()?.adapters {
        let name = adapter.name.to_string_lossy().into_owned();
        match open_adapter(library, &name) {
            Ok(_) => return Ok(name),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(match first {
        Some(error) => error.context("no interface adapter opens"),
        None => anyhow!("there is no interface adapter; `dat-info --explain` shows the cause"),
    })
}

/// Fails unless an adapter supports transfers of `size` bytes.
fn check_size(node: &Node, size: u32) -> anyhow::Result<()> {
    let ia = &node.attributes.ia;
    let largest = ia
        .max_message_size
        .saturating_sub(wire::Head::LENGTH as u64 + 64)
        .min(ia.max_rdma_size)
        .min(ia.max_lmr_block_size / 5)
        .min(u64::from(MAX_SIZE));
    ensure!(u64::from(size) <= largest, "{size} bytes: the maximum for a transfer of this adapter is {largest}");
    Ok(())
}
