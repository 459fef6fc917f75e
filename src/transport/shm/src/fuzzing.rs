//! Interface for src/dev/fuzz: packets, shared memory and socket of a peer that follows no rule.
//!
//! Only in builds with the cargo feature `fuzzing`. This module hides the crate's internal names from the fuzz targets.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use dat_core::Rights;
use dat_core::transport::RemoteSegment;
use dat_software::regions::{AccessContext, NewRow, ROW_SIZE, ROWS, RegionTable, Users};
use dat_software::user::{Source, Target};
use rustix::io::Errno;

use crate::control_region::{ControlRegion, Peer as Published};
use crate::os::directory::{Claim, Directory, Reachable};
use crate::os::memory::{self, SharedMemory};
use crate::peer_segment::{HEAD, PeerSegment};
use crate::record;
pub use crate::record::{atomic, target};
use crate::regions::{self, PeerRegions};
use crate::ring::{Area, Consumer, HEADER, Mapped, Producer, RingShared, SLOT};
use crate::sleep::Notice;
use crate::wire::{CloseReason, ConnId, EndInfo, MAX_PACKET, Message, Probe, VERSION};
use dat_census::socket::Socket;

/// Decodes a packet and encodes it again. Returns `None` if it is not a message.
pub fn packet_again(packet: &[u8]) -> Option<Vec<u8>> {
    Message::decode(packet).map(|message| message.encode())
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Attempt {
    pub active: u8,
    pub index: u32,
    pub number: u64,
}

pub const KINDS: u8 = 18;

/// Returns a well-formed packet of a kind below [`KINDS`]. Variants of a message have their own numbers.
pub fn packet(kind: u8, attempt: Attempt, qualifier: u64, private_data: &[u8]) -> Vec<u8> {
    let conn = ConnId { active: attempt.active & 1, index: attempt.index, attempt: attempt.number };
    let probe = Probe { addr: qualifier, value: attempt.number };
    let end = EndInfo {
        zone: attempt.index,
        port: qualifier,
        extended: qualifier & 1 != 0,
        datagrams: u32::from(qualifier & 16 != 0),
    };
    let private_data = private_data.to_vec();
    let close = |to_active, reason| Message::Close { conn, to_active, reason };
    match kind {
        0 => Message::Request { conn, qualifier, end, private_data },
        1 => Message::Accept { conn, end, private_data },
        2 => Message::Reject { conn, consumer: qualifier & 1 != 0, private_data },
        3 => Message::Ready { conn },
        4 => close(true, CloseReason::Disconnected),
        5 => close(false, CloseReason::Disconnected),
        6 => close(true, CloseReason::Answer),
        7 => close(false, CloseReason::Answer),
        8 => close(false, CloseReason::Broken(None)),
        9 => close(true, CloseReason::Broken(Some(dat_core::event::Status::RemoteAccess))),
        10 => Message::Reads(qualifier & 1 != 0),
        11 => Message::UseMine,
        12 => Message::Welcome { probe, reads: qualifier & 1 != 0 },
        13 => Message::Hello { version: VERSION, name: name(qualifier), probe },
        15 => Message::Ring,
        16 => Message::Again,
        17 => Message::Ask,
        _ => Message::Hello { version: VERSION, name: String::from_utf8_lossy(&private_data).into_owned(), probe },
    }
    .encode()
}

fn name(number: u64) -> String {
    format!("p-{}-{number:016x}", std::process::id())
}

pub const RECORDS: [u8; 15] = [
    record::kind::MESSAGE,
    record::kind::MESSAGE_PIECE,
    record::kind::REMOTE_MESSAGE,
    record::kind::WRITE_PIECE,
    record::kind::READ,
    record::kind::READ_DATA,
    record::kind::NOTHING,
    record::kind::IMMEDIATE,
    record::kind::ATOMIC,
    record::kind::INVALIDATE,
    record::kind::FETCH,
    record::kind::MESSAGE_DATA,
    record::kind::SHORT_WRITE,
    record::kind::SHORT_READ,
    record::kind::REMOTE_WRITE,
];

#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub len: usize,
    /// The consumer's position after the record.
    pub end: u64,
    /// Sum of the payload's bytes.
    pub sum: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// A ring in which the fuzz target plays the other side: it can write any record and any position.
pub struct LooseRing {
    area: Mapped,
    producer: Producer,
    consumer: Consumer,
}

impl LooseRing {
    /// Creates a ring of `slots` slots, a power of two.
    pub fn new(slots: usize) -> io::Result<LooseRing> {
        let data = size_of::<RingShared>();
        let (_, memory) = SharedMemory::create("fuzz-ring", data + slots * SLOT, memory::Access::ReadWrite)?;
        let area = Mapped::new(Arc::new(memory), 0, data, slots).map_err(|_| io::ErrorKind::InvalidInput)?;
        Ok(LooseRing { producer: Producer::new(area.clone()), consumer: Consumer::new(area.clone()), area })
    }

    /// Passes the producer a consumer position, as if a record of the other side contained it.
    pub fn credit(&mut self, credit: u64) -> Result<(), Broken> {
        self.producer.credit(credit).map_err(|_| Broken)
    }

    pub fn set_head(&self, position: u64) {
        self.area.head().store(position, Ordering::Relaxed);
    }

    /// Writes a record's header, and as much of `payload` as fits before the ring's end.
    pub fn write(&self, slot: u64, header: [u64; 2], payload: &[u8]) {
        let at = slot.wrapping_mul(SLOT as u64);
        self.area.store_second(at, header[1]);
        self.area.first(at).store(header[0], Ordering::Relaxed);
        self.area.write(at.wrapping_add(HEADER as u64), Source::of(payload));
    }

    /// Consumes the next record. Returns `None` if there is none.
    pub fn take(&mut self) -> Result<Option<Seen>, Broken> {
        let Some(view) = self.consumer.peek().map_err(|_| Broken)? else { return Ok(None) };
        let len = view.len as usize;
        let mut bytes = vec![0; len + 1];
        assert_eq!(self.consumer.copy_out(&view, 0, Target::of(&mut bytes)), len, "a record reaches out of its ring");
        assert_eq!(self.consumer.source(&view).len(), len, "a record reaches out of its ring");
        self.consumer.skip(&view);
        self.consumer.release();
        Ok(Some(Seen { len, end: view.end(), sum: bytes.iter().map(|&byte| u64::from(byte)).sum() }))
    }

    /// Produces a record of `payload`, and returns its end position; `None` if there is no room.
    pub fn put(&mut self, kind: u8, payload: &[u8]) -> Result<Option<u64>, Broken> {
        let Some(mut room) = self.producer.reserve(payload.len()).map_err(|_| Broken)? else { return Ok(None) };
        assert_eq!(room.write(Source::of(payload)), payload.len(), "room that was made is missing");
        Ok(Some(room.finish(kind.max(1), 0, payload.len() as u64, 0)))
    }

    /// Returns the slots in use according to the producer, and the maximum payload.
    pub fn filled(&self) -> (u64, usize) {
        (self.producer.used(), self.producer.max_payload())
    }
}

pub const ROW: usize = ROW_SIZE;

/// A range of memory in a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Range {
    pub addr: u64,
    pub len: u64,
    /// Remote address of the first byte.
    pub first: u64,
    pub rights: u8,
    /// Zone that may use it, if `port` is `None`.
    pub zone: u32,
    /// Port of the only connection that may use it.
    pub port: Option<u64>,
    pub window: bool,
}

impl Range {
    fn entry(&self) -> NewRow {
        let Range { addr, len, first, rights, zone, port, window } = *self;
        let users = port.map_or(Users::of_zone(zone), Users::of_connection);
        NewRow { addr, len, first, rights: Rights::from_bits_truncate(rights), users, window }
    }
}

/// An operation of a peer on a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    pub key: u32,
    pub addr: u64,
    pub len: u64,
    pub rights: u8,
    /// Zone and port of the connection's end in the process that owns the table.
    pub over: (u32, u64),
}

impl Access {
    fn at(&self, peer: &PeerRegions) -> Option<u64> {
        let Access { key, addr, len, rights, over: (zone, port) } = *self;
        peer.locate(key, addr, len, Rights::from_bits_truncate(rights), &AccessContext::new(zone, port)).ok()
    }
}

/// A published table of regions whose rows the fuzz target writes, and an initiator that checks requests against it.
pub struct LooseTable {
    memory: SharedMemory,
    peer: PeerRegions,
}

impl LooseTable {
    pub fn new() -> io::Result<LooseTable> {
        let (file, memory) = SharedMemory::create("fuzz-table", ROWS * ROW_SIZE, memory::Access::ReadWrite)?;
        let peer = PeerRegions::open(file.fd().try_clone_to_owned()?)?;
        Ok(LooseTable { memory, peer })
    }

    /// Writes `bytes` from offset `at` of the table, except bytes outside of the table.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        for (at, &byte) in (at..).zip(bytes) {
            if let Ok(cell) = self.memory.at::<AtomicU8>(at) {
                cell.store(byte, Ordering::Relaxed);
            }
        }
    }

    /// Returns the address of the bytes if the table grants the operation.
    pub fn grants(&self, access: &Access) -> Option<u64> {
        access.at(&self.peer)
    }
}

pub struct Table {
    own: RegionTable,
    peer: PeerRegions,
}

impl Table {
    pub fn new() -> io::Result<Table> {
        let (file, own) = regions::publish()?;
        let peer = PeerRegions::open(file.fd().try_clone_to_owned()?)?;
        Ok(Table { own, peer })
    }

    /// Adds a range that is never accessed. Returns its key.
    pub fn insert(&self, range: &Range) -> Option<u32> {
        // SAFETY: grants of this region are only compared by address, and no byte is copied.
        unsafe { self.own.insert(&range.entry()) }
    }

    /// Invalidates a window for the peer of the connection whose local end has this zone and port. Returns `false` if
    /// that peer may not invalidate it.
    pub fn invalidate(&self, key: u32, (zone, port): (u32, u64)) -> bool {
        self.own.invalidate(key, &AccessContext::new(zone, port)).is_some()
    }

    pub fn remove(&self, key: u32) -> bool {
        self.own.remove(key)
    }

    /// Returns the address at which the owner would execute the operation, and the address that a peer would use;
    /// `None` for a side that refuses the operation.
    pub fn grants(&self, access: &Access) -> [Option<u64>; 2] {
        let Access { key, addr, len, rights, over: (zone, port) } = *access;
        let wanted = Rights::from_bits_truncate(rights);
        let own = self.own.grant(&RemoteSegment { addr, len, key }, wanted, &AccessContext::new(zone, port));
        [own.ok().map(|granted| granted.addr()), access.at(&self.peer)]
    }
}

/// The kind of a descriptor that a peer sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// The descriptor that a hello has at this position.
    Right,
    /// The descriptor that a hello has at another position, counted from 0.
    Other(u8),
    /// Unsealed memory.
    Loose,
    /// A file that is not memory.
    File,
}

pub struct Face(Arc<ControlRegion>);

impl Face {
    /// Creates the published memory, without registered regions, and starts the target thread.
    pub fn new() -> io::Result<Face> {
        let control = ControlRegion::new()?;
        control.copy_target.open()?;
        Ok(Face(Arc::new(control)))
    }

    /// Registers `cells` with all rights for connections of `zone`. Returns address and key.
    pub fn register(&self, cells: &'static [AtomicU8], zone: u32) -> Option<(u64, u32)> {
        let addr = cells.as_ptr().expose_provenance() as u64;
        let len = cells.len() as u64;
        let range = Range { addr, len, first: addr, rights: u8::MAX, zone, port: None, window: false };
        // SAFETY: the cells are static and atomic.
        let key = unsafe { self.0.regions.insert(&range.entry()) };
        key.map(|key| (addr, key))
    }
}

/// A peer of the process under test, controlled by the fuzz target. The fuzz target may run in the process under test.
pub struct Peer {
    face: Arc<ControlRegion>,
    peer_segment: Arc<PeerSegment>,
    socket: Arc<Socket>,
}

impl Peer {
    /// Connects to the process that is reachable at `socket`. Sends no packet.
    pub fn connect(socket: &Path, face: &Face) -> io::Result<Peer> {
        let socket = Socket::connect(socket)?;
        let peer_segment = Arc::new(PeerSegment::create(&face.0, Some(0))?);
        Ok(Peer { face: face.0.clone(), peer_segment, socket: Arc::new(socket) })
    }

    /// Sends a hello with the socket name of `number`. Without `reads`, the probe is wrong, so that the process under
    /// test does not copy from this peer's memory.
    pub fn hello(&self, number: u64, reads: bool) -> io::Result<bool> {
        let mut probe = self.face.probe(std::process::id() as i32);
        probe.value ^= u64::from(!reads);
        self.send(&Message::Hello { version: VERSION, name: name(number), probe }.encode(), &[Sort::Right; 4])
    }

    /// Answers the hello of the process under test. With `reads`, that process can read this peer's memory, and the
    /// answer states that this peer can read the process's memory.
    pub fn welcome(&self, reads: bool) -> io::Result<bool> {
        let mut probe = self.face.probe(std::process::id() as i32);
        probe.value ^= u64::from(!reads);
        let sorts = [1, 2, 3].map(Sort::Other);
        self.send(&Message::Welcome { probe, reads }.encode(), &sorts)
    }

    /// Sends a packet with descriptors. Returns `false` if the socket did not accept it.
    pub fn send(&self, packet: &[u8], sorts: &[Sort]) -> io::Result<bool> {
        let [control, regions, alarm] = self.face.fds();
        let right = [self.peer_segment.file.fd(), control, regions, alarm];
        let mut own: Vec<OwnedFd> = Vec::new();
        for (at, sort) in sorts.iter().enumerate() {
            let fd = match sort {
                Sort::Right => right[at % 4].try_clone_to_owned()?,
                Sort::Other(which) => right[usize::from(*which) % 4].try_clone_to_owned()?,
                Sort::Loose => rustix::fs::memfd_create("fuzz", rustix::fs::MemfdFlags::CLOEXEC)?,
                Sort::File => std::fs::File::open("/dev/null")?.into(),
            };
            own.push(fd);
        }
        let fds: Vec<BorrowedFd<'_>> = own.iter().map(AsFd::as_fd).collect();
        match self.socket.send(packet, &fds) {
            Ok(()) => Ok(true),
            Err(Errno::AGAIN | Errno::PIPE | Errno::INVAL) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the next packet of the process under test: `None` without a packet, an empty packet at the end of the
    /// connection. Maps the memory of a welcome's descriptors, with which this peer can wake the process.
    pub fn recv(&self) -> io::Result<Option<Vec<u8>>> {
        let mut packet = [0; MAX_PACKET];
        let mut fds = Vec::new();
        match self.socket.recv(&mut packet, &mut fds) {
            Ok(0) => Ok(Some(Vec::new())),
            Ok(len) => {
                if let Ok(published) = fds.try_into() {
                    if let Some(Message::Welcome { probe, .. }) = Message::decode(&packet[..len]) {
                        self.peer_segment.set_peer(Published::open(published, self.socket.clone(), probe)?);
                    }
                }
                Ok(Some(packet[..len].to_vec()))
            }
            Err(Errno::AGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets the ready bit of a connection of `side`, and wakes that side, as for a new record.
    pub fn mark(&self, side: u8, index: u32) {
        self.peer_segment.mark(side & 1, index, Notice::Record);
    }

    /// Stores `value` into a word of the segment's head, which contains the ready bits and the transfer tables of both
    /// sides.
    pub fn scribble(&self, word: usize, value: u64) {
        let head = self.peer_segment.file.window(0, HEAD);
        if let Ok(Ok(word)) = head.as_ref().map(|head| head.at::<AtomicU64>(word % (HEAD / 8) * 8)) {
            word.store(value, Ordering::SeqCst);
        }
    }

    /// Returns the rings for requests and responses that `side` of the connection at `index` fills; `None` if `index`
    /// is too large or there is no memory.
    pub fn way(&self, index: u32, side: u8) -> Option<Way> {
        let rings = self.peer_segment.producers(index, side & 1)?;
        Some(Way { rings })
    }
}

pub struct Host {
    face: Arc<ControlRegion>,
    reachable: Arc<Reachable>,
    _claim: Claim,
}

impl Host {
    pub fn listen(directory: &Path, face: &Face, qualifier: u64) -> io::Result<Host> {
        let directory = Directory::open(&directory.to_string_lossy())?;
        let reachable = directory.listen()?;
        let claim = directory.claim(qualifier, &reachable)?;
        Ok(Host { face: face.0.clone(), reachable, _claim: claim })
    }

    /// Returns the process that has connected, once its hello has arrived; `None` if no process has connected, or if
    /// its first packet is no hello.
    pub fn accept(&self) -> io::Result<Option<Peer>> {
        let Some(socket) = self.reachable.listener.accept()? else { return Ok(None) };
        let mut packet = [0; MAX_PACKET];
        let mut fds = Vec::new();
        // The hello follows the connection immediately.
        let len = loop {
            match socket.recv(&mut packet, &mut fds) {
                Ok(0) => return Ok(None),
                Ok(len) => break len,
                Err(Errno::AGAIN) => std::thread::yield_now(),
                Err(error) => return Err(error.into()),
            }
        };
        let Some(Message::Hello { probe, .. }) = Message::decode(&packet[..len]) else { return Ok(None) };
        let [memory, published @ ..] = <[OwnedFd; 4]>::try_from(fds).map_err(|_| io::ErrorKind::InvalidData)?;
        let peer_segment = Arc::new(PeerSegment::open(&self.face, memory, 1)?);
        let socket = Arc::new(socket);
        peer_segment.set_peer(Published::open(published, socket.clone(), probe)?);
        Ok(Some(Peer { face: self.face.clone(), peer_segment, socket }))
    }
}

pub struct Way {
    rings: [Producer; 2],
}

impl Way {
    /// Produces a record like a peer that follows the protocol. Returns `false` if there is no room.
    pub fn put(&mut self, ring: usize, kind: u8, flags: u8, aux: u64, credit: u64, payload: &[u8]) -> bool {
        let ring = &mut self.rings[ring & 1];
        let Ok(Some(mut room)) = ring.reserve(payload.len()) else { return false };
        room.write(Source::of(payload));
        let _ = room.finish(kind.max(1), flags, aux & u64::from(u32::MAX), credit);
        true
    }

    pub fn header(&self, ring: usize, slot: u64, words: [u64; 2]) {
        let area = self.rings[ring & 1].area();
        let at = slot.wrapping_mul(SLOT as u64);
        area.store_second(at, words[1]);
        area.first(at).store(words[0], Ordering::Release);
    }

    pub fn bytes(&self, ring: usize, at: u64, bytes: &[u8]) {
        self.rings[ring & 1].area().write(at, Source::of(bytes));
    }

    pub fn moves(&self, ring: usize, change: impl FnOnce(u64) -> u64) {
        let word = self.rings[ring & 1].area().head();
        word.store(change(word.load(Ordering::Relaxed)), Ordering::Release);
    }

    pub fn flag(&self, ring: usize, which: usize, value: u32) {
        let flags = &self.rings[ring & 1].area().shared().flags.0;
        flags[which % flags.len()].store(value, Ordering::SeqCst);
    }
}

/// Returns the path of a process's socket in a rendezvous directory; `None` if there is no socket.
pub fn socket_in(directory: &Path) -> io::Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"p-")) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
