//! What the two processes exchange beside a measurement: messages on a connection of their own, of an adapter
//! instance of its own, so that what is measured has nothing but the connections of its plan.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};
use dat_udat12::*;
use serde::{Deserialize, Serialize};

use super::clock::{KEPT, Usage};
use super::goal::Turn;
use super::limit::Deadline;
use super::plan::{MAX_THREADS, Plan};
use super::worker::Target;
use crate::dat::{Completion, Cr, Ep, Evd, Evds, Event, Ia, Pz, Region, ep, event};
use crate::hint::hint;

/// Private data of a request for this connection, and of its acceptance.
pub const GREETING: &[u8] = b"dat-perf 3";

/// What is said when the peer has gone.
pub const GONE: &str = "the peer has gone away";

/// What is said when a peer does not answer.
const NO_ANSWER: &str = "no answer";

/// The most bytes of a message, and of the reason in one.
const LENGTH: usize = 384;
const LONGEST_REASON: usize = 160;
/// Receive buffers: more than messages that can be under way.
const BUFFERS: usize = MAX_THREADS as usize + 16;
/// How long a message may take to leave.
const SENDING: Duration = Duration::from_secs(30);

/// A message, which goes as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// To the server: measure this.
    Plan(Plan),
    /// To the client: connect to this qualifier.
    Ready(u64),
    /// To the client: this cannot be done, for this reason.
    Refused(String),
    /// The memory of a thread that the peer's thread may write and read.
    Memory(Target),
    /// I have come to the next step.
    Meet,
    /// To the server: these transfers come next.
    Turn(Turn),
    /// To the client: what the server has used.
    Report(Usage),
}

impl Message {
    /// That something cannot be done. A long reason is cut, and has no characters of which JSON makes more than two.
    pub fn refused(error: &anyhow::Error) -> Self {
        let mut reason: String = format!("{error:#}").chars().filter(|letter| !letter.is_control()).collect();
        let longest = LONGEST_REASON.min(reason.len());
        reason.truncate((0..=longest).rev().find(|&end| reason.is_char_boundary(end)).unwrap_or(0));
        Message::Refused(reason)
    }

    /// The message in these bytes; none if there is none that can be carried out.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let possible = |message: &Self| match message {
            Message::Plan(plan) => plan.is_possible(),
            Message::Turn(turn) => turn.transfers <= KEPT as u64,
            _ => true,
        };
        serde_json::from_slice(bytes).ok().filter(possible)
    }
}

pub struct Control {
    ep: Ep,
    evds: Evds,
    /// The buffers, and behind them what is sent.
    region: Region,
    /// The longest time of one measurement, at the server of one of its turns, and of waiting for the next one.
    longest: Duration,
    /// When that which began last is over.
    until: Deadline,
}

impl Control {
    /// Connects to a server; an adapter is open, and has this name.
    pub fn connect(ia: &Ia, name: &str, host: IpAddr, qualifier: u64, longest: Duration) -> anyhow::Result<Self> {
        let control = Self::new(ia, longest)?;
        let own = ia.attributes()?.address.map(|address| address.ip());
        control.ep.connect(host, qualifier, longest, GREETING)?;
        let answer = established(&control.evds.connect, longest).map_err(|error| {
            let reason = format!("{error:#}");
            let late = reason.starts_with(NO_ANSWER) || reason == event::event_name(DAT_CONNECTION_EVENT_TIMED_OUT);
            let hint = hint("dat-perf", name, own, host, late);
            anyhow!("no connection to qualifier {qualifier} of {host}: {reason}; {hint}")
        })?;
        if !answer.starts_with(GREETING) {
            bail!("what listens at qualifier {qualifier} of {host} is no dat-perf of this version");
        }
        Ok(control)
    }

    pub fn accept(ia: &Ia, request: Cr, longest: Duration) -> anyhow::Result<Self> {
        let control = Self::new(ia, longest)?;
        request.accept(&control.ep, GREETING)?;
        established(&control.evds.connect, longest)?;
        Ok(control)
    }

    fn new(ia: &Ia, longest: Duration) -> anyhow::Result<Self> {
        let pz = Pz::new(ia)?;
        let evds = Evds::new(ia, [BUFFERS, 8, 8], None)?;
        let local = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
        let region = Region::new(&pz, LENGTH * (BUFFERS + 1), local)?;
        let ep = Ep::new(&pz, &evds, None, &ep::attributes(&ia.attributes()?, LENGTH as u64, BUFFERS, 4))?;
        for buffer in 0..BUFFERS {
            ep.post_recv(region.segment(LENGTH * buffer, LENGTH), buffer as u64)?;
        }
        Ok(Self { ep, evds, region, longest, until: Deadline::after(longest) })
    }

    /// The longest time of one measurement begins now.
    pub fn begin(&mut self) {
        self.until.set_after(self.longest);
    }

    /// When it is over.
    pub fn until(&self) -> Deadline {
        self.until.clone()
    }

    /// What is left of it.
    pub fn left(&self) -> Duration {
        self.until.left()
    }

    /// Sends a message, and returns when it has left.
    pub fn say(&mut self, message: &Message) -> anyhow::Result<()> {
        let offset = LENGTH * BUFFERS;
        let bytes = serde_json::to_vec(message)?;
        self.region.write(offset, &bytes);
        self.ep.post_send(self.region.segment(offset, bytes.len()), 0)?;
        wait(&self.evds.request, Instant::now() + SENDING.min(self.longest))?.context(GONE)?;
        Ok(())
    }

    /// The next message, which must come.
    pub fn hear(&mut self) -> anyhow::Result<Message> {
        match self.hear_or_end()?.context(GONE)? {
            Message::Refused(reason) => bail!("the server refuses: {reason}"),
            message => Ok(message),
        }
    }

    /// The next message; none when the peer has gone away.
    pub fn hear_or_end(&mut self) -> anyhow::Result<Option<Message>> {
        let completion = wait(&self.evds.recv, self.until.moment())
            .map_err(|error| if self.left().is_zero() { self.too_late() } else { error })?;
        completion.map(|completion| self.take(&completion)).transpose()
    }

    /// A message if one is there.
    pub fn poll(&mut self) -> anyhow::Result<Option<Message>> {
        match self.evds.recv.dequeue()? {
            Some(Event::Completion(completion)) => {
                ensure!(completion.succeeded()?, GONE);
                self.take(&completion).map(Some)
            }
            _ if self.left().is_zero() => Err(self.too_late()),
            _ => Ok(None),
        }
    }

    /// Looks whether the peer has gone.
    pub fn still_connected(&self) -> anyhow::Result<()> {
        still_connected(&self.evds.connect)
    }

    /// What is said when the time is up.
    pub fn too_late(&self) -> anyhow::Error {
        anyhow!("it takes longer than {} s (--limit)", self.longest.as_secs())
    }

    /// Returns when the peer calls it too.
    pub fn meet(&mut self) -> anyhow::Result<()> {
        self.say(&Message::Meet)?;
        match self.hear()? {
            Message::Meet => Ok(()),
            other => bail!("the peer says {other:?} and should have met us"),
        }
    }

    /// The reason that the peer gave for an end, if it did.
    pub fn last_words(&mut self) -> Option<String> {
        let until = Instant::now() + Duration::from_secs(2);
        while Instant::now() < until {
            match self.evds.recv.wait(Duration::from_millis(100)) {
                Ok(Some(Event::Completion(completion))) if completion.status == DAT_DTO_SUCCESS => {
                    if let Ok(Message::Refused(reason)) = self.take(&completion) {
                        return Some(reason);
                    }
                }
                Ok(None) => {}
                _ => return None,
            }
        }
        None
    }

    /// Ends the connection after what was said has arrived.
    pub fn close(self) -> anyhow::Result<()> {
        self.ep.disconnect(DAT_CLOSE_GRACEFUL_FLAG)?;
        let until = Instant::now() + SENDING;
        while Instant::now() < until {
            if let Some(Event::Connection(_)) = self.evds.connect.wait(SENDING)? {
                break;
            }
        }
        Ok(())
    }

    /// Reads a message, and posts its buffer again.
    fn take(&mut self, completion: &Completion) -> anyhow::Result<Message> {
        let offset = LENGTH * (completion.cookie as usize).min(BUFFERS - 1);
        let mut bytes = vec![0; (completion.length as usize).min(LENGTH)];
        self.region.read(offset, &mut bytes);
        self.ep.post_recv(self.region.segment(offset, LENGTH), completion.cookie)?;
        Message::decode(&bytes).context("the peer says something that cannot be carried out")
    }
}

/// Waits until a connection is there, and gives the private data that came with it.
///
/// # Errors
/// The name of another event, or that none came in time.
pub fn established(connect: &Evd, longest: Duration) -> anyhow::Result<Vec<u8>> {
    let until = Instant::now() + longest;
    loop {
        match connect.wait(until.saturating_duration_since(Instant::now()))? {
            Some(Event::Connection(connection)) if connection.number == DAT_CONNECTION_EVENT_ESTABLISHED => {
                return Ok(connection.private_data);
            }
            Some(Event::Connection(connection)) => bail!("{}", event::event_name(connection.number)),
            _ if Instant::now() >= until => bail!("{NO_ANSWER} within {longest:.0?}"),
            _ => {}
        }
    }
}

/// Looks whether a connection has ended.
pub fn still_connected(connect: &Evd) -> anyhow::Result<()> {
    match connect.dequeue()? {
        Some(Event::Connection(event)) if event.number != DAT_CONNECTION_EVENT_ESTABLISHED => bail!(GONE),
        _ => Ok(()),
    }
}

/// Waits for the end of a transfer; there is none when the peer has gone away.
fn wait(evd: &Evd, until: Instant) -> anyhow::Result<Option<Completion>> {
    loop {
        match evd.wait(until.saturating_duration_since(Instant::now()))? {
            Some(Event::Completion(completion)) => return Ok(completion.succeeded()?.then_some(completion)),
            _ if Instant::now() >= until => bail!("the peer does not answer"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
