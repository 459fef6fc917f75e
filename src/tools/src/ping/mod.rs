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
            text: "In each round, the client performs four operations:\n\n  \
                   send     The client sends a message and waits for the reply.\n  \
                   write    The client writes to the memory of the server by RDMA, and the\n  \
                   \u{20}        server writes back.\n  \
                   read     The client reads the memory of the server by RDMA.\n  \
                   srq      As send, but both sides receive from shared receive queues.\n\n\
                   Each side compares every byte that it receives. A time is the time of the whole round trip, \
                   including the comparison at the server. The summary contains the minimum, median, mean, \
                   maximum and standard deviation of the times; median and deviation are exact to three \
                   digits.\n\n\
                   During a round, both sides poll, so each side occupies a CPU; the server polls until the \
                   client disconnects. With --wait, both sides sleep until a message arrives, and the times \
                   include the wake-ups. The first line states whether the sides poll. The client sleeps \
                   between rounds, so the caches are cold at the beginning of a round. Therefore a client that \
                   polls repeats each operation ten times and reports the shortest time.\n\n\
                   Connections are reliable, so a round is lost only if its connection ends or the reply takes \
                   longer than --timeout. The client then reports the loss, and tries to connect again in each \
                   further round. With --flood or --quiet, the summary contains the last round that was lost \
                   or wrong. The exit status is 1 if a round was lost or wrong, or if no round was complete.\n\n\
                   If the peer is another program, dat-ping reports this and only connects.",
        },
        Section {
            heading: "JSON",
            text: "When a client ends, it writes one document in one line, even if it fails:\n\n  \
                   adapter, qualifier      the adapter and the qualifier of the server;\n  \
                   \u{20}                       null if an error occurred before they were\n  \
                   \u{20}                       known\n  \
                   host, address           the name and the address of the server; address\n  \
                   \u{20}                       is null if no server was reached\n  \
                   bytes                   the bytes of a transfer\n  \
                   peer                    dat-ping or other; null if no server was reached\n  \
                   connect_us              for other, the microseconds until it accepted\n  \
                   polls                   true if both sides poll\n  \
                   error                   the text of an error that ended the client\n  \
                   rounds                  a list of rounds, not with --flood or --quiet:\n  \
                   \u{20} round                 the number of the round\n  \
                   \u{20} lost                  a text, if the round was lost\n  \
                   \u{20} send_us, write_us,    otherwise the times of the operations, in\n  \
                   \u{20} read_us, srq_us       microseconds\n  \
                   \u{20} wrong                 and a list of texts about wrong bytes\n  \
                   \u{20} time_s                with --timestamps, seconds since 1970\n  \
                   summary:\n  \
                   \u{20} rounds, complete,     the numbers of rounds\n  \
                   \u{20} lost, wrong\n  \
                   \u{20} loss_percent          the part of the rounds that was lost\n  \
                   \u{20} milliseconds          the time of all rounds\n  \
                   \u{20} times                 for each operation, minimum_us, median_us,\n  \
                   \u{20}                       mean_us, maximum_us and deviation_us, the\n  \
                   \u{20}                       standard deviation\n\n\
                   The operation srq is missing if a side has no shared receive queues.\n\n\
                   A server writes one line for each event, a document with the kind of the event in event:\n\n  \
                   listening   adapter, address, qualifier\n  \
                   connected   client, its address; bytes of a transfer, or peer, which is\n  \
                   \u{20}           other, if the client is another program\n  \
                   gone        client; reason, a text; transfers; wrong, the number of\n  \
                   \u{20}           transfers with wrong bytes\n  \
                   end         clients, transfers and wrong of all clients, including the\n  \
                   \u{20}           clients that are still connected",
        },
        Section {
            heading: "EXAMPLES",
            text: "Both sides on this host:\n\n  \
                   \u{20} dat-ping shm --self --count 5\n\n\
                   Two hosts, each with a network interface eth0 of an RDMA device:\n\n  \
                   \u{20} dat-ping verbs-eth0\n  \
                   \u{20} dat-ping verbs-eth0 first.example.org",
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
