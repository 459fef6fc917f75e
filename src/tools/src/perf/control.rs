//! The control connection, on which the two processes agree on measurements.

use std::collections::VecDeque;
use std::fmt::Display;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};
use dat::sys::{DAT_CLOSE_GRACEFUL_FLAG, DAT_CONNECTION_EVENT_ESTABLISHED};
use dat::{Cr, Event, Ia};
use dat_measure::channel::{Channel, Done};
use dat_measure::node::Node;
use dat_measure::perf::clock::{MAX_STEPS, Usage};
use dat_measure::perf::limit::{GONE, Limit};
use dat_measure::perf::plan::Plan;
use dat_measure::perf::worker::Memory;
use serde::{Deserialize, Serialize};

use super::goal::Turn;
use crate::peer::Target;

/// Private data of the request for a control connection and of its acceptance, with the version of the protocol.
pub const GREETING: &[u8] = b"dat-perf 6";

/// Maximum bytes of a message. The longest is [`Message::Memory`] with all threads.
const MAX_MESSAGE: usize = 16_384;
/// Maximum characters of the reason in [`Message::Refused`].
const MAX_REASON: usize = 160;
/// Receive buffers of the connection: a client sends turns without waiting until a target of RDMA takes them.
const RECEIVES: usize = 64;
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum time to wait for the reason why the peer failed.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(2);

/// A message on the control connection, sent as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// To the server: the next measurement.
    Plan(Plan),
    /// To the client: the number of the measurement, which the client's connection requests must contain.
    Ready(u64),
    /// To the client: the reason why the server failed.
    Refused(String),
    Memory(Vec<Memory>),
    /// To the server: the next transfers.
    Turn(Turn),
    /// To the client: the usage of the server.
    Report(Usage),
}

impl Message {
    /// Creates the message about an error, truncated and without control characters.
    pub fn refused(error: impl Display) -> Self {
        let text = format!("{error:#}");
        Message::Refused(text.chars().filter(|letter| !letter.is_control()).take(MAX_REASON).collect())
    }

    /// Reads a message. Returns `None` for invalid bytes and for numbers out of range.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let is_possible = |message: &Self| match message {
            Message::Plan(plan) => plan.is_possible(),
            Message::Turn(turn) => turn.transfers <= MAX_STEPS as u64,
            _ => true,
        };
        match serde_json::from_slice(bytes).ok().filter(is_possible)? {
            Message::Refused(reason) => Some(Self::refused(reason)),
            message => Some(message),
        }
    }
}

pub struct Control {
    // Declared before its adapter, so that the endpoint is freed first.
    channel: Channel,
    node: Node,
    /// Received messages that no function has returned yet.
    inbox: VecDeque<Message>,
    gone: bool,
    pub limit: Limit,
}

impl Control {
    pub fn connect(ia: &Ia, target: &Target, limit: Limit) -> anyhow::Result<(Self, std::net::IpAddr)> {
        let node = Node::new(ia, RECEIVES)?;
        let connected = target
            .connect(&node, || channel(&node), GREETING)?
            .map_err(|(stop, hint)| anyhow!("{}: {stop}; {hint}", target.host.unwrap_or("this host")))?;
        let host = connected.host;
        let (is_same, qualifier) = (connected.answer.starts_with(GREETING), target.qualifier);
        ensure!(is_same, "{host}: the server on qualifier {qualifier} is not dat-perf of this version");
        Ok((Self::new(node, connected.channel, limit), host))
    }

    pub fn accept(ia: &Ia, request: Cr, limit: Limit) -> anyhow::Result<Self> {
        let node = Node::new(ia, RECEIVES)?;
        let channel = channel(&node)?;
        request.accept(&channel.ep, GREETING)?;
        Ok(Self::new(node, channel, limit))
    }

    fn new(node: Node, channel: Channel, limit: Limit) -> Self {
        Self { channel, node, inbox: VecDeque::new(), gone: false, limit }
    }

    pub fn say(&mut self, message: &Message) -> anyhow::Result<()> {
        let bytes = serde_json::to_vec(message)?;
        self.channel.send(|region, place| {
            region.write(place, &bytes);
            bytes.len()
        })?;
        let until = Instant::now() + SEND_TIMEOUT;
        while self.channel.is_sending() {
            self.handle_event(until)?.context("the peer does not respond")?;
            ensure!(!self.gone, GONE);
        }
        Ok(())
    }

    pub fn hear(&mut self) -> anyhow::Result<Message> {
        match self.hear_or_end()?.context(GONE)? {
            Message::Refused(reason) => bail!("the server refuses: {reason}"),
            message => Ok(message),
        }
    }

    /// Waits for the next message. Returns `None` after the peer disconnected.
    pub fn hear_or_end(&mut self) -> anyhow::Result<Option<Message>> {
        loop {
            if let Some(message) = self.inbox.pop_front() {
                return Ok(Some(message));
            }
            if self.gone {
                return Ok(None);
            }
            if self.handle_event(self.limit.deadline())?.is_none() {
                self.limit.check()?;
            }
        }
    }

    pub fn poll(&mut self) -> anyhow::Result<Option<Message>> {
        self.handle_event(Instant::now())?;
        match self.inbox.pop_front() {
            None if self.gone => bail!(GONE),
            None => self.limit.check().map(|()| None),
            message => Ok(message),
        }
    }

    /// Returns the reason that the peer sent before it failed, or `None` if none arrives in time.
    pub fn last_words(&mut self) -> Option<String> {
        let until = Instant::now() + LAST_WORDS_TIMEOUT;
        loop {
            match self.inbox.pop_front() {
                Some(Message::Refused(reason)) => return Some(reason),
                Some(_) => {}
                None if self.gone => return None,
                None => self.handle_event(until).ok().flatten()?,
            }
        }
    }

    /// Disconnects gracefully: after the sent messages have arrived.
    pub fn close(mut self) -> anyhow::Result<()> {
        self.channel.ep.disconnect(DAT_CLOSE_GRACEFUL_FLAG)?;
        let until = Instant::now() + SEND_TIMEOUT;
        while !self.gone && self.handle_event(until)?.is_some() {}
        Ok(())
    }

    /// Handles one event. Returns `None` if none arrives before `until`.
    fn handle_event(&mut self, until: Instant) -> anyhow::Result<Option<()>> {
        let Some(event) = self.node.next(Some(until), &self.limit.interrupt, false)? else { return Ok(None) };
        match event {
            Event::Completion(completion) => {
                if let Done::Message(message) = self.channel.done(&completion)? {
                    let (region, place) = self.channel.received(message);
                    let mut bytes = vec![0; (message.length as usize).min(MAX_MESSAGE)];
                    region.read(place, &mut bytes);
                    self.channel.give_back(message)?;
                    self.inbox.push_back(Message::decode(&bytes).context("the peer sent an invalid message")?);
                }
            }
            Event::Connection(event) => self.gone |= event.number != DAT_CONNECTION_EVENT_ESTABLISHED,
            Event::Request(_) | Event::Other => {}
        }
        Ok(Some(()))
    }
}

fn channel(node: &Node) -> anyhow::Result<Channel> {
    Channel::new(node, MAX_MESSAGE, RECEIVES, false)
}

#[cfg(test)]
mod tests;
