//! A connection of shm whose peer writes arbitrary records, ring positions and words to the shared memory.

use std::sync::Arc;

use dat_core::event::Transfer;
use dat_core::testing::End;
use dat_core::transport::{RemoteSegment, Scope};
use dat_core::{Base, Change, CompletionFlags, LocalSegment, Rights, Rmr, Srq};
use dat_shm::Shm;
use dat_shm::fuzzing::{self, Peer, RECORDS, Way};

use crate::input::Input;
use crate::victim::{self, Ledger, MEMORY, OPEN, THEIRS, Victim, Work};

const STEPS: usize = 96;

/// Bytes from this value on choose variants that were added later, so that older inputs in the corpus keep their
/// meaning.
const RARE: u8 = 0xe8;

struct Session<'a> {
    victim: &'a Victim,
    end: &'a End<Shm>,
    srq: Option<&'a Arc<Srq<Shm>>>,
    peer: &'a Peer,
    ways: [Way; 2],
    /// A window that is bound to the first half of the open memory. Its addresses begin with 0.
    window: Option<Shown>,
    ledger: Ledger,
}

struct Shown {
    rmr: Arc<Rmr<Shm>>,
    key: u32,
}

impl Shown {
    fn new(victim: &Victim, end: &End<Shm>, scope: Scope) -> Shown {
        let rmr = Rmr::create(&victim.adapter.pz, scope).expect("a window");
        let (lmr, rights) = (Some(victim.open.lmr()), Rights::REMOTE_READ | Rights::REMOTE_WRITE);
        let shown = victim.open.at(0, OPEN / 2);
        let bound = end.ep.post_bind(&rmr, lmr, shown, rights, Base::Zero, 0, CompletionFlags::SUPPRESS);
        Shown { key: bound.expect("a connection that is up"), rmr }
    }
}

/// Runs an input: a byte of options, and steps of the peer and the program. Checks that all calls return, each posted
/// buffer completes once, no byte outside of posted and open memory changes, and other peers are unaffected.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let how = input.byte();
    let mut victim = victim::get();
    let srq = (how & 2 != 0).then(|| victim.adapter.srq(64));
    let end = match &srq {
        Some(srq) => victim.adapter.end_on(srq),
        None => victim.adapter.end(),
    };
    let (peer, attempt) = victim.connected(&end, how & 1 == 0);
    let way = |side| peer.way(attempt.index, side).expect("memory of rings");
    let ways = [way(0), way(1)];
    let scope = if how & 16 == 0 { Scope::Endpoint } else { Scope::Zone };
    let window = (how & 8 != 0).then(|| Shown::new(&victim, &end, scope));
    let ledger = Ledger::default();
    let mut session = Session { victim: &victim, end: &end, srq: srq.as_ref(), peer: &peer, ways, window, ledger };
    for _ in 0..STEPS {
        if input.is_over() {
            break;
        }
        session.step(&mut input);
    }
    session.ledger.drain_events(&end);
    let Session { ledger, window, .. } = session;
    if how & 4 != 0 {
        // The peer closes the connection; its earlier records still count.
        drop(peer);
        victim.synchronize();
    }
    ledger.close(&victim.memory, end, srq);
    if let Some(Shown { rmr, .. }) = window {
        rmr.free();
    }
    victim.check();
}

impl Session<'_> {
    fn step(&mut self, input: &mut Input<'_>) {
        let what = input.byte();
        if what >= RARE {
            let work = Work::extended(what, input);
            return self.request(input, work);
        }
        match what % 22 {
            0..=4 => {
                let ring = usize::from(input.byte() & 1);
                let kind = match usize::from(input.byte()) {
                    rare if rare >= usize::from(RARE) => RECORDS[10 + rare % 5],
                    kind => RECORDS[kind % 10],
                };
                let flags = input.byte();
                let payload = self.payload(input);
                let aux = if input.bit() { payload.len() as u64 } else { input.number() };
                // A wrong consumer position is usually too large, and ends the connection, so choose it rarely.
                let credit = if input.byte() < 0xf0 { 0 } else { input.short().into() };
                self.ways[0].put(ring, kind, flags, aux, credit, &payload);
                self.peer.mark(1, 0);
            }
            5 => {
                let (slot, first, aux) = (input.number(), input.long(), input.number());
                self.ways[0].header(usize::from(input.byte()), slot, [first, aux]);
            }
            6 => {
                let (ring, at) = (usize::from(input.byte()), input.number());
                let payload = self.payload(input);
                self.ways[usize::from(input.byte() & 1)].bytes(ring, at, &payload);
            }
            7 => {
                let ring = usize::from(input.byte());
                let (by, to) = (input.byte() as i8, input.bit().then(|| input.number()));
                let change = |now: u64| to.unwrap_or(now.wrapping_add_signed(by.into()));
                self.ways[1].moves(ring, change);
            }
            8 => {
                let (ring, which, value) = (usize::from(input.byte()), input.byte(), input.number() as u32);
                // The words that a peer writes are next to the ring that it fills.
                self.ways[0].flag(ring, usize::from(which & 3), value);
            }
            9 => self.peer.mark(input.byte(), input.number() as u32),
            10 | 11 => {
                let segment = self.segment(input);
                self.ledger.receive(self.end, self.srq, segment, self.victim.memory.lmr().addr());
            }
            12 => self.request(input, Work::Plain(Transfer::Send)),
            13 => self.request(input, Work::Plain(Transfer::Write)),
            14 => self.request(input, Work::Plain(Transfer::Read)),
            15..=17 => self.ledger.drain_events(self.end),
            18 => {
                let attempt = fuzzing::Attempt { active: 0, index: 0, number: 1 };
                let kind = input.byte() % fuzzing::KINDS;
                let _ = self.peer.send(&fuzzing::packet(kind, attempt, input.number(), input.bytes(64)), &[]);
            }
            19 => {
                let _ = self.end.ep.disconnect(input.bit());
            }
            20 => {
                // The words of slots are eight apart.
                let word = usize::from(input.byte()) * 8 + if input.bit() { 0 } else { usize::from(input.short()) };
                let at = if input.bit() { 1024 + word } else { word };
                self.peer.scribble(at, input.number());
            }
            _ => {
                // Deregisters memory, which revokes the access of all peers.
                drop(self.victim.adapter.buffer(64));
            }
        }
    }

    fn segment(&self, input: &mut Input<'_>) -> LocalSegment {
        let at = usize::from(input.short()) % MEMORY;
        let len = input.number() as usize % (MEMORY - at + 1);
        self.victim.memory.at(at, len)
    }

    fn request(&mut self, input: &mut Input<'_>, work: Work) {
        let mut segment = self.segment(input);
        let (addr, key) = self.victim.theirs;
        // The peer is in this process, too, so requests of the program use reserved memory.
        let mut at = usize::from(input.short()) % THEIRS;
        if let Work::Change(_) = work {
            segment.len = segment.len.min(8);
            at -= at % 8;
        }
        let within = (at as u64) + segment.len <= THEIRS as u64;
        let key = if within && input.byte() < 0xf0 { key } else { 0 };
        let remote = RemoteSegment { addr: addr + at as u64, len: segment.len, key };
        let flags = CompletionFlags::from_bits_truncate(u32::from(input.byte()));
        self.ledger.request(self.end, work, segment, remote, flags, self.victim.memory.lmr().addr());
    }

    /// Returns the payload of a record: arbitrary bytes, or fields with ranges of the program's memory.
    fn payload(&self, input: &mut Input<'_>) -> Vec<u8> {
        let what = input.byte();
        if what >= RARE {
            let (addr, key, _) = self.range(input);
            return match what % 4 {
                0 => input.word().to_le_bytes().to_vec(),
                1 => key.to_le_bytes().to_vec(),
                2 => fuzzing::atomic(addr & !7, key, Change::Add(input.number())).to_vec(),
                _ => {
                    let change = Change::Swap { expected: input.number(), new: input.number() };
                    fuzzing::atomic(addr, key, change).to_vec()
                }
            };
        }
        match what % 6 {
            0 => input.bytes(255).to_vec(),
            1 => vec![input.byte(); input.number() as usize % 9000],
            2 => {
                let (addr, key, len) = self.range(input);
                fuzzing::target(&RemoteSegment { addr, len, key }).to_vec()
            }
            3 => {
                let (addr, key, len) = self.range(input);
                let mut bytes = fuzzing::target(&RemoteSegment { addr, len, key }).to_vec();
                bytes.resize(bytes.len() + input.number() as usize % 8193, input.byte());
                bytes
            }
            _ => {
                let mut places = Vec::new();
                for _ in 0..input.byte() % 40 {
                    let (addr, key, len) = self.range(input);
                    places.extend(fuzzing::target(&RemoteSegment { addr, len, key }));
                }
                places
            }
        }
    }

    /// Returns the address, key and length of a range in the program's memory. Bits of the input can replace each of
    /// them by an arbitrary value.
    fn range(&self, input: &mut Input<'_>) -> (u64, u32, u64) {
        let victim = self.victim;
        let which = input.byte();
        if let (Some(shown), true) = (&self.window, which & 128 != 0) {
            return (input.number(), shown.key, input.number());
        }
        let regions = [&victim.open, &victim.closed[0], &victim.closed[1], &victim.memory];
        let region = regions[usize::from(which & 3)];
        let at = if which & 4 == 0 { u64::from(input.byte()) } else { input.number() };
        let len = if which & 8 == 0 { input.number() % (OPEN as u64 + 2) } else { input.number() };
        let addr = if which & 16 == 0 { region.lmr().addr().wrapping_add(at) } else { at };
        let key = if which & 32 == 0 { region.lmr().remote_key } else { region.lmr().remote_key ^ input.word() };
        let key = if which & 64 == 0 { key } else { region.lmr().context };
        (addr, key, len)
    }
}
