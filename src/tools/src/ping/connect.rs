//! Connects the client to a server.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::time::Duration;

use anyhow::ensure;
use dat::sys::DAT_MEM_PRIV_ALL_FLAG;
use dat::{Library, Region};
use dat_measure::channel::Channel;
use dat_measure::node::Node;
use dat_measure::ping::session::{Session, disconnect};
use dat_measure::ping::wire::{Area, Head, Hello};
use dat_measure::stop::Stop;

use super::{EVENTS, RECEIVES};
use crate::peer::Target;
use crate::peer::connect::Connected;
use crate::tool::open_adapter;

pub struct Plan<'a> {
    pub library: Library,
    pub target: Target<'a>,
    pub size: u32,
    /// Set if this side polls, and requests that the server polls.
    pub poll: bool,
    /// Number of rounds; `None` for no limit.
    pub count: Option<u64>,
    /// Time from the start of a round to the start of the next.
    pub interval: Duration,
}

pub enum Peer {
    Session(Box<Session>),
    /// A program other than dat-ping accepted: its address, and the duration of the attempt.
    Other(IpAddr, Duration),
}

/// Opens the adapter and connects. The inner error is a failed attempt to connect, with a hint for the user.
pub fn connect(plan: &Plan) -> anyhow::Result<Result<Peer, (Stop, String)>> {
    let node = Node::new(&open_adapter(plan.library, plan.target.adapter)?, EVENTS)?;
    super::check_size(&node, plan.size)?;
    let size = plan.size as usize;
    let memory = Region::new(&node.pz, size * Area::ALL as usize, DAT_MEM_PRIV_ALL_FLAG)?;
    let hello = Hello {
        shared: node.has_srq(),
        polls: plan.poll,
        channel: 0,
        size: plan.size,
        session: RandomState::new().hash_one(std::process::id()),
        memory: memory.remote(0, memory.length()),
    };
    let create = |shared| Channel::new(&node, Head::LENGTH + size, RECEIVES, shared);
    let Connected { host, channel, answer, took } =
        match plan.target.connect(&node, || create(false), &hello.to_bytes())? {
            Ok(connected) => connected,
            Err(stop) => return Ok(Err(stop)),
        };
    let mut channels = vec![channel];
    let Some(server) = Hello::from_bytes(&answer) else {
        disconnect(&node, &channels, plan.target.interrupt);
        return Ok(Ok(Peer::Other(host, took)));
    };
    let (theirs, own) = (server.size, plan.size);
    ensure!(theirs == own, "{host}: the server uses {theirs} bytes per transfer instead of {own}");
    if server.shared && hello.shared {
        let channel = create(true)?;
        let hello = Hello { channel: 1, ..hello };
        if let Err(stop) = plan.target.establish(&node, &channel, host, &hello.to_bytes()) {
            let provider = &node.attributes.provider.provider_name;
            let hint = plan.target.hint(provider, host, matches!(stop, Stop::Late(_)));
            return Ok(Err((stop, hint)));
        }
        channels.push(channel);
    }
    let (poll, timeout, interrupt) = (plan.poll, plan.target.timeout, plan.target.interrupt.clone());
    Ok(Ok(Peer::Session(Box::new(Session { address: host, channels, memory, server, node, poll, timeout, interrupt }))))
}
