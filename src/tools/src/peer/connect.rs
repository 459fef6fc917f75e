//! Connects to a server, and explains why that failed.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

use anyhow::Context;
use dat::sys::*;
use dat::{Connection, Event, event_name};
use dat_measure::channel::Channel;
use dat_measure::interrupt::Interrupt;
use dat_measure::node::Node;
use dat_measure::stop::{Stop, late};

use crate::shell::operand;

#[derive(Clone, Copy)]
pub struct Target<'a> {
    pub tool: &'static str,
    pub adapter: &'a str,
    /// Name or address of the host; `None` for this host.
    pub host: Option<&'a str>,
    pub qualifier: u64,
    pub timeout: Duration,
    pub interrupt: &'a Interrupt,
}

pub struct Connected {
    pub host: IpAddr,
    pub channel: Channel,
    pub answer: Vec<u8>,
    pub took: Duration,
}

impl Target<'_> {
    /// Connects a channel from `create` to the first address of the host that accepts, with private data `hello`.
    ///
    /// The outer error means that a connection could not be tried. The inner error is the failure of the last address,
    /// with a hint for the user.
    pub fn connect(
        &self,
        node: &Node,
        create: impl Fn() -> anyhow::Result<Channel>,
        hello: &[u8],
    ) -> anyhow::Result<Result<Connected, (Stop, String)>> {
        let own = node.attributes.address.map(|address| address.ip());
        let hosts = match self.host {
            Some(host) => resolve(host, own).with_context(|| format!("{host}: cannot find the address of the host"))?,
            None => vec![own.unwrap_or(IpAddr::from([127, 0, 0, 1]))],
        };
        let provider = &node.attributes.provider.provider_name;
        // A name may have addresses that this adapter cannot reach, such as addresses of the other family.
        let mut last = None;
        for host in hosts {
            let (channel, start) = (create()?, Instant::now());
            match self.establish(node, &channel, host, hello) {
                Ok(answer) => return Ok(Ok(Connected { host, channel, answer, took: start.elapsed() })),
                Err(Stop::Interrupted) => return Ok(Err((Stop::Interrupted, String::new()))),
                Err(stop) => last = Some((self.hint(provider, host, matches!(stop, Stop::Late(_))), stop)),
            }
        }
        let (hint, stop) = last.context("the host has no address")?;
        Ok(Err((stop, hint)))
    }

    /// Connects a channel to one address. Returns the private data of the server.
    pub fn establish(&self, node: &Node, channel: &Channel, host: IpAddr, hello: &[u8]) -> Result<Vec<u8>, Stop> {
        channel.ep.connect(host, self.qualifier, self.timeout, hello)?;
        // One second more, for providers whose event comes later than the timeout.
        let deadline = Instant::now() + self.timeout + Duration::from_secs(1);
        loop {
            match node.next(Some(deadline), self.interrupt, false)? {
                None => return Err(Stop::Late(late(self.timeout))),
                Some(Event::Connection(event)) if event.ep == channel.ep.id() => return self.outcome(event),
                // Dropping a connection request rejects it.
                Some(_) => {}
            }
        }
    }

    fn outcome(&self, event: Connection) -> Result<Vec<u8>, Stop> {
        let reason = match event.number {
            DAT_CONNECTION_EVENT_ESTABLISHED => return Ok(event.private_data),
            DAT_CONNECTION_EVENT_NON_PEER_REJECTED => format!("no server listens on qualifier {}", self.qualifier),
            DAT_CONNECTION_EVENT_PEER_REJECTED => "the server rejected the request".to_owned(),
            DAT_CONNECTION_EVENT_UNREACHABLE => "it cannot be reached".to_owned(),
            DAT_CONNECTION_EVENT_TIMED_OUT => return Err(Stop::Late(late(self.timeout))),
            _ => "the connection attempt failed".to_owned(),
        };
        Err(Stop::Gone(format!("{reason}, {}", event_name(event.number))))
    }

    /// Returns what the user should check if the server at `host` was not reached; `late` if it did not respond in
    /// time.
    pub fn hint(&self, provider: &str, host: IpAddr, late: bool) -> String {
        let here = host.is_loopback() || host::net::interfaces().list.iter().any(|(_, address)| *address == host);
        let qualifier = self.qualifier;
        let condition = match (here, provider) {
            (true, _) if late => return "the server listens but does not respond; is it stopped or busy?".to_owned(),
            (true, "shm") => ", as this user".to_owned(),
            // Only the adapter of the loopback interface listens at a loopback address.
            (true, "tcp") if host.is_loopback() && self.adapter != "tcp-lo" => {
                ", and is this the address that it prints".to_owned()
            }
            (true, _) => String::new(),
            (false, "shm") => return "shm connects only processes of this host".to_owned(),
            (false, "verbs") => ", and does each firewall admit UDP port 4791, if the network is RoCE".to_owned(),
            (false, _) => {
                let port = if qualifier <= u64::from(u16::MAX) { "port" } else { "the port of qualifier" };
                format!(", and does each firewall admit {port} {qualifier}")
            }
        };
        format!("is `{} {}` running there{condition}?", self.tool, operand(self.adapter))
    }
}

/// Returns the addresses of a host, the family of `like` first.
fn resolve(host: &str, like: Option<IpAddr>) -> io::Result<Vec<IpAddr>> {
    // An IPv6 address may be in brackets.
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let mut found: Vec<IpAddr> = (bare, 0).to_socket_addrs()?.map(|address| address.ip()).collect();
    found.sort_by_key(|ip| like.is_some_and(|like| like.is_ipv4() != ip.is_ipv4()));
    found.dedup();
    Ok(found)
}

#[cfg(test)]
mod tests;
