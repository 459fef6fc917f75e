//! A TCP connection whose peer sends arbitrary bytes as greeting and records, in pieces of any length.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use dat_core::addr::Address;
use dat_core::event::{Event, Status, Streams, Transfer};
use dat_core::testing::{Adapter, Buffer, End, request, until};
use dat_core::transport::{RemoteSegment, Scope};
use dat_core::{Base, Change, CompletionFlags, Cr, Evd, LocalSegment, Psp, PspMode, Pz, Rights, Rmr, Srq};
use dat_tcp::Tcp;
use dat_tcp::fuzzing::{self, GREETING, HEADER, Header, MAX_WINDOW, MIN_WINDOW, Terms, kind};

use crate::input::Input;
use crate::victim::{Ledger, MEMORY, OPEN, Work};

const STEPS: usize = 96;
/// A step's first byte from this value on chooses an extended request.
const RARE: u8 = 0xe8;
/// Maximum payload of a sent record.
const PAYLOAD: u64 = 40_000;

const KINDS: [u8; 10] = [
    kind::MESSAGE,
    kind::WRITE,
    kind::WRITE_PART,
    kind::IMMEDIATE,
    kind::INVALIDATE,
    kind::READ,
    kind::ATOMIC,
    kind::HANDLED,
    kind::RESPONSE,
    kind::END,
];

/// An open adapter with a service point, and a connection between two of its endpoints.
struct Program {
    adapter: Adapter<Tcp>,
    requests: Arc<Evd<Tcp>>,
    psp: Arc<Psp<Tcp>>,
    /// Memory without remote rights, all zero except in posted buffers.
    memory: Buffer<Tcp>,
    open: Buffer<Tcp>,
    /// Memory without rights for peers, and memory of another zone. Both keep their pattern.
    closed: [Buffer<Tcp>; 2],
    /// Endpoints of the second connection, which uses `messages`.
    others: (End<Tcp>, End<Tcp>),
    messages: Buffer<Tcp>,
    sent: u64,
    /// Accepts the program's connections.
    listener: TcpListener,
}

/// Returns the program, locked so that its inputs run in turn.
fn program() -> MutexGuard<'static, Program> {
    static PROGRAM: LazyLock<Mutex<Program>> = LazyLock::new(|| Mutex::new(Program::new()));
    PROGRAM.lock().unwrap_or_else(|poison| poison.into_inner())
}

impl Program {
    fn new() -> Program {
        let adapter = Adapter::<Tcp>::open("tcp-lo", "");
        let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
        let psp = Psp::create(&adapter.ia, None, &requests, PspMode::Consumer).expect("a service point");
        let foreign = Pz::create(&adapter.ia).expect("a zone");
        let local = Rights::LOCAL_READ | Rights::LOCAL_WRITE;
        let closed = [adapter.buffer_with(OPEN, local), Buffer::new(&adapter.ia, &foreign, OPEN, Rights::all())];
        for buffer in &closed {
            buffer.paint(0..OPEN, 3);
        }
        let listener = TcpListener::bind(SocketAddr::new(adapter.ia.attributes().address.ip(), 0)).expect("a socket");
        Program {
            memory: adapter.buffer_with(MEMORY, local),
            open: adapter.buffer_with(OPEN, Rights::all()),
            others: adapter.pair(),
            messages: adapter.buffer(128),
            adapter,
            requests,
            psp,
            closed,
            sent: 0,
            listener,
        }
    }

    /// Checks that the second connection works, and that protected memory is unchanged.
    fn check(&mut self) {
        let (a, b) = &self.others;
        for (from, to) in [(a, b), (b, a)] {
            self.sent += 1;
            self.messages.paint(0..64, self.sent as usize);
            to.receive(self.messages.at(64, 64), self.sent);
            from.send(self.messages.at(0, 64), self.sent);
            to.arrives(self.sent, Status::Success);
            from.completes(self.sent, Status::Success);
            assert!(self.messages.shows_from(64..128, self.sent as usize, 0), "a message was changed");
        }
        for buffer in &self.closed {
            assert!(buffer.shows(0..OPEN, 3), "memory was changed that no peer may use");
        }
    }
}

struct Peer {
    stream: TcpStream,
    /// Bytes that later steps send.
    kept: Vec<u8>,
    /// Received bytes of a greeting or record that is still incomplete.
    got: Vec<u8>,
    /// Number of received bytes that belong to requests.
    requests: u64,
    /// Set once the program has closed the stream.
    ended: bool,
}

impl Peer {
    fn new(stream: TcpStream) -> Peer {
        stream.set_nonblocking(true).expect("a socket");
        stream.set_nodelay(true).expect("a socket");
        Peer { stream, kept: Vec::new(), got: Vec::new(), requests: 0, ended: false }
    }

    /// Sends the first `len` kept bytes. Discards bytes for which the socket has no room.
    fn send(&mut self, len: usize) {
        let len = len.min(self.kept.len());
        let _ = self.stream.write(&self.kept[..len]);
        self.kept.drain(..len);
    }

    fn send_all(&mut self) {
        self.send(usize::MAX);
    }

    fn receive(&mut self) {
        let mut bytes = [0; 16 << 10];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => break self.ended = true,
                Ok(len) => self.got.extend_from_slice(&bytes[..len]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => break self.ended = true,
            }
        }
    }

    /// Receives. If the program's greeting is complete, removes it and returns `true`.
    fn receive_greeting(&mut self) -> bool {
        self.receive();
        let len = match self.got.get(8) {
            Some(len) if self.got.len() >= GREETING => GREETING + usize::from(*len),
            _ => return false,
        };
        if self.got.len() < len {
            return false;
        }
        self.got.drain(..len);
        true
    }

    fn receive_records(&mut self) {
        self.receive();
        while let Some(header) = self.got.first_chunk::<HEADER>() {
            let Some(header) = Header::decode(header) else {
                assert!(self.ended, "the program sends an invalid header");
                return;
            };
            let len = HEADER + header.len as usize;
            if self.got.len() < len {
                return;
            }
            self.got.drain(..len);
            if header.is_request() {
                self.requests += len as u64;
            }
        }
    }
}

/// A window that is bound to the first half of the open memory.
struct Shown {
    rmr: Arc<Rmr<Tcp>>,
    key: u32,
}

struct Session<'a> {
    program: &'a Program,
    end: &'a End<Tcp>,
    srq: Option<&'a Arc<Srq<Tcp>>>,
    peer: Peer,
    window: Option<Shown>,
    /// Memory with remote rights until a step deregisters it.
    spare: Buffer<Tcp>,
    is_freed: bool,
    ledger: Ledger,
}

/// Runs an input: a byte of options, the peer's greeting, and steps of the peer and the program.
///
/// # Panics
/// If posted work does not complete exactly once, a byte outside of posted and open memory changes, or the second
/// connection fails.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let how = input.byte();
    let mut program = program();
    let srq = (how & 2 != 0).then(|| program.adapter.srq(64));
    let end = match &srq {
        Some(srq) => program.adapter.end_on(srq),
        None => program.adapter.end(),
    };
    let address: Address = program.adapter.ia.attributes().address.clone();
    let greeting = greeting(&mut input, how & 8 != 0);
    let whole = how & 8 == 0;
    let peer = if how & 1 == 0 {
        let at = SocketAddr::new(address.ip(), program.psp.point.qualifier() as u16);
        Peer::new(TcpStream::connect(at).expect("a service point"))
    } else {
        let at = program.listener.local_addr().expect("a socket");
        request(&end, &address, at.port().into(), None, b"hello").expect("an endpoint that is free");
        Peer::new(program.listener.accept().expect("a connection").0)
    };
    let spare = program.adapter.buffer_with(OPEN, Rights::all());
    let mut session = Session {
        program: &program,
        end: &end,
        srq: srq.as_ref(),
        peer,
        window: None,
        spare,
        is_freed: false,
        ledger: Ledger::default(),
    };
    session.greet(&mut input, how, &greeting, whole);
    if how & 16 != 0 && session.ledger.is_established() && !session.ledger.is_over() {
        session.bind(how & 32 != 0);
    }
    for _ in 0..STEPS {
        if input.is_over() {
            break;
        }
        session.step(&mut input);
    }
    session.peer.send_all();
    session.ledger.drain_events(&end);
    if how & 4 != 0 && (session.ledger.is_established() || !whole) {
        // The peer ends the connection.
        drop(session.peer.stream);
        let ledger = &mut session.ledger;
        until("the end of a connection", || {
            ledger.drain_events(&end);
            ledger.is_over() || !ledger.is_established()
        });
    }
    let Session { ledger, window, spare, is_freed, .. } = session;
    ledger.close(&program.memory, end, srq);
    if let Some(Shown { rmr, .. }) = window {
        rmr.free();
    }
    assert!(!is_freed || spare.shows(0..OPEN, 5), "memory was changed after its region was freed");
    drop(spare);
    program.check();
}

/// Returns the peer's greeting: valid, or if `changed` with up to four changed bytes, appended bytes or a shorter
/// length.
fn greeting(input: &mut Input<'_>, changed: bool) -> Vec<u8> {
    let word = Ok(Terms { extended: true, datagrams: 0, reads_in: 4, reads_out: 4 });
    let mut bytes = fuzzing::greeting(word, b"welcome").to_vec();
    if changed {
        for _ in 0..input.byte() % 5 {
            let at = usize::from(input.byte()) % bytes.len();
            bytes[at] = input.byte();
        }
        bytes.extend_from_slice(input.bytes(255));
        let len = usize::from(input.byte());
        if len < bytes.len() {
            bytes.truncate(len);
        }
    }
    bytes
}

impl Session<'_> {
    /// Exchanges greetings. The peer sends nothing after a changed greeting, so the attempt ends.
    fn greet(&mut self, input: &mut Input<'_>, how: u8, greeting: &[u8], whole: bool) {
        self.peer.kept.extend_from_slice(greeting);
        if how & 64 != 0 {
            self.peer.send(usize::from(input.byte()) % 24);
            self.ledger.drain_events(self.end);
        }
        self.peer.send_all();
        if how & 1 != 0 {
            if !whole {
                let _ = self.peer.stream.shutdown(Shutdown::Write);
            }
            let Session { ledger, end, .. } = self;
            until("the end of an attempt", || {
                ledger.drain_events(end);
                ledger.is_established() || ledger.is_over()
            });
            let peer = &mut self.peer;
            until("a greeting", || peer.receive_greeting() || peer.ended);
            return;
        }
        if how & 128 != 0 {
            // The peer sends records before the acceptance.
            self.step(input);
            self.peer.send_all();
        }
        if !whole {
            let _ = self.peer.stream.shutdown(Shutdown::Write);
        }
        let (program, peer) = (self.program, &mut self.peer);
        let mut found = None;
        until("a request, or the end of the stream", || {
            if let Ok(Event::ConnectionRequest { cr, .. }) = program.requests.dequeue() {
                found = program.adapter.ia.arena.get::<Cr<Tcp>>(cr);
            }
            peer.receive();
            found.is_some() || peer.ended
        });
        let Some(request) = found else {
            assert!(!whole, "a valid greeting is refused");
            return;
        };
        if request.accept(Some(&self.end.ep), b"welcome").is_err() {
            let _ = request.reject(&[]);
            return;
        }
        let Session { ledger, end, .. } = self;
        until("a greeting", || peer.receive_greeting() || peer.ended);
        if whole {
            peer.kept.extend(Header { kind: kind::HANDLED, window: MIN_WINDOW, ..Header::default() }.encode());
            peer.send_all();
        }
        until("a connection, or its end", || {
            ledger.drain_events(end);
            ledger.is_established() || ledger.is_over()
        });
    }

    fn bind(&mut self, zone: bool) {
        let scope = if zone { Scope::Zone } else { Scope::Endpoint };
        let rmr = Rmr::create(&self.program.adapter.pz, scope).expect("a window");
        let (lmr, rights) = (Some(self.program.open.lmr()), Rights::REMOTE_READ | Rights::REMOTE_WRITE);
        let shown = self.program.open.at(0, OPEN / 2);
        // The bind fails if the connection has ended.
        match self.end.ep.post_bind(&rmr, lmr, shown, rights, Base::Zero, 0, CompletionFlags::SUPPRESS) {
            Ok(key) => self.window = Some(Shown { rmr, key }),
            Err(_) => rmr.free(),
        }
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let what = input.byte();
        if what >= RARE {
            let work = Work::extended(what, input);
            return self.request(input, work);
        }
        match what % 22 {
            0..=5 => {
                self.record(input);
                // If not sent now, a later step sends the bytes, or a part of them.
                if input.byte() < 0xc0 {
                    self.peer.send_all();
                }
            }
            6 => {
                self.peer.kept.extend_from_slice(input.bytes(255));
                self.peer.send_all();
            }
            7 => {
                let len = usize::from(input.byte());
                self.peer.send(len);
                self.ledger.drain_events(self.end);
            }
            8 => {
                let len = usize::from(input.short());
                self.peer.send(len);
                self.ledger.drain_events(self.end);
            }
            9 => self.peer.receive_records(),
            10 | 11 => {
                let segment = self.segment(input);
                self.ledger.receive(self.end, self.srq, segment, self.program.memory.lmr().addr());
            }
            12 => self.request(input, Work::Plain(Transfer::Send)),
            13 => self.request(input, Work::Plain(Transfer::Write)),
            14 => self.request(input, Work::Plain(Transfer::Read)),
            15..=17 => self.ledger.drain_events(self.end),
            18 => {
                let _ = self.end.ep.disconnect(input.bit());
            }
            19 => {
                let _ = self.peer.stream.shutdown(Shutdown::Write);
            }
            20 if !self.is_freed => {
                // Paints freed memory, which no peer may change.
                self.spare.lmr().free().expect("a region without windows");
                self.spare.paint(0..OPEN, 5);
                self.is_freed = true;
            }
            _ => drop(self.program.adapter.buffer(64)),
        }
    }

    fn segment(&self, input: &mut Input<'_>) -> LocalSegment {
        let at = usize::from(input.short()) % MEMORY;
        let len = input.number() as usize % (MEMORY - at + 1);
        self.program.memory.at(at, len)
    }

    fn request(&mut self, input: &mut Input<'_>, work: Work) {
        let mut segment = self.segment(input);
        if let Work::Change(_) = work {
            segment.len = segment.len.min(8);
        }
        // The peer has no registered memory, so the remote segment does not matter: the peer returns arbitrary bytes.
        let remote = RemoteSegment { addr: 0, len: segment.len, key: 1 };
        let flags = CompletionFlags::from_bits_truncate(u32::from(input.byte()));
        self.ledger.request(self.end, work, segment, remote, flags, self.program.memory.lmr().addr());
    }

    /// Appends a record to the kept bytes. Bits of the input can make the record invalid.
    fn record(&mut self, input: &mut Input<'_>) {
        let kind = KINDS[usize::from(input.byte()) % KINDS.len()];
        let valid = input.byte();
        let (addr, key, len) = self.range(input);
        let mut body = match kind {
            kind::WRITE | kind::READ => fuzzing::target(&RemoteSegment { addr, len, key }).to_vec(),
            kind::ATOMIC if valid & 1 == 0 => fuzzing::atomic(addr & !7, key, Change::Add(input.number())).to_vec(),
            kind::ATOMIC => {
                let change = Change::Swap { expected: input.number(), new: input.number() };
                fuzzing::atomic(addr, key, change).to_vec()
            }
            kind::INVALIDATE => key.to_le_bytes().to_vec(),
            kind::IMMEDIATE => input.word().to_le_bytes().to_vec(),
            _ => Vec::new(),
        };
        let before = body.len();
        if matches!(kind, kind::MESSAGE | kind::WRITE | kind::WRITE_PART | kind::RESPONSE) {
            let rest = if kind == kind::WRITE { len } else { input.number() };
            let payload = if valid & 2 == 0 { rest.min(PAYLOAD) } else { input.number() % PAYLOAD };
            body.resize(before + payload as usize, input.byte());
        }
        let payload = (body.len() - before) as u64;
        let aux = match kind {
            kind::WRITE | kind::READ => len,
            kind::END | kind::IMMEDIATE => input.number(),
            _ if valid & 4 == 0 => payload,
            _ => input.number(),
        };
        let mut header = Header {
            kind,
            flags: input.byte() & 3,
            len: body.len() as u32,
            handled: if valid & 8 == 0 { 0 } else { self.peer.requests },
            window: MIN_WINDOW,
            aux,
        };
        if valid >= 0xf0 {
            header.kind = input.byte();
            header.flags = input.byte();
            header.len = header.len.wrapping_add_signed(i32::from(input.byte() as i8));
            header.handled = input.number();
            header.window = if input.bit() { MAX_WINDOW } else { input.word() };
        }
        self.peer.kept.extend(header.encode());
        self.peer.kept.extend(body);
    }

    /// Returns the address, key and length of a range in the program's memory. Bits of the input can replace each of
    /// them by an arbitrary value.
    fn range(&self, input: &mut Input<'_>) -> (u64, u32, u64) {
        let which = input.byte();
        if let (Some(shown), true) = (&self.window, which & 128 != 0) {
            return (input.number(), shown.key, input.number());
        }
        let program = self.program;
        let regions = [&program.open, &self.spare, &program.open, &program.closed[0]];
        let region = if which & 64 == 0 {
            regions[usize::from(which & 3)]
        } else {
            [&program.closed[1], &program.memory][usize::from(which & 1)]
        };
        let at = if which & 4 == 0 { u64::from(input.byte()) } else { input.number() };
        let len = if which & 8 == 0 { input.number() % (OPEN as u64 + 2) } else { input.number() };
        let addr = if which & 16 == 0 { region.lmr().addr().wrapping_add(at) } else { at };
        let key = if which & 32 == 0 { region.lmr().remote_key } else { region.lmr().remote_key ^ input.word() };
        (addr, key, len)
    }
}
