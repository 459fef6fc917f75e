//! dat-ping.
//!
//! A client has two connections to the server, one of them with shared receive queues. The section ROUNDS of its page describes
//! a round. All bytes follow from the number of the round ([`wire::bytes`]), and each side compares what it receives.
//!
//! | module | contents |
//! |---|---|
//! | [`arguments`] | the arguments |
//! | [`wire`] | what both sides exchange |
//! | [`node`], [`channel`] | an adapter and a connection, on either side |
//! | [`session`], [`client`], [`report`] | the client: its connections, its rounds, what it says |
//! | [`server`] | the server |
//!
//! Private data identify the protocol and the connections of a client, and contain the size of transfers and the memory for
//! RDMA. With other private data a peer only connects. The server serves all clients with one thread, which polls if a client
//! asks for it and otherwise waits for one notification object. Cookies contain the number of the connection, since handles
//! of freed endpoints are reused. After a lost round the client opens the adapter anew, so that no late answer is mistaken
//! for another.

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
            text: "In each round the client performs four operations. send: it sends a message and waits for the answer. write: it \
                   writes to memory of the server by RDMA, and the server writes back. read: it reads memory of the server by \
                   RDMA. srq: both sides receive messages from shared receive queues. Each side compares every byte that it \
                   receives. A time is that of the whole round trip, including the comparison at the server. The summary \
                   contains the minimum, median, mean, maximum and standard deviation; median and deviation are exact to three \
                   digits.\n\nDuring a round both sides poll, so each occupies a CPU; the server does so until the client \
                   disconnects. With --wait they sleep until a message arrives, and the times include waking up. The first line \
                   states which. The client sleeps between rounds, so the caches are cold at the beginning of a round. A client \
                   that polls therefore repeats each operation ten times and takes the shortest time.\n\nConnections are reliable, so a round is lost only if its connection \
                   ends or the answer takes longer than --timeout. Then the client reports it and tries to connect again in each \
                   further round; with --flood and --quiet the summary contains the last round that was lost or wrong. The exit \
                   status is 1 if a round was lost or wrong, or if none was complete.\n\nIf the peer is another program, \
                   dat-ping reports that and only connects.",
        },
        Section {
            heading: "JSON",
            text: "A client writes one document in one line when it ends, also if it fails. adapter, host, address, qualifier \
                   and bytes describe the server; adapter and qualifier are null if an error occurred before they were known, \
                   and address and peer if no server was reached. peer is dat-ping or other; for another program connect_us has \
                   the microseconds until it accepted. polls is true if both sides poll. error is the text of an error that \
                   ended the client. rounds lists the rounds, each with its number in round and either lost, a text, or the \
                   times send_us, write_us, read_us and srq_us in microseconds, and wrong, a list of texts; with --timestamps \
                   also time_s, seconds since 1970. srq is missing if a side has no shared receive queues, and rounds with \
                   --flood and --quiet. summary has rounds, complete, lost, wrong, loss_percent, milliseconds and times, with \
                   minimum_us, median_us, mean_us, maximum_us and deviation_us, the standard deviation, for each \
                   operation.\n\nA server writes one line for each event, a document with the kind of event in event:\n\n  \
                   listening  adapter, address, qualifier\n  \
                   connected  client, its address; bytes of a transfer, or of another program peer, which is other\n  \
                   gone       client; reason, a text; transfers, and wrong, the number of transfers with wrong bytes\n  \
                   end        clients, transfers and wrong of all clients, also of those still connected",
        },
        Section {
            heading: "EXAMPLES",
            text: "Both sides on this host:\n\n    dat-ping shm --self --count 5\n\nTwo hosts, with a network \
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
            poll: !self.wait,
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
