//! The server, which responds to all clients until it is interrupted, or --count clients have disconnected.

use anyhow::Context;
use dat::sys::*;
use dat::{Connection, Cr, Library, Region, event_name};
use dat_measure::channel::{Channel, SENDS, buffer};
use dat_measure::interrupt::Interrupt;
use dat_measure::node::Node;
use dat_measure::ping::responder::{Client, Ping, ServerEvent, respond};
use dat_measure::ping::wire::{Area, Head, Hello};
use dat_measure::stop::Stop;
use serde_json::json;

use super::{Arguments, EVENTS, PORT, RECEIVES, check_size};
use crate::peer::max_memory;
use crate::print;
use crate::tool::{Outcome, open_adapter};

const MAX_CLIENTS: usize = 64;
/// Maximum bytes of a message from a program other than dat-ping.
const FOREIGN_MESSAGE: usize = 16 * 1024;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    clients: u64,
    transfers: u64,
    wrong: u64,
}

impl Totals {
    fn with(self, transfers: u64, wrong: u64) -> Self {
        Self { clients: self.clients + 1, transfers: self.transfers + transfers, wrong: self.wrong + wrong }
    }

    fn outcome(self) -> Outcome {
        if self.wrong == 0 { Outcome::Fine } else { Outcome::Failure }
    }
}

/// Returns the bytes that the server allocates for a dat-ping: RDMA memory, and the buffers of two connections.
fn memory_for(size: u32) -> u64 {
    let buffer = buffer(Head::LENGTH + size as usize) as u64;
    Area::ALL * u64::from(size) + 2 * (RECEIVES + SENDS) as u64 * buffer
}

struct Server<'a> {
    arguments: &'a Arguments,
    clients: Vec<Client>,
    /// Sums over the clients that have disconnected.
    past: Totals,
    // Declared last, so that the adapter is closed last.
    node: Node,
}

pub fn run(arguments: &Arguments, library: Library, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let adapter = arguments.name.as_deref().unwrap_or_default();
    let node = Node::new(&open_adapter(library, adapter)?, EVENTS * MAX_CLIENTS)?;
    let psp = node.listen(arguments.peer.listen_on(PORT))?;
    let mut server = Server { arguments, clients: Vec::new(), past: Totals::default(), node };
    if arguments.peer.announce {
        print::line(psp.qualifier)?;
    }
    let address = server.node.attributes.address.map(|address| address.ip());
    let at = address.map(|address| format!(" ({address})")).unwrap_or_default();
    server.say(
        json!({ "event": "listening", "adapter": adapter, "address": address, "qualifier": psp.qualifier }),
        format!("dat-ping {adapter}{at}: waiting for clients on qualifier {}", psp.qualifier),
    )?;
    while arguments.count.is_none_or(|count| server.past.clients < count) {
        match respond(&server.node, &mut server.clients, interrupt) {
            Ok(ServerEvent::Request(request)) => server.admit(request).unwrap_or_else(|error| {
                print::complain(format_args!("dat-ping: cannot admit a client: {error:#}"));
            }),
            Ok(ServerEvent::Connection(event)) => server.connection(&event)?,
            Ok(ServerEvent::Failed(index, error)) => server.gone(index, &error.to_string())?,
            Err(Stop::Interrupted) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let connected = server.clients.iter();
    let totals = connected.fold(server.past, |totals, client| totals.with(client.transfers, client.wrong));
    let Totals { clients, transfers, wrong } = totals;
    server.say(
        json!({ "event": "end", "clients": clients, "transfers": transfers, "wrong": wrong }),
        format!("\nclients: {clients}, transfers: {transfers}, wrong: {wrong}"),
    )?;
    Ok(totals.outcome())
}

impl Server<'_> {
    fn admit(&mut self, request: Cr) -> anyhow::Result<()> {
        let asked = request.query()?;
        let name = asked.address.map_or("a peer".to_owned(), |address| address.ip().to_string());
        let Some(hello) = Hello::from_bytes(&asked.private_data) else {
            self.make_room(&name, 0)?;
            return self.accept(name, request, FOREIGN_MESSAGE, &[], None);
        };
        let size = hello.size as usize;
        if hello.channel == 1 {
            let same = |ping: &Ping| ping.hello.session == hello.session && ping.hello.size == hello.size;
            let is_first = |client: &&mut Client| client.channels.len() == 1 && client.ping.as_ref().is_some_and(same);
            let client = self.clients.iter_mut().find(is_first).context("the second connection has no first one")?;
            let channel = Channel::new(&self.node, Head::LENGTH + size, RECEIVES, self.node.has_srq())?;
            request.accept(&channel.ep, &[])?;
            client.channels.push(channel);
            return Ok(());
        }
        self.make_room(&name, hello.size)?;
        anyhow::ensure!(size > 0, "{name}: transfers of no bytes");
        check_size(&self.node, hello.size)?;
        let memory = Region::new(&self.node.pz, size * Area::ALL as usize, DAT_MEM_PRIV_ALL_FLAG)?;
        let memory_for_client = memory.remote(0, memory.length());
        let answer = Hello { shared: self.node.has_srq(), memory: memory_for_client, ..hello };
        self.accept(name, request, Head::LENGTH + size, &answer.to_bytes(), Some(Ping { hello, memory }))
    }

    /// Accepts the first connection of a client.
    fn accept(&mut self, name: String, by: Cr, bytes: usize, answer: &[u8], ping: Option<Ping>) -> anyhow::Result<()> {
        let channel = Channel::new(&self.node, bytes, RECEIVES, false)?;
        by.accept(&channel.ep, answer)?;
        self.clients.push(Client { name, channels: vec![channel], ping, transfers: 0, wrong: 0 });
        Ok(())
    }

    /// Fails if one more client, with transfers of `size` bytes, would exceed [`MAX_CLIENTS`] or [`max_memory`].
    fn make_room(&self, name: &str, size: u32) -> anyhow::Result<()> {
        anyhow::ensure!(self.clients.len() < MAX_CLIENTS, "{name}: {MAX_CLIENTS} clients are connected");
        let sizes = self.clients.iter().map(|client| client.ping.as_ref().map_or(0, |ping| ping.hello.size));
        let (memory, max) = (sizes.chain([size]).map(memory_for).sum::<u64>(), max_memory());
        anyhow::ensure!(memory <= max, "{name}: needs {} MiB for all clients of at most {}", memory >> 20, max >> 20);
        Ok(())
    }

    fn connection(&mut self, event: &Connection) -> anyhow::Result<()> {
        let has = |client: &Client| client.channels.iter().position(|channel| channel.ep.id() == event.ep);
        let Some(index) = self.clients.iter().position(|client| has(client).is_some()) else { return Ok(()) };
        if event.number != DAT_CONNECTION_EVENT_ESTABLISHED {
            return self.gone(index, event_name(event.number));
        }
        let client = &self.clients[index];
        if has(client) != Some(0) {
            return Ok(());
        }
        let name = &client.name;
        let (value, text) = match &client.ping {
            Some(Ping { hello: Hello { size, .. }, .. }) => (
                json!({ "event": "connected", "client": name, "bytes": size }),
                format!("{name} has connected, {} a transfer", print::counted((*size).into(), "byte")),
            ),
            None => (
                json!({ "event": "connected", "client": name, "peer": "other" }),
                format!("{name} has connected; it is not dat-ping, so no data is exchanged"),
            ),
        };
        self.say(value, print::styled(print::GOOD, text))
    }

    /// Removes a client, and disconnects it if necessary.
    fn gone(&mut self, index: usize, reason: &str) -> anyhow::Result<()> {
        let client = self.clients.remove(index);
        self.past = self.past.with(client.transfers, client.wrong);
        let Client { name, transfers, wrong, .. } = &client;
        let text = format!(
            "{name} has gone ({reason}) after {}, {wrong} of them wrong; waiting for the next one",
            print::counted(*transfers, "transfer")
        );
        let style = if *wrong == 0 { print::ATTENTION } else { print::WRONG };
        let said = self.say(
            json!({ "event": "gone", "client": name, "reason": reason, "transfers": transfers, "wrong": wrong }),
            print::styled(style, text),
        );
        // End outstanding transfers before their memory is freed.
        for channel in &client.channels {
            let _ = channel.ep.disconnect(DAT_CLOSE_ABRUPT_FLAG);
        }
        said
    }

    /// Writes `value` with --json, otherwise `text`. A server that `--self` started writes neither.
    fn say(&self, value: serde_json::Value, text: String) -> anyhow::Result<()> {
        match (self.arguments.peer.announce, self.arguments.peer.common.json) {
            (true, _) => Ok(()),
            (_, true) => print::line(value),
            (_, false) => print::line(text),
        }
    }
}

#[cfg(test)]
mod tests;
