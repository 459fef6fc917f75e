//! A program with an open adapter `shm`, and its honest neighbours. Targets play peers of it that keep to no rule, in
//! the same process: what a peer claims about its own memory then concerns this process, which is why the memory that
//! such a peer shows to others is set aside for it.
//!
//! The adapter serves all inputs. What an input makes of it is taken down again at its end, and then everything has to
//! be as before.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU8;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use dat_core::event::{ConnectionEvent, Event, Extended, Status, Streams, Transfer};
use dat_core::testing::{Adapter, Buffer, End, next_request, until};
use dat_core::transport::{RemoteSegment, Transport};
use dat_core::{Change, CompletionFlags, Cr, Endpoint, Evd, LocalSegment, Psp, PspMode, Pz, Rights, Srq};
use dat_shm::Shm;
use dat_shm::fuzzing::{self, Attempt, Face, Peer};

use crate::input::Input;

/// Bytes that receives and requests use.
pub const MEMORY: usize = 32 * 1024;
/// Bytes that peers may read and write.
pub const OPEN: usize = 4096;
/// Bytes of a peer's memory.
pub const THEIRS: usize = 16 * 1024;
/// The qualifier at which the program listens.
pub const LISTENS: u64 = 4711;
/// A qualifier without a listener.
const NOBODY: u64 = 4712;

/// The program.
pub struct Victim {
    /// Its adapter.
    pub adapter: Adapter<Shm>,
    /// Connection requests.
    pub requests: Arc<Evd<Shm>>,
    /// Where it meets its peers.
    pub directory: PathBuf,
    /// What peers publish.
    pub face: Face,
    /// Memory of its own, closed to peers, which holds only 0 where nothing was posted.
    pub memory: Buffer<Shm>,
    /// Memory that peers may read and write.
    pub open: Buffer<Shm>,
    /// Memory that no peer may touch, and memory of another zone: both keep their pattern.
    pub closed: [Buffer<Shm>; 2],
    /// Memory of the peers: address, key.
    pub theirs: (u64, u32),
    _psp: Arc<Psp<Shm>>,
    socket: PathBuf,
    control: Peer,
    attempts: u64,
    peers: u64,
}

/// The program, which serves one input at a time.
pub fn get() -> MutexGuard<'static, Victim> {
    static VICTIM: LazyLock<Mutex<Victim>> = LazyLock::new(|| Mutex::new(Victim::new()));
    VICTIM.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// A folder that later processes of this user remove, because nothing of this one runs at its end.
fn folder() -> PathBuf {
    const NAME: &str = "dat-fuzz-";
    let all = std::env::temp_dir();
    for entry in std::fs::read_dir(&all).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(NAME).filter(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()));
        if owner.is_some_and(|pid| !PathBuf::from(format!("/proc/{pid}")).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    all.join(format!("{NAME}{}", std::process::id()))
}

impl Victim {
    fn new() -> Victim {
        let directory = folder();
        let adapter = Adapter::open("shm", directory.to_str().expect("text"));
        let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
        let psp = Psp::create(&adapter.ia, Some(LISTENS), &requests, PspMode::Consumer).expect("a service point");
        let face = Face::new().expect("memory");
        let cells: Vec<AtomicU8> = (0..THEIRS).map(|_| AtomicU8::new(0)).collect();
        let theirs = face.register(cells.leak(), 0).expect("a row");
        let foreign = Pz::create(&adapter.ia).expect("a zone");
        let local = Rights::LOCAL_READ | Rights::LOCAL_WRITE;
        let closed = [adapter.buffer_with(OPEN, local), Buffer::new(&adapter.ia, &foreign, OPEN, Rights::all())];
        for buffer in &closed {
            buffer.paint(0..OPEN, 3);
        }
        let socket = fuzzing::socket_in(&directory).expect("a directory").expect("the process is reachable");
        let control = Peer::connect(&socket, &face).expect("the process is reachable");
        control.hello(u64::MAX, true).expect("a hello");
        let mut victim = Victim {
            memory: adapter.buffer_with(MEMORY, local),
            open: adapter.buffer_with(OPEN, Rights::all()),
            adapter,
            requests,
            directory,
            face,
            closed,
            theirs,
            _psp: psp,
            socket,
            control,
            attempts: 0,
            peers: 0,
        };
        victim.reply();
        victim.settle();
        victim
    }

    /// The next packet for the honest neighbour.
    fn reply(&mut self) -> Vec<u8> {
        let mut packet = None;
        until("a reply to an honest neighbour", || {
            packet = self.control.recv().expect("a neighbour's socket");
            packet.is_some()
        });
        let packet = packet.unwrap_or_default();
        assert!(!packet.is_empty(), "a neighbour lost its link");
        packet
    }

    /// Returns when all that peers have sent is handled: the honest neighbour was answered twice since.
    pub fn settle(&mut self) {
        for _ in 0..2 {
            self.attempts += 1;
            let attempt = Attempt { active: 0, index: 0, number: self.attempts };
            assert!(self.control.send(&fuzzing::packet(0, attempt, NOBODY, b""), &[]).expect("a neighbour's socket"));
            assert_eq!(self.reply(), fuzzing::packet(2, attempt, 0, b""));
        }
    }

    /// A number that no peer has had.
    pub fn number(&mut self) -> u64 {
        self.peers += 1;
        self.peers
    }

    /// A peer that has not said a word.
    pub fn stranger(&self) -> Peer {
        Peer::connect(&self.socket, &self.face).expect("the process is reachable")
    }

    /// The next connection request, if there is one.
    pub fn request(&self) -> Option<Arc<Cr<Shm>>> {
        match self.requests.dequeue() {
            Ok(Event::ConnectionRequest { cr, .. }) => self.adapter.ia.slab.get::<Cr<Shm>>(cr),
            _ => None,
        }
    }

    /// A peer with a connection that is up. With `reads` each side can read the other's memory.
    pub fn connected(&mut self, end: &End<Shm>, reads: bool) -> (Peer, Attempt) {
        let peer = self.stranger();
        let number = self.number();
        assert!(peer.hello(number, reads).expect("a hello"));
        let attempt = Attempt { active: 0, index: 0, number: 1 };
        let hear = || {
            let mut packet = None;
            until("a reply", || {
                packet = peer.recv().expect("a socket");
                packet.is_some()
            });
            packet.unwrap_or_default()
        };
        assert!(!hear().is_empty(), "a hello was not welcome");
        assert!(peer.send(&fuzzing::packet(10, attempt, reads.into(), b""), &[]).expect("a socket"));
        assert!(peer.send(&fuzzing::packet(0, attempt, LISTENS, b"hello"), &[]).expect("a socket"));
        next_request(&self.requests).accept(Some(&end.ep), b"welcome").expect("an endpoint that is free");
        assert!(!hear().is_empty(), "a request was not accepted");
        assert!(peer.send(&fuzzing::packet(3, attempt, 0, b""), &[]).expect("a socket"));
        end.is_told(ConnectionEvent::Established);
        (peer, attempt)
    }

    /// Checks what no input may change.
    pub fn check(&mut self) {
        self.settle();
        for buffer in &self.closed {
            assert!(buffer.shows(0..OPEN, 3), "memory was changed that no peer may touch");
        }
    }
}

/// What is posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A receive, a send, a write, a read.
    Plain(Transfer),
    /// A write that brings this value.
    Value(u32),
    /// An atomic operation.
    Change(Change),
    /// A send that revokes the window of this key.
    Revoke(u32),
}

impl Work {
    /// Reads one that is no [`Work::Plain`].
    pub fn extended(what: u8, input: &mut Input<'_>) -> Work {
        match what % 4 {
            0 => Work::Value(input.word()),
            1 => Work::Change(Change::Add(input.number())),
            2 => Work::Change(Change::Swap { expected: input.number(), new: input.number() }),
            _ => Work::Revoke(input.word()),
        }
    }

    /// What is reported when it ends.
    fn told(self) -> Told {
        match self {
            Work::Plain(transfer) => Told::Plain(transfer),
            Work::Value(_) => Told::Extended(Extended::WriteImmediate),
            Work::Change(Change::Add(_)) => Told::Extended(Extended::FetchAdd),
            Work::Change(Change::Swap { .. }) => Told::Extended(Extended::CompareSwap),
            Work::Revoke(_) => Told::Plain(Transfer::Send),
        }
    }
}

/// The kind of transfer that an event reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Plain(Transfer),
    Extended(Extended),
}

/// What is posted and not complete, and where.
#[derive(Default)]
pub struct Ledger {
    next: u64,
    posted: HashMap<u64, (Told, u64)>,
    /// Requests that complete only if they fail.
    quiet: HashMap<u64, (Told, u64)>,
    /// Parts of the program's memory in which bytes may arrive.
    touched: Vec<(usize, usize)>,
    /// The connection was established.
    established: bool,
    /// The connection has ended.
    over: bool,
}

impl Ledger {
    fn note(&mut self, work: Work, segment: &LocalSegment, quiet: bool, base: u64) {
        let books = if quiet { &mut self.quiet } else { &mut self.posted };
        books.insert(self.next, (work.told(), segment.len));
        if matches!(work, Work::Plain(Transfer::Recv | Transfer::Read) | Work::Change(_)) {
            self.touched.push(((segment.addr - base) as usize, segment.len as usize));
        }
        self.next += 1;
    }

    /// Posts a receive, to the endpoint or its shared queue.
    pub fn receive<T: Transport>(&mut self, end: &End<T>, srq: Option<&Arc<Srq<T>>>, segment: LocalSegment, base: u64) {
        let posted = match srq {
            Some(srq) => srq.post_recv(&[segment], self.next),
            None => end.ep.post_recv(&[segment], self.next, CompletionFlags::DEFAULT),
        };
        if posted.is_ok() {
            self.note(Work::Plain(Transfer::Recv), &segment, false, base);
        }
    }

    /// Posts a request; sends without `remote`.
    pub fn request<T: Transport>(
        &mut self,
        end: &End<T>,
        work: Work,
        segment: LocalSegment,
        remote: RemoteSegment,
        flags: CompletionFlags,
        base: u64,
    ) {
        let ep: &Endpoint<T> = &end.ep;
        let posted = match work {
            Work::Plain(Transfer::Write) => ep.post_write(&[segment], self.next, remote, flags),
            Work::Plain(Transfer::Read) => ep.post_read(&[segment], self.next, remote, flags),
            Work::Plain(_) => ep.post_send(&[segment], self.next, flags),
            Work::Value(value) => ep.post_write_immediate(&[segment], self.next, remote, value, flags),
            Work::Change(change) => ep.post_atomic(&[segment], self.next, remote, change, flags),
            Work::Revoke(key) => ep.post_send_invalidate(&[segment], self.next, key, flags),
        };
        if posted.is_ok() {
            self.note(work, &segment, flags.contains(CompletionFlags::SUPPRESS), base);
        }
    }

    /// Takes the events that there are: each work request completes once, and nothing follows the end of a connection.
    pub fn look<T: Transport>(&mut self, end: &End<T>) {
        for evd in [&end.receives, &end.requests, &end.connections] {
            while let Ok(event) = evd.dequeue() {
                match event {
                    Event::Transfer { cookie, status, len, transfer, .. } => {
                        self.ends(cookie, Told::Plain(transfer), status, len);
                    }
                    Event::Extended { cookie, status, len, operation, .. } => {
                        // The length of a write says nothing of the receive that its value takes.
                        let (told, len) = match operation {
                            Extended::RecvImmediate => (Told::Plain(Transfer::Recv), 0),
                            Extended::RecvInvalidated => (Told::Plain(Transfer::Recv), len),
                            other => (Told::Extended(other), len),
                        };
                        self.ends(cookie, told, status, len);
                    }
                    Event::Bind { status, .. } => {
                        assert_ne!(status, Status::Success, "a bind that is not to be told of")
                    }
                    Event::Connection { kind, .. } => {
                        assert!(!self.over, "{kind:?} after the end");
                        self.established |= kind == ConnectionEvent::Established;
                        self.over = kind != ConnectionEvent::Established;
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }

    fn ends(&mut self, cookie: u64, told: Told, status: Status, len: u64) {
        let quiet = || self.quiet.remove(&cookie).filter(|_| status != Status::Success);
        let posted = self.posted.remove(&cookie).or_else(quiet);
        let (wanted, room) = posted.expect("what was posted completes once");
        assert_eq!(told, wanted);
        assert!(status != Status::Success || len <= room, "{len} bytes went into {room}");
    }

    /// Returns whether the connection has ended.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Returns whether the connection was established.
    pub fn is_established(&self) -> bool {
        self.established
    }

    /// Frees the endpoint and checks that every work request has come back, and that no byte of `memory` was changed elsewhere.
    pub fn close<T: Transport>(mut self, memory: &Buffer<T>, end: End<T>, srq: Option<Arc<Srq<T>>>) {
        end.ep.free().expect("nothing holds the endpoint");
        self.look(&end);
        match srq {
            Some(srq) => {
                assert_eq!(srq.query().outstanding, self.posted.len(), "the shared queue lost a buffer");
                srq.free().expect("no endpoint holds the queue");
            }
            None => assert!(self.posted.is_empty(), "never completed: {:?}", self.posted),
        }
        for evd in [&end.receives, &end.requests, &end.connections] {
            evd.free().expect("no endpoint holds the dispatcher");
        }
        self.touched.sort_unstable();
        let mut at = 0;
        for &(from, len) in &self.touched {
            assert!(from <= at || memory.is_all(at..from, 0), "bytes went where nothing was posted");
            at = at.max(from + len);
        }
        assert!(memory.is_all(at..MEMORY, 0), "bytes went where nothing was posted");
        for (from, len) in self.touched {
            memory.fill(from..from + len, 0);
        }
    }
}
