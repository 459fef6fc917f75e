//! The server: answers every client until somebody ends it.

use anyhow::Context;
use dat_udat12::*;
use serde_json::json;

use super::channel::{Channel, Done, Message};
use super::node::{Happening, Node};
use super::wire::{self, Area, From, Head, Hello, Operation};
use super::{Arguments, EVENTS, check_size};
use crate::dat::event::event_name;
use crate::dat::memory::most_for_peers;
use crate::dat::{Completion, Connection, Cr, Event, Library, Psp, Region};
use crate::interrupt::Interrupt;
use crate::print;
use crate::tool::Outcome;

/// Clients at a time.
const CLIENTS: usize = 64;
/// Bytes of a message that a program which is no dat-ping may send.
const STRANGE: usize = 16 * 1024;

/// A client with its connections.
struct Client {
    name: String,
    // Endpoints go before the memory that they use.
    channels: Vec<Channel>,
    /// None for a program that is no dat-ping.
    ping: Option<Ping>,
    transfers: u64,
    wrong: u64,
}

/// What clients have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    clients: u64,
    transfers: u64,
    wrong: u64,
}

impl Totals {
    /// With one more client.
    fn with(self, transfers: u64, wrong: u64) -> Self {
        Self { clients: self.clients + 1, transfers: self.transfers + transfers, wrong: self.wrong + wrong }
    }

    /// The status of a server that has had these clients.
    fn outcome(self) -> Outcome {
        if self.wrong == 0 { Outcome::Fine } else { Outcome::Failure }
    }
}

/// Bytes that a client has the server take: memory for RDMA, and two connections.
fn memory_for(size: u32) -> u64 {
    Area::ALL * u64::from(size) + 2 * Channel::memory(size as usize)
}

/// What the server has for a dat-ping.
struct Ping {
    hello: Hello,
    memory: Region,
}

struct Server<'a> {
    arguments: &'a Arguments,
    clients: Vec<Client>,
    /// Of the clients that have gone.
    past: Totals,
    // The adapter goes last.
    node: Node,
}

/// Listens, and answers clients; with `--announce` on any qualifier, which is printed.
pub fn run(arguments: &Arguments, library: Library, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let adapter = arguments.name.as_deref().unwrap_or_default();
    let node = Node::open(library, adapter, EVENTS * CLIENTS)?;
    let qualifier = (!arguments.announce).then_some(arguments.qualifier);
    let psp = Psp::new(&node.ia, qualifier, &node.requests).with_context(|| match qualifier {
        Some(qualifier) => format!("qualifier {qualifier} cannot be listened on; --qualifier chooses another one"),
        None => "no qualifier can be listened on".to_owned(),
    })?;
    let mut server = Server { arguments, clients: Vec::new(), past: Totals::default(), node };
    if arguments.announce {
        print::line(psp.qualifier())?;
    }
    let address = server.node.attributes.address.map(|address| address.ip());
    let at = address.map(|address| format!(" ({address})")).unwrap_or_default();
    server.say(
        json!({ "event": "listening", "adapter": adapter, "address": address, "qualifier": psp.qualifier() }),
        format!("dat-ping {adapter}{at}: waiting for clients on qualifier {}", psp.qualifier()),
    )?;
    while arguments.count.is_none_or(|count| server.past.clients < count) {
        match server.node.next(None, interrupt, server.polls())? {
            Happening::Interrupted => break,
            Happening::TimeUp => {}
            Happening::Event(Event::Request(request)) => server.request(request),
            Happening::Event(Event::Completion(completion)) => server.completion(&completion)?,
            Happening::Event(Event::Connection(event)) => server.connection(&event)?,
            Happening::Event(Event::Other) => {}
        }
    }
    let totals = server.totals();
    let Totals { clients, transfers, wrong } = totals;
    server.say(
        json!({ "event": "end", "clients": clients, "transfers": transfers, "wrong": wrong }),
        format!("\nclients: {clients}, transfers: {transfers}, wrong: {wrong}"),
    )?;
    Ok(totals.outcome())
}

impl Server<'_> {
    /// What all clients have done, also those that are still connected.
    fn totals(&self) -> Totals {
        self.clients.iter().fold(self.past, |totals, client| totals.with(client.transfers, client.wrong))
    }

    /// Returns whether a client is connected that asks the server to poll.
    fn polls(&self) -> bool {
        self.clients.iter().any(|client| client.ping.as_ref().is_some_and(|ping| ping.hello.polls))
    }

    fn request(&mut self, request: Cr) {
        if let Err(error) = self.admit(request) {
            print::complain(format_args!("dat-ping: a client could not be admitted: {error:#}"));
        }
    }

    /// Accepts a request; it is rejected on any error.
    fn admit(&mut self, request: Cr) -> anyhow::Result<()> {
        let asked = request.query()?;
        let name = asked.address.map_or("a peer".to_owned(), |address| address.ip().to_string());
        let Some(hello) = Hello::from_bytes(&asked.private_data) else {
            self.make_room(&name, 0)?;
            let channel = Channel::new(&self.node, STRANGE, false)?;
            request.accept(&channel.ep, &[])?;
            self.clients.push(Client { name, channels: vec![channel], ping: None, transfers: 0, wrong: 0 });
            return Ok(());
        };
        let size = hello.size as usize;
        if hello.channel == 1 {
            let of = |client: &&mut Client| client.is(&hello) && client.channels.len() == 1;
            let client = self.clients.iter_mut().find(of).context("it belongs to no connection")?;
            let channel = Channel::new(&self.node, size, self.node.has_srq())?;
            request.accept(&channel.ep, &[])?;
            client.channels.push(channel);
            return Ok(());
        }
        self.make_room(&name, hello.size)?;
        anyhow::ensure!(size > 0, "{name}: transfers of no bytes");
        check_size(&self.node, hello.size)?;
        let memory = Region::new(&self.node.pz, size * Area::ALL as usize, DAT_MEM_PRIV_ALL_FLAG)?;
        let channel = Channel::new(&self.node, size, false)?;
        let memory_for_client = memory.remote(0, memory.length());
        let answer = Hello { shared: self.node.has_srq(), memory: memory_for_client, ..hello };
        request.accept(&channel.ep, &answer.to_bytes())?;
        let ping = Some(Ping { hello, memory });
        self.clients.push(Client { name, channels: vec![channel], ping, transfers: 0, wrong: 0 });
        Ok(())
    }

    /// Whether there is room for one more client, with transfers of this size.
    fn make_room(&self, name: &str, size: u32) -> anyhow::Result<()> {
        anyhow::ensure!(self.clients.len() < CLIENTS, "{name}: {CLIENTS} clients are connected");
        let sizes = self.clients.iter().map(|client| client.ping.as_ref().map_or(0, |ping| ping.hello.size));
        let (memory, most) = (sizes.chain([size]).map(memory_for).sum::<u64>(), most_for_peers());
        anyhow::ensure!(
            memory <= most,
            "{name}: clients would need {} MiB; {} MiB is the most",
            memory >> 20,
            most >> 20
        );
        Ok(())
    }

    fn completion(&mut self, completion: &Completion) -> anyhow::Result<()> {
        for index in 0..self.clients.len() {
            let client = &mut self.clients[index];
            for place in 0..client.channels.len() {
                let result = match (client.channels[place].done(completion), completion.succeeded()) {
                    (Done::Stranger, _) | (_, Ok(false)) => continue,
                    (Done::Message(message), Ok(true)) => client.answer(place, message),
                    (_, outcome) => outcome.map(drop),
                };
                return result.or_else(|error| self.gone(index, &error.to_string()));
            }
        }
        Ok(())
    }

    fn connection(&mut self, event: &Connection) -> anyhow::Result<()> {
        let has = |client: &Client| client.channels.iter().position(|channel| channel.raw() == event.ep);
        let Some(index) = self.clients.iter().position(|client| has(client).is_some()) else { return Ok(()) };
        if event.number != DAT_CONNECTION_EVENT_ESTABLISHED {
            return self.gone(index, event_name(event.number));
        }
        let client = &self.clients[index];
        if has(client) != Some(0) {
            return Ok(());
        }
        let name = &client.name;
        match &client.ping {
            Some(ping) => self.say(
                json!({ "event": "connected", "client": name, "bytes": ping.hello.size }),
                print::styled(
                    print::GOOD,
                    format!("{name} has connected, {} a transfer", print::counted(ping.hello.size.into(), "byte")),
                ),
            ),
            None => self.say(
                json!({ "event": "connected", "client": name, "peer": "other" }),
                print::styled(print::GOOD, format!("{name} has connected; it is no dat-ping, so no data is exchanged")),
            ),
        }
    }

    /// A client has gone, or is sent away.
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
        // What is under way to the client ends before its memory goes.
        for channel in &client.channels {
            let _ = channel.ep.disconnect(DAT_CLOSE_ABRUPT_FLAG);
        }
        said
    }

    /// Writes a line, unless a client has started this server for itself.
    fn say(&self, value: serde_json::Value, text: String) -> anyhow::Result<()> {
        match (self.arguments.announce, self.arguments.common.json) {
            (true, _) => Ok(()),
            (_, true) => print::line(value),
            (_, false) => print::line(text),
        }
    }
}

impl Client {
    /// Whether it is the one that says hello.
    fn is(&self, hello: &Hello) -> bool {
        self.ping.as_ref().is_some_and(|ping| ping.hello.session == hello.session && ping.hello.size == hello.size)
    }

    /// Checks the bytes of a message, or of the RDMA write before it, and answers with others.
    fn answer(&mut self, place: usize, message: Message) -> anyhow::Result<()> {
        let channel = &mut self.channels[place];
        let head = channel.head(message);
        let (Some(head), Some(Ping { hello, memory })) = (head, &self.ping) else {
            // It is no dat-ping; its messages are taken, and that is all.
            self.transfers += 1;
            return channel.give_back(message);
        };
        let Head { operation, round, .. } = head;
        let bytes = |operation, from| wire::bytes(round, operation, from);
        let size = hello.size as usize;
        let wrong = match operation {
            Operation::Send | Operation::Srq => {
                let wrong = channel.first_wrong(message, bytes(operation, From::Client));
                // The buffer is there again before the client can send the next message.
                channel.give_back(message)?;
                channel.send(Head { wrong, ..head }, Some(bytes(operation, From::Server)))?;
                wrong
            }
            Operation::Write => {
                let landing = Area::Landing as usize * size;
                memory.sync_rdma_write(landing, size)?;
                let wrong = memory.first_difference(landing, size, bytes(operation, From::Client));
                channel.give_back(message)?;
                // What the client reads next.
                let readable = Area::Readable as usize * size;
                memory.stamp(readable, size, bytes(Operation::Read, From::Server));
                memory.sync_rdma_read(readable, size)?;
                let source = Area::Source as usize * size;
                memory.stamp(source, size, bytes(operation, From::Server));
                let (segment, remote) = (memory.segment(source, size), hello.area(Area::Landing));
                channel.ep.post_rdma_write(segment, remote, channel.rdma_cookie(0))?;
                let wrong = wrong.map(|place| place as u32);
                channel.send(Head { wrong, ..head }, None)?;
                wrong
            }
            Operation::Read => anyhow::bail!("it reports an RDMA read"),
        };
        self.transfers += 1;
        self.wrong += u64::from(wrong.is_some());
        Ok(())
    }
}

#[cfg(test)]
mod tests;
