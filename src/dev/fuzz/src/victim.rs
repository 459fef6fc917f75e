//! A program with an open adapter `shm`, and its well-behaved peer. Targets act as malicious peers in the same process,
//! so the memory that a malicious peer claims as its own is in this process. Only the memory in `theirs` is registered
//! for it.
//!
//! All inputs share the adapter, so each input must restore the state.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU8;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use dat_core::event::{ConnectionEvent, Event, Status, Streams, Transfer};
use dat_core::testing::{Adapter, Buffer, End, next_request, until};
use dat_core::transport::{RemoteSegment, Transport};
use dat_core::{Change, CompletionFlags, Cr, Endpoint, Evd, LocalSegment, Psp, PspMode, Pz, Rights, Srq};
use dat_shm::Shm;
use dat_shm::fuzzing::{self, Attempt, Face, Peer};

use crate::input::Input;

/// Bytes of the memory for receives and requests.
pub const MEMORY: usize = 32 * 1024;
/// Size in bytes of peer-accessible memory.
pub const OPEN: usize = 4096;
/// Size in bytes of a peer's memory.
pub const THEIRS: usize = 16 * 1024;
/// Qualifier of the program's service point.
pub const QUALIFIER: u64 = 4711;
/// A qualifier without a listener.
const UNUSED_QUALIFIER: u64 = 4712;

pub struct Victim {
    pub adapter: Adapter<Shm>,
    pub requests: Arc<Evd<Shm>>,
    pub directory: PathBuf,
    /// The data that a process of shm publishes to its peers. All peers of the program share them, also the
    /// well-behaved peer.
    pub face: Face,
    /// Memory without remote rights, all zero except in posted buffers.
    pub memory: Buffer<Shm>,
    pub open: Buffer<Shm>,
    /// Memory without rights for peers, and memory of another zone. Both keep their pattern.
    pub closed: [Buffer<Shm>; 2],
    /// Address and key of the peers' memory.
    pub theirs: (u64, u32),
    _psp: Arc<Psp<Shm>>,
    socket: PathBuf,
    control: Peer,
    attempts: u64,
    peers: u64,
}

/// Returns the program, locked so that its inputs run in turn.
pub fn get() -> MutexGuard<'static, Victim> {
    static VICTIM: LazyLock<Mutex<Victim>> = LazyLock::new(|| Mutex::new(Victim::new()));
    VICTIM.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// Returns the directory of this process, and removes directories of ended processes.
fn directory() -> PathBuf {
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
        let directory = directory();
        let adapter = Adapter::open("shm", directory.to_str().expect("text"));
        let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
        let psp = Psp::create(&adapter.ia, Some(QUALIFIER), &requests, PspMode::Consumer).expect("a service point");
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
        victim.synchronize();
        victim
    }

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

    /// Waits until the program has handled all packets: sends a request of the well-behaved peer twice, and waits for
    /// the replies.
    pub fn synchronize(&mut self) {
        for _ in 0..2 {
            self.attempts += 1;
            let attempt = Attempt { active: 0, index: 0, number: self.attempts };
            assert!(
                self.control
                    .send(&fuzzing::packet(0, attempt, UNUSED_QUALIFIER, b""), &[])
                    .expect("a neighbour's socket")
            );
            assert_eq!(self.reply(), fuzzing::packet(2, attempt, 0, b""));
        }
    }

    /// Returns a number that no peer has used in its hello.
    pub fn number(&mut self) -> u64 {
        self.peers += 1;
        self.peers
    }

    /// Connects a peer that has not sent its hello.
    pub fn connect_peer(&self) -> Peer {
        Peer::connect(&self.socket, &self.face).expect("the process is reachable")
    }

    pub fn request(&self) -> Option<Arc<Cr<Shm>>> {
        match self.requests.dequeue() {
            Ok(Event::ConnectionRequest { cr, .. }) => self.adapter.ia.arena.get::<Cr<Shm>>(cr),
            _ => None,
        }
    }

    /// Returns a new peer with an established connection to `end`. If `reads` is set, each side can read the other's
    /// memory.
    pub fn connected(&mut self, end: &End<Shm>, reads: bool) -> (Peer, Attempt) {
        let peer = self.connect_peer();
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
        assert!(peer.send(&fuzzing::packet(0, attempt, QUALIFIER, b"hello"), &[]).expect("a socket"));
        next_request(&self.requests).accept(Some(&end.ep), b"welcome").expect("an endpoint that is free");
        assert!(!hear().is_empty(), "a request was not accepted");
        assert!(peer.send(&fuzzing::packet(3, attempt, 0, b""), &[]).expect("a socket"));
        end.is_told(ConnectionEvent::Established);
        (peer, attempt)
    }

    pub fn check(&mut self) {
        self.synchronize();
        for buffer in &self.closed {
            assert!(buffer.shows(0..OPEN, 3), "memory was changed that no peer may touch");
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Plain(Transfer),
    /// A write with this immediate value.
    Value(u32),
    Change(Change),
    /// A send that invalidates the window of this key.
    Revoke(u32),
}

impl Work {
    /// Returns a write with immediate data, an atomic operation or a send that invalidates a window, as `what` selects.
    pub fn extended(what: u8, input: &mut Input<'_>) -> Work {
        match what % 4 {
            0 => Work::Value(input.word()),
            1 => Work::Change(Change::Add(input.number())),
            2 => Work::Change(Change::Swap { expected: input.number(), new: input.number() }),
            _ => Work::Revoke(input.word()),
        }
    }

    fn reported(self) -> Transfer {
        match self {
            Work::Plain(transfer) => transfer,
            Work::Value(_) => Transfer::WriteImmediate,
            Work::Change(Change::Add(_)) => Transfer::FetchAdd,
            Work::Change(Change::Swap { .. }) => Transfer::CompareSwap,
            Work::Revoke(_) => Transfer::Send,
        }
    }
}

/// Posted work that has not completed yet, and the state of its connection.
#[derive(Default)]
pub struct Ledger {
    next: u64,
    posted: HashMap<u64, (Transfer, u64)>,
    /// Requests that complete only on errors.
    quiet: HashMap<u64, (Transfer, u64)>,
    /// Ranges of the program's memory (offset, length) that posted work may change.
    touched: Vec<(usize, usize)>,
    established: bool,
    over: bool,
}

impl Ledger {
    fn note(&mut self, work: Work, segment: &LocalSegment, quiet: bool, base: u64) {
        let books = if quiet { &mut self.quiet } else { &mut self.posted };
        books.insert(self.next, (work.reported(), segment.len));
        if matches!(work, Work::Plain(Transfer::Recv | Transfer::Read) | Work::Change(_)) {
            self.touched.push(((segment.addr - base) as usize, segment.len as usize));
        }
        self.next += 1;
    }

    /// Posts a receive to the endpoint or its SRQ.
    pub fn receive<T: Transport>(&mut self, end: &End<T>, srq: Option<&Arc<Srq<T>>>, segment: LocalSegment, base: u64) {
        let posted = match srq {
            Some(srq) => srq.post_recv(&[segment], self.next),
            None => end.ep.post_recv(&[segment], self.next, CompletionFlags::DEFAULT),
        };
        if posted.is_ok() {
            self.note(Work::Plain(Transfer::Recv), &segment, false, base);
        }
    }

    /// Posts a request. Sends ignore `remote`.
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

    /// Dequeues all events. Checks that each posted request or receive completes once, and that no connection event
    /// follows the end.
    pub fn drain_events<T: Transport>(&mut self, end: &End<T>) {
        for evd in [&end.receives, &end.requests, &end.connections] {
            while let Ok(event) = evd.dequeue() {
                match event {
                    Event::Transfer { cookie, status, len, transfer, .. } => {
                        // The reported length is the length of the write, which does not use the buffer of the receive.
                        let (reported, len) = match transfer {
                            Transfer::RecvImmediate => (Transfer::Recv, 0),
                            Transfer::RecvInvalidated => (Transfer::Recv, len),
                            other => (other, len),
                        };
                        self.ends(cookie, reported, status, len);
                    }
                    Event::Bind { status, .. } => {
                        assert_ne!(status, Status::Success, "a bind that is not to be reported of")
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

    fn ends(&mut self, cookie: u64, reported: Transfer, status: Status, len: u64) {
        let quiet = || self.quiet.remove(&cookie).filter(|_| status != Status::Success);
        let posted = self.posted.remove(&cookie).or_else(quiet);
        let (wanted, room) = posted.expect("what was posted completes once");
        assert_eq!(reported, wanted);
        assert!(status != Status::Success || len <= room, "{len} bytes went into {room}");
    }

    pub fn is_over(&self) -> bool {
        self.over
    }

    pub fn is_established(&self) -> bool {
        self.established
    }

    /// Frees the endpoint. Checks that all posted work has completed, and that no other bytes of `memory` have changed.
    /// Clears `memory`.
    pub fn close<T: Transport>(mut self, memory: &Buffer<T>, end: End<T>, srq: Option<Arc<Srq<T>>>) {
        end.ep.free().expect("nothing holds the endpoint");
        self.drain_events(&end);
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
