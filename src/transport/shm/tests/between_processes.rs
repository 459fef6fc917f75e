//! Two processes: writes with immediate data, atomic operations, windows that messages invalidate, zero-based regions.
//! First with copies to the peer's memory, if permitted, then only with the ring.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use dat_core::addr::Address;
use dat_core::event::{ConnectionEvent, Status, Transfer};
use dat_core::testing::{Adapter, Buffer, End, next, next_request, patience, request};
use dat_core::transport::{RemoteSegment, Scope};
use dat_core::{Base, Change, CompletionFlags, Event, Psp, PspMode, Rights, Rmr, Streams};
use dat_shm::Shm;

const QUALIFIER: u64 = 7777;
/// Environment variables: the directory of both processes, and the role of the started process ("target" or
/// "requester").
const MEET: &str = "DAT_TEST_MEET";
const PART: &str = "DAT_TEST_PART";

const SIZE: usize = 300_064;
/// Offset of the target of a transfer.
const AT: usize = 3;
/// Sizes of transfers: one record, several records, more than the ring.
const LENGTHS: [usize; 9] = [0, 1, 2, 8, 13, 4096, 8193, 70_001, 300_000];
/// Maximum of these sizes in the memory of a window.
const MOST: usize = 70_001;
const VALUE: u32 = 0xfedc_ba00;
/// Number of concurrent atomic operations per side.
const CHANGES: u64 = 300;
/// Increment by the target, above the bits that the requester changes.
const HIGH: u64 = 1 << 32;
const ALL: Rights = Rights::all();

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Side {
    adapter: Adapter<Shm>,
    memory: Buffer<Shm>,
    /// For messages that synchronise the processes.
    words: Buffer<Shm>,
}

impl Side {
    fn new(dir: &Path) -> Side {
        let adapter = Adapter::open("shm", dir.join("meet").to_str().unwrap());
        Side { memory: adapter.buffer_with(SIZE, ALL), words: adapter.buffer(64), adapter }
    }

    fn tell(&self, end: &End<Shm>) {
        end.send(self.words.at(0, 0), 1000);
        end.completes(1000, Status::Success);
    }

    fn expect(&self, end: &End<Shm>) {
        end.receive(self.words.at(0, 0), 1001);
    }
}

fn pack(places: &[RemoteSegment]) -> Vec<u8> {
    places.iter().flat_map(|place| [place.addr, place.len, place.key.into()]).flat_map(u64::to_le_bytes).collect()
}

fn unpack(bytes: &[u8]) -> Vec<RemoteSegment> {
    let words: Vec<u64> = bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
    let place = |words: &[u64]| RemoteSegment { addr: words[0], len: words[1], key: words[2].try_into().unwrap() };
    words.chunks_exact(3).map(place).collect()
}

fn part(place: RemoteSegment, at: usize, len: usize) -> RemoteSegment {
    RemoteSegment { addr: place.addr + at as u64, len: len as u64, ..place }
}

fn word(buffer: &Buffer<Shm>, at: usize) -> u64 {
    u64::from_ne_bytes(buffer.bytes(at..at + 8).try_into().unwrap())
}

fn aligned(buffer: &Buffer<Shm>) -> usize {
    buffer.start().next_multiple_of(8) as usize - buffer.start() as usize
}

// ---- The target ----

/// Accepts a connection for each of the parts of the test.
fn target(side: &Side) {
    let requests = side.adapter.evd(Streams::CONNECTION_REQUESTS);
    let psp = Psp::create(&side.adapter.ia, Some(QUALIFIER), &requests, PspMode::Consumer).unwrap();
    let accept = |places: &[RemoteSegment]| {
        let end = side.adapter.end();
        side.expect(&end);
        next_request(&requests).accept(Some(&end.ep), &pack(places)).unwrap();
        end.is_told(ConnectionEvent::Established);
        end.arrives(1001, Status::Success);
        end
    };
    let closed = side.adapter.buffer_with(64, Rights::LOCAL_READ | Rights::LOCAL_WRITE | Rights::REMOTE_READ);
    let zero = Buffer::with_base(&side.adapter.ia, &side.adapter.pz, SIZE, ALL, Base::Zero);
    receive_values(side, &accept(&[side.memory.remote(AT, SIZE - AT)]));
    be_changed(side, &accept(&[side.memory.remote(aligned(&side.memory), 64)]));
    let wrong = closed.remote(aligned(&closed), 8);
    be_asked_too_much(side, &accept(&[side.memory.remote(aligned(&side.memory), 64), wrong]));
    be_revoked(side, &accept(&[]));
    be_counted_from_0(side, &zero, &accept(&[zero.remote(0, SIZE)]));
    psp.free();
}

fn receive_values(side: &Side, end: &End<Shm>) {
    for (seed, len) in LENGTHS.into_iter().enumerate() {
        side.memory.fill(0..SIZE, 0xee);
        end.receive(side.words.at(8, 1), seed as u64);
        side.tell(end);
        let done = (seed as u64, Status::Success, len as u64);
        assert_eq!(end.arrived_with(), (done, Transfer::RecvImmediate, VALUE + seed as u32), "{len} bytes");
        assert!(side.memory.shows(AT..AT + len, seed), "{len} bytes");
        assert!(side.memory.is_all(0..AT, 0xee) && side.memory.is_all(AT + len..SIZE, 0xee), "{len} bytes");
    }
}

fn be_changed(side: &Side, end: &End<Shm>) {
    let at = aligned(&side.memory);
    side.memory.fill(0..SIZE, 0);
    // SAFETY: the buffer lives and consists of atomics; the word is aligned.
    let own = unsafe { AtomicU64::from_ptr((side.memory.start() as usize + at) as *mut u64) };
    side.expect(end);
    side.tell(end);
    for _ in 0..CHANGES {
        own.fetch_add(HIGH, Ordering::Relaxed);
        thread::yield_now();
    }
    // The peer's operations must progress without a call by this side.
    let limit = Instant::now() + patience();
    while own.load(Ordering::Relaxed) % HIGH != CHANGES {
        assert!(Instant::now() < limit, "operations are not carried out");
        thread::yield_now();
    }
    end.arrives(1001, Status::Success);
    assert_eq!(own.load(Ordering::Relaxed), CHANGES * HIGH + CHANGES, "no change is lost");
}

fn be_asked_too_much(side: &Side, end: &End<Shm>) {
    side.memory.fill(0..SIZE, 0);
    side.tell(end);
    end.is_told(ConnectionEvent::Broken);
    assert_eq!(word(&side.memory, aligned(&side.memory)), 5, "what came before the refusal, and nothing behind it");
}

fn be_revoked(side: &Side, end: &End<Shm>) {
    let rmr = Rmr::create(&side.adapter.pz, Scope::Endpoint).unwrap();
    for (seed, len) in LENGTHS.into_iter().enumerate() {
        side.memory.fill(0..SIZE, 0xee);
        let shown = side.memory.at(AT, 64);
        let rights = Rights::REMOTE_READ | Rights::REMOTE_WRITE;
        let lmr = Some(side.memory.lmr());
        let key = end.ep.post_bind(&rmr, lmr, shown, rights, Base::Zero, 7, CompletionFlags::DEFAULT).unwrap();
        assert!(matches!(next(&end.requests), Event::Bind { status: Status::Success, .. }));
        end.receive(side.memory.at(128, SIZE - 128), seed as u64);
        side.words.put(0, &pack(&[RemoteSegment { addr: 0, len: 64, key }]));
        end.send(side.words.at(0, 24), 8);
        end.completes(8, Status::Success);
        if len > MOST {
            break;
        }
        let done = (seed as u64, Status::Success, len as u64);
        assert_eq!(end.arrived_with(), (done, Transfer::RecvInvalidated, key), "{len} bytes");
        assert!(side.memory.shows(AT..AT + 64, seed), "what was written before");
        assert!(side.memory.shows(128..128 + len, seed), "{len} bytes");
        assert!(rmr.status().is_none());
    }
    // The requester has written with an invalidated key.
    end.is_told(ConnectionEvent::Broken);
    rmr.free();
}

fn be_counted_from_0(side: &Side, zero: &Buffer<Shm>, end: &End<Shm>) {
    for (seed, len) in LENGTHS.into_iter().enumerate() {
        zero.fill(0..SIZE, 0xee);
        side.expect(end);
        side.tell(end);
        end.arrives(1001, Status::Success);
        assert!(zero.shows(AT..AT + len, seed), "{len} bytes");
        assert!(zero.is_all(0..AT, 0xee) && zero.is_all(AT + len..SIZE, 0xee), "{len} bytes");
    }
    side.tell(end);
    end.is_told(ConnectionEvent::Broken);
}

// ---- The requester ----

/// Connects as soon as the peer listens. Returns the peer's memory ranges.
fn meet(side: &Side) -> (End<Shm>, Vec<RemoteSegment>) {
    let limit = Instant::now() + patience();
    loop {
        let end = side.adapter.end();
        request(&end, &Address::loopback(), QUALIFIER, Some(patience()), b"").unwrap();
        match end.next_connection_event() {
            (ConnectionEvent::Established, places) => {
                side.tell(&end);
                return (end, unpack(&places));
            }
            (ConnectionEvent::NonPeerRejected, _) => {
                assert!(Instant::now() < limit, "the peer does not listen");
                end.ep.free().unwrap();
                thread::yield_now();
            }
            other => panic!("{other:?}"),
        }
    }
}

fn requester(side: &Side) {
    write_values(side);
    change(side);
    ask_too_much(side);
    revoke(side);
    count_from_0(side);
}

fn write_values(side: &Side) {
    let (end, places) = meet(side);
    for (seed, len) in LENGTHS.into_iter().enumerate() {
        side.memory.paint(0..len, seed);
        side.expect(&end);
        end.arrives(1001, Status::Success);
        end.write_immediate(side.memory.at(0, len), 5, part(places[0], 0, len), VALUE + seed as u32);
        assert_eq!(end.done_with(), ((5, Status::Success, len as u64), Transfer::WriteImmediate), "{len} bytes");
    }
}

/// The target changes the high bits concurrently. The low bits follow the order of this side's operations.
fn change(side: &Side) {
    let (end, places) = meet(side);
    side.expect(&end);
    end.arrives(1001, Status::Success);
    let (at, word_at) = (part(places[0], 0, 8), |at| word(&side.memory, at));
    for k in 0..CHANGES {
        end.change(side.memory.at(0, 8), 1, at, Change::Add(1));
        // Changes another word, too, without waiting for the first change.
        let other = part(places[0], 8, 8);
        side.memory.put(16, &(k + 7).to_ne_bytes());
        end.change(side.memory.at(8, 8), 2, other, Change::Add(k));
        end.write(side.memory.at(16, 8), 3, other);
        end.change(side.memory.at(24, 8), 4, other, Change::Swap { expected: k + 7, new: 1 });
        end.read(side.memory.at(32, 8), 5, other);
        end.completes_with(1, Status::Success, Transfer::FetchAdd);
        end.completes_with(2, Status::Success, Transfer::FetchAdd);
        end.completes(3, Status::Success);
        end.completes_with(4, Status::Success, Transfer::CompareSwap);
        end.completes(5, Status::Success);
        assert_eq!(word_at(0) % HIGH, k);
        assert_eq!([8, 24, 32].map(word_at), [u64::from(k > 0), k + 7, 1]);
    }
    side.tell(&end);
}

/// The second request is refused: the earlier request succeeds, the later request is flushed.
fn ask_too_much(side: &Side) {
    let (end, places) = meet(side);
    side.expect(&end);
    end.arrives(1001, Status::Success);
    end.change(side.memory.at(0, 8), 1, part(places[0], 0, 8), Change::Add(5));
    end.change(side.memory.at(8, 8), 2, places[1], Change::Add(5));
    end.change(side.memory.at(16, 8), 3, part(places[0], 0, 8), Change::Add(5));
    end.completes_with(1, Status::Success, Transfer::FetchAdd);
    end.completes_with(2, Status::RemoteAccess, Transfer::FetchAdd);
    end.completes_with(3, Status::Flushed, Transfer::FetchAdd);
    end.is_told(ConnectionEvent::Broken);
}

fn revoke(side: &Side) {
    let (end, _) = meet(side);
    let mut before = None;
    for (seed, len) in LENGTHS.into_iter().enumerate() {
        side.memory.paint(0..SIZE, seed);
        end.receive(side.words.at(0, 24), 1);
        end.arrives(1, Status::Success);
        let shown = unpack(&side.words.bytes(0..24))[0];
        if len > MOST {
            break;
        }
        end.write(side.memory.at(0, 64), 2, shown);
        end.ep.post_send_invalidate(&[side.memory.at(0, len)], 3, shown.key, CompletionFlags::DEFAULT).unwrap();
        end.completes(2, Status::Success);
        end.completes(3, Status::Success);
        before = Some(shown);
    }
    end.write(side.memory.at(0, 64), 4, before.unwrap());
    end.completes(4, Status::RemoteAccess);
    end.is_told(ConnectionEvent::Broken);
}

fn count_from_0(side: &Side) {
    let (end, places) = meet(side);
    assert_eq!((places[0].addr, places[0].len), (0, SIZE as u64));
    for (seed, len) in LENGTHS.into_iter().enumerate() {
        side.memory.paint(0..len, seed);
        side.expect(&end);
        end.arrives(1001, Status::Success);
        end.write(side.memory.at(0, len), 1, part(places[0], AT, len));
        end.completes(1, Status::Success);
        side.memory.fill(0..len, 0);
        end.read(side.memory.at(0, len), 2, part(places[0], AT, len));
        end.completes(2, Status::Success);
        assert!(side.memory.shows(0..len, seed), "{len} bytes");
        side.tell(&end);
    }
    side.expect(&end);
    end.arrives(1001, Status::Success);
    end.write(side.memory.at(0, 8), 1, part(places[0], SIZE - 7, 8));
    end.completes(1, Status::RemoteAccess);
    end.is_told(ConnectionEvent::Broken);
}

#[test]
fn operations_work_between_processes() {
    if let (Some(dir), Ok(part)) = (std::env::var_os(MEET), std::env::var(PART)) {
        let side = Arc::new(Side::new(Path::new(&dir)));
        return if part == "target" { target(&side) } else { requester(&side) };
    }
    let own = std::env::current_exe().unwrap();
    for copies in ["1", "0"] {
        let dir = tempfile::tempdir().unwrap();
        let start = |part| {
            let mut command = Command::new(&own);
            command
                .arg("--nocapture")
                .env(MEET, dir.path())
                .env(PART, part)
                .env("DAT_SHM_VM", copies)
                .stdout(Stdio::null());
            (part, Process(command.spawn().unwrap()))
        };
        for (part, mut process) in ["requester", "target"].map(start) {
            assert!(process.0.wait().unwrap().success(), "{part}, DAT_SHM_VM={copies}");
        }
    }
}
