//! The socket of a process of shm: packets with descriptors from several malicious peers, interleaved with calls of the
//! program in the process.

use std::sync::Arc;
use std::time::Duration;

use dat_core::Cr;
use dat_core::addr::Address;
use dat_core::testing::{End, request};
use dat_shm::Shm;
use dat_shm::fuzzing::{self, Attempt, Host, KINDS, Peer, Sort};

use crate::input::Input;
use crate::victim::{self, Ledger, QUALIFIER, Victim};

const STEPS: usize = 64;
/// Maximum number of peers, and of the program's endpoints.
const MAX_PEERS: usize = 4;
/// Qualifier on which a peer listens.
const PEER_QUALIFIER: u64 = 4713;

#[derive(Default)]
struct Scene {
    peers: Vec<Peer>,
    requests: Vec<Arc<Cr<Shm>>>,
    ends: Vec<(End<Shm>, Ledger)>,
    host: Option<Host>,
}

/// Checks that the process still answers its well-behaved peer, that endpoints and requests stay usable, and that each
/// posted receive completes.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let mut victim = victim::get();
    let mut scene = Scene::default();
    for _ in 0..STEPS {
        if input.is_over() {
            break;
        }
        scene.step(&mut victim, &mut input);
    }
    scene.finish(&mut victim);
}

impl Scene {
    fn step(&mut self, victim: &mut Victim, input: &mut Input<'_>) {
        match input.byte() % 16 {
            0 | 1 => {
                if self.peers.len() == MAX_PEERS {
                    self.peers.remove(0);
                }
                let peer = victim.connect_peer();
                let number = victim.number();
                if input.byte() < 0xe0 {
                    let _ = peer.hello(number, input.bit());
                }
                self.peers.push(peer);
            }
            2..=5 => {
                let attempt = attempt(input);
                let kind = input.byte() % KINDS;
                let qualifier = if input.bit() { QUALIFIER } else { input.number() };
                let mut packet = fuzzing::packet(kind, attempt, qualifier, input.bytes(64));
                if input.byte() > 0xc0 {
                    let (at, value) = (usize::from(input.short()), input.byte());
                    let len = packet.len();
                    packet[at % len] ^= value;
                }
                self.say(victim, input, &packet);
            }
            6 => {
                let packet = input.bytes(255).to_vec();
                self.say(victim, input, &packet);
            }
            7 => {
                // A valid connection request.
                let attempt = attempt(input);
                let packet = fuzzing::packet(0, attempt, QUALIFIER, b"hello");
                self.say(victim, input, &packet);
            }
            8 => {
                victim.synchronize();
                self.requests.extend(victim.request());
            }
            9 | 10 if !self.requests.is_empty() => {
                let at = usize::from(input.byte()) % self.requests.len();
                let request = self.requests.swap_remove(at);
                if input.byte() < 0xc0 && self.ends.len() < MAX_PEERS {
                    let end = self.end(victim);
                    let _ = request.accept(Some(&end.0.ep), b"welcome");
                    self.ends.push(end);
                } else {
                    let _ = request.reject(&[]);
                }
            }
            11 => self.change_end(input),
            12 if self.ends.len() < MAX_PEERS => self.connect(victim, input),
            13 => {
                let at = usize::from(input.byte()) % MAX_PEERS;
                if at < self.peers.len() {
                    self.peers.remove(at);
                }
            }
            14 => {
                if let Some(peer) = self.peers.last() {
                    peer.mark(input.byte(), input.number() as u32);
                }
            }
            _ => {
                for peer in &self.peers {
                    while peer.recv().is_ok_and(|packet| packet.is_some_and(|packet| !packet.is_empty())) {}
                }
            }
        }
    }

    /// Drains the events of an endpoint, and may disconnect or reset it.
    fn change_end(&mut self, input: &mut Input<'_>) {
        let Some((end, ledger)) = self.ends.get_mut(usize::from(input.byte()) % MAX_PEERS) else { return };
        ledger.drain_events(end);
        match input.byte() % 4 {
            0 => {
                let _ = end.ep.disconnect(input.bit());
            }
            1 => {
                let _ = end.ep.reset();
            }
            _ => {}
        }
    }

    /// Requests a connection to a listening peer. The peer may answer the process's hello.
    fn connect(&mut self, victim: &mut Victim, input: &mut Input<'_>) {
        if self.host.is_none() {
            self.host = Some(Host::listen(&victim.directory, &victim.face, PEER_QUALIFIER).expect("a service point"));
        }
        let end = self.end(victim);
        let timeout = Duration::from_millis(200);
        request(&end.0, &Address::loopback(), PEER_QUALIFIER, Some(timeout), b"hello")
            .expect("an endpoint that is free");
        self.ends.push(end);
        victim.synchronize();
        if let Some(host) = &self.host {
            if let Ok(Some(peer)) = host.accept() {
                if input.byte() < 0xc0 {
                    let _ = peer.welcome(input.bit());
                }
                self.peers.push(peer);
            }
        }
    }

    fn end(&self, victim: &Victim) -> (End<Shm>, Ledger) {
        let (end, mut ledger) = (victim.adapter.end(), Ledger::default());
        for at in 0..2 {
            ledger.receive(&end, None, victim.memory.at(at * 64, 64), victim.memory.lmr().addr());
        }
        (end, ledger)
    }

    fn say(&self, victim: &mut Victim, input: &mut Input<'_>, packet: &[u8]) {
        let Some(peer) = self.peers.get(usize::from(input.byte()) % self.peers.len().max(1)) else { return };
        let mut sorts = Vec::new();
        let how = input.byte();
        if how & 0x80 != 0 {
            for _ in 0..how % 18 {
                sorts.push(match input.byte() {
                    0..=0x7f => Sort::Right,
                    other @ 0x80..=0xbf => Sort::Other(other),
                    0xc0..=0xdf => Sort::Loose,
                    0xe0..=0xff => Sort::File,
                });
            }
        } else if matches!(packet.first(), Some(1)) {
            sorts = vec![Sort::Right; 4];
        }
        let _ = peer.send(packet, &sorts);
        if how & 1 != 0 {
            victim.synchronize();
        }
    }

    fn finish(mut self, victim: &mut Victim) {
        self.peers.clear();
        self.host = None;
        victim.synchronize();
        self.requests.extend(std::iter::from_fn(|| victim.request()));
        for request in self.requests {
            let _ = request.reject(&[]);
        }
        for (end, mut ledger) in self.ends {
            ledger.drain_events(&end);
            ledger.close(&victim.memory, end, None);
        }
        victim.check();
    }
}

fn attempt(input: &mut Input<'_>) -> Attempt {
    let active = u8::from(input.byte() > 0xe0);
    let index = if input.byte() < 0xe0 { u32::from(input.byte() & 6) } else { input.number() as u32 };
    Attempt { active, index, number: input.number() }
}
