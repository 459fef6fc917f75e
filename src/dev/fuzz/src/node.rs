//! The socket of a process, at which any process of the user may say anything: sequences of packets with descriptors,
//! from several peers, mixed with what the program does.

use std::sync::Arc;
use std::time::Duration;

use dat_core::Cr;
use dat_core::addr::Address;
use dat_core::testing::{End, request};
use dat_shm::Shm;
use dat_shm::fuzzing::{self, Attempt, Host, KINDS, Peer, Sort};

use crate::input::Input;
use crate::victim::{self, LISTENS, Ledger, Victim};

/// Steps of an input.
const STEPS: usize = 64;
/// Peers of an input at a time, and endpoints of the program.
const MOST: usize = 4;
/// The qualifier at which a peer listens.
const HOST: u64 = 4713;

/// What an input has made so far.
#[derive(Default)]
struct Scene {
    peers: Vec<Peer>,
    requests: Vec<Arc<Cr<Shm>>>,
    ends: Vec<(End<Shm>, Ledger)>,
    host: Option<Host>,
}

/// Whatever peers say, the process goes on: its honest neighbour is answered, its endpoints and requests can be used
/// up, and every receive that was posted comes back.
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
                if self.peers.len() == MOST {
                    self.peers.remove(0);
                }
                let peer = victim.stranger();
                let number = victim.number();
                if input.byte() < 0xe0 {
                    let _ = peer.hello(number, input.bit());
                }
                self.peers.push(peer);
            }
            2..=5 => {
                let attempt = attempt(input);
                let kind = input.byte() % KINDS;
                let qualifier = if input.bit() { LISTENS } else { input.number() };
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
                // The usual way up.
                let attempt = attempt(input);
                let packet = fuzzing::packet(0, attempt, LISTENS, b"hello");
                self.say(victim, input, &packet);
            }
            8 => {
                victim.settle();
                self.requests.extend(victim.request());
            }
            9 | 10 if !self.requests.is_empty() => {
                let at = usize::from(input.byte()) % self.requests.len();
                let request = self.requests.swap_remove(at);
                if input.byte() < 0xc0 && self.ends.len() < MOST {
                    let end = self.end(victim);
                    let _ = request.accept(Some(&end.0.ep), b"welcome");
                    self.ends.push(end);
                } else {
                    let _ = request.reject(&[]);
                }
            }
            11 => {
                let end = match self.ends.get_mut(usize::from(input.byte()) % MOST) {
                    Some(end) => end,
                    None => return,
                };
                end.1.look(&end.0);
                match input.byte() % 4 {
                    0 => {
                        let _ = end.0.ep.disconnect(input.bit());
                    }
                    1 => {
                        let _ = end.0.ep.reset();
                    }
                    _ => {}
                }
            }
            12 if self.ends.len() < MOST => {
                // The program connects to a peer that listens.
                if self.host.is_none() {
                    self.host = Some(Host::listen(&victim.directory, &victim.face, HOST).expect("a service point"));
                }
                let end = self.end(victim);
                let patience = Duration::from_millis(200);
                request(&end.0, &Address::loopback(), HOST, Some(patience), b"hello")
                    .expect("an endpoint that is free");
                self.ends.push(end);
                victim.settle();
                if let Some(host) = &self.host {
                    if let Ok(Some(peer)) = host.accept() {
                        let number = victim.number();
                        if input.byte() < 0xc0 {
                            let _ = peer.welcome(number, input.bit());
                        }
                        self.peers.push(peer);
                    }
                }
            }
            13 => {
                let at = usize::from(input.byte()) % MOST;
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

    /// An endpoint with two receives.
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
            victim.settle();
        }
    }

    fn finish(mut self, victim: &mut Victim) {
        self.peers.clear();
        self.host = None;
        victim.settle();
        self.requests.extend(std::iter::from_fn(|| victim.request()));
        for request in self.requests {
            let _ = request.reject(&[]);
        }
        for (end, mut ledger) in self.ends {
            ledger.look(&end);
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
