//! dat-ping.
//!
//! A client has two connections to the server, of which one has a shared receive queue on either side. In each round it sends
//! a message and gets one back, writes into the server's memory, which writes back, reads the server's memory, and sends and
//! gets a message through the shared receive queues. All bytes follow from the number of the round ([`wire::bytes`]), and
//! each side compares what it gets.
//!
//! | module | contents |
//! |---|---|
//! | [`arguments`] | the arguments |
//! | [`wire`] | what both sides exchange |
//! | [`node`], [`channel`] | an adapter and a connection, on either side |
//! | [`session`], [`client`], [`report`] | the client: its connections, its rounds, what it says |
//! | [`server`] | the server |
//!
//! Private data say which protocol this is, which connections belong together, how long transfers are and where the
//! memory for RDMA is; a peer that says something else is a program that only connects. The server does nothing but
//! react, so it serves several clients with one thread, which waits for all dispatchers by one notification object.
//! Transfers carry the number of their connection in their cookies, because the handle of an endpoint that has gone may
//! come again. A round of reliable connections is lost with its connection, or when its answer is late; then the client
//! opens the adapter anew, so that nothing late is taken for something else.

mod arguments;
mod channel;
mod client;
mod node;
mod report;
mod server;
mod session;
mod wire;

use std::time::Duration;

use anyhow::{Context, anyhow, ensure};

pub use arguments::Arguments;
use client::Pace;
use node::Node;
use report::Report;

use crate::child;
use crate::dat::{Ia, Library};
use crate::interrupt::Interrupt;
use crate::tool::{EXIT_STATUS, Outcome, Section, Tool};

/// The greatest size of a transfer in bytes: either side has some ten times as much memory for a connection.
const MAX_SIZE: u32 = 64 << 20;
/// Events of one kind that a client can have under way, on its two connections.
const EVENTS: usize = 32;

impl Tool for Arguments {
    const SECTIONS: &'static [Section] = &[
        Section {
            heading: "ROUNDS",
            text: "In each round the client sends a message and waits for the answer (send), writes into the memory of the \
                   server by RDMA, which writes back (write), reads memory of the server by RDMA (read), and exchanges \
                   messages that both sides receive from shared receive queues (srq). Each byte is compared. The times are \
                   those of the whole way there and back, with the comparison at the server. The summary has the smallest, the \
                   median, the mean, the greatest and the standard deviation of them; median and deviation are exact to \
                   three digits.\n\nConnections are reliable, so \
                   a round is lost only with its connection, or if the answer takes longer than --timeout. Then the client \
                   says so and tries to connect again with each further round; with --flood and --quiet the summary has the last \
                   round that was lost or wrong. The exit status is 1 if a round was lost or \
                   wrong, and also if none was complete.\n\nA server, or a client, that is another \
                   program is reported as such: only connecting is tried with it.",
        },
        Section {
            heading: "JSON",
            text: "A client writes one document in one line when it ends, also if it fails: adapter, host, address, \
                   qualifier, bytes; peer, which is dat-ping or other, and null like address if nobody was reached; of \
                   another program connect_us, the microseconds until it had accepted; error, a text, if one ended it; \
                   rounds, each with its number in round and either lost, a text, or times in \
                   send_us, write_us, read_us and srq_us, in microseconds, and in wrong a list of texts; and summary with \
                   rounds, complete, lost, wrong, loss_percent, milliseconds and, for each operation in times, minimum_us, \
                   median_us, mean_us, maximum_us and deviation_us, the standard deviation. With --flood and --quiet there \
                   are no rounds; with --timestamps each round has time_s, seconds since 1970; srq is missing if a side has no shared \
                   receive queues. adapter and qualifier are null if the error came before they were known.\n\nA server \
                   writes a document in a line for each event, with the kind of event in event:\n\n  \
                   listening  adapter, address, qualifier\n  \
                   connected  client, its address; bytes of a transfer, or of another program peer, which is other\n  \
                   gone       client; reason, a text; transfers, and wrong, how many of them had wrong bytes\n  \
                   end        clients, transfers and wrong of all clients, also of those still connected",
        },
        Section {
            heading: "EXAMPLES",
            text: "Both sides in one, on this host:\n\n    dat-ping shm --self --count 5\n\nTwo hosts, with a network \
                   interface eth0 at an RDMA device on either:\n\n    dat-ping verbs-eth0\n    dat-ping verbs-eth0 \
                   first.example.org",
        },
        EXIT_STATUS,
        Section { heading: "SEE ALSO", text: "dat-info(1), dat-perf(1), dat.conf(5)" },
    ];

    fn run(self) -> anyhow::Result<Outcome> {
        if self.host.is_none() && !self.self_peer {
            let interrupt = Interrupt::catch().context("signals cannot be caught")?;
            return server::run(&self, self.common.library_with(self.name.as_deref().map(str::as_bytes))?, &interrupt);
        }
        let mut report = Report::new(&self);
        match self.ping(&mut report) {
            Ok(()) => report.finish(),
            Err(error) => {
                report.fail(&error);
                Err(error)
            }
        }
    }
}

impl Arguments {
    /// Is the client.
    fn ping(&self, report: &mut Report) -> anyhow::Result<()> {
        let library = self.common.library_with(self.name.as_deref().map(str::as_bytes))?;
        let interrupt = Interrupt::catch().context("signals cannot be caught")?;
        if let Some(deadline) = self.deadline {
            interrupt.set_after(Duration::from_secs_f64(deadline)).context("there can be no more threads")?;
        }
        let adapter = match &self.name {
            Some(name) => name.clone(),
            None => first_that_opens(library)?,
        };
        report.adapter = Some(adapter.clone());

        let start = || child::Server::start(library, self.common.library.as_deref(), &adapter, []);
        let server = self.self_peer.then(start).transpose()?;
        let qualifier = server.as_ref().map_or(self.qualifier, |server| server.qualifier);
        report.qualifier = Some(qualifier);
        let plan = session::Plan {
            library,
            adapter: &adapter,
            host: self.host.as_deref(),
            qualifier,
            size: self.size,
            timeout: Duration::from_secs_f64(self.timeout),
            interrupt: &interrupt,
        };
        let interval = if self.flood { Duration::ZERO } else { Duration::from_secs_f64(self.interval) };
        client::run(&plan, Pace { count: self.count, interval }, report)
    }
}

/// The first adapter that opens: a configuration may list devices that this host does not have.
fn first_that_opens(library: Library) -> anyhow::Result<String> {
    let mut first = None;
    for adapter in library.adapters()? {
        let name = adapter.name.to_string_lossy().into_owned();
        match Ia::open(library, &name) {
            Ok(_) => return Ok(name),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(match first {
        Some(error) => error.context("no interface adapter opens; name one, such as shm"),
        None => anyhow!("there is no interface adapter; `dat-info --explain` tells why"),
    })
}

/// Checks that an adapter can move this many bytes in one transfer.
fn check_size(node: &Node, size: u32) -> anyhow::Result<()> {
    let ia = &node.attributes.ia;
    let largest = ia
        .max_message_size
        .saturating_sub(wire::Head::LENGTH as u64 + 64)
        .min(ia.max_rdma_size)
        .min(ia.max_lmr_block_size / 5)
        .min(u64::from(MAX_SIZE));
    ensure!(u64::from(size) <= largest, "{size} bytes are too many for a transfer; at most {largest} go");
    Ok(())
}
