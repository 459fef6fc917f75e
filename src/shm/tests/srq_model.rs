//! Random sequences of calls on a shared receive queue and its endpoints against a model
//! of the books. After each call the counters are exact, and
//! 0 <= available <= outstanding <= max_recv_dtos.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dat_core::addr::Address;
use dat_core::ep::{ConnectRequest, State};
use dat_core::error::Refusal;
use dat_core::event::{AsyncReason, ConnectionEvent};
use dat_core::{
    AsyncEvd, CompletionFlags, Cr, Endpoint, EpParts, Error, Evd, Event, Ia, Lmr, LocalSegment, Memory, Psp, PspMode,
    Pz, Rights, Slab, Srq, Streams,
};
use dat_shm::Shm;
use proptest::prelude::*;

const ENDS: usize = 3;
const SIZE: usize = 8;

#[derive(Clone, Debug)]
enum Call {
    Post,
    Send(usize),
    Dequeue(usize),
    SetLowWatermark(usize),
    Resize(usize),
    Disconnect(usize, bool),
    Reconnect(usize),
    Replace(usize),
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let end = 0..ENDS;
    let call = prop_oneof![
        6 => Just(Call::Post),
        6 => end.clone().prop_map(Call::Send),
        5 => end.clone().prop_map(Call::Dequeue),
        2 => (0..SIZE + 3).prop_map(Call::SetLowWatermark),
        2 => (0..2 * SIZE).prop_map(Call::Resize),
        1 => (end.clone(), any::<bool>()).prop_map(|(k, by_peer)| Call::Disconnect(k, by_peer)),
        1 => end.clone().prop_map(Call::Reconnect),
        1 => end.prop_map(Call::Replace),
    ];
    prop::collection::vec(call, 1..80)
}

/// What the books must say.
struct Model {
    max: usize,
    available: usize,
    low_watermark: usize,
    armed: bool,
    fired: usize,
    /// Completions that wait on each end's dispatcher; each occupies an entry.
    queued: [usize; ENDS],
    /// Messages of each end that wait for a buffer, in the order in which ends starved.
    waiting: [usize; ENDS],
    starved: VecDeque<usize>,
    connected: [bool; ENDS],
}

impl Model {
    fn outstanding(&self) -> usize {
        self.available + self.queued.iter().sum::<usize>()
    }

    fn fire_if_due(&mut self) {
        if self.armed && self.available < self.low_watermark {
            self.armed = false;
            self.fired += 1;
        }
    }

    fn take(&mut self, k: usize) {
        self.available -= 1;
        self.queued[k] += 1;
        self.fire_if_due();
    }

    fn send(&mut self, k: usize) {
        if self.waiting[k] == 0 && self.available > 0 {
            self.take(k);
            return;
        }
        if self.waiting[k] == 0 {
            self.starved.push_back(k);
        }
        self.waiting[k] += 1;
    }

    fn post(&mut self) -> bool {
        if self.outstanding() >= self.max {
            return false;
        }
        self.available += 1;
        if let Some(k) = self.starved.pop_front() {
            self.waiting[k] -= 1;
            self.take(k);
            if self.waiting[k] > 0 {
                self.starved.push_back(k);
            }
        }
        true
    }

    fn end(&mut self, k: usize) {
        self.connected[k] = false;
        self.waiting[k] = 0;
        self.starved.retain(|&other| other != k);
    }
}

struct World {
    ia: Arc<Ia<Shm>>,
    pz: Arc<Pz<Shm>>,
    srq: Arc<Srq<Shm>>,
    requests: Arc<Evd<Shm>>,
    connections: Arc<Evd<Shm>>,
    scratch: Arc<Evd<Shm>>,
    recv: Vec<Arc<Evd<Shm>>>,
    psp: Arc<Psp<Shm>>,
    receivers: Vec<Arc<Endpoint<Shm>>>,
    senders: Vec<Arc<Endpoint<Shm>>>,
    segment: LocalSegment,
    #[allow(dead_code)] // the memory behind `segment`
    memory: (Box<[u8]>, Arc<Lmr<Shm>>),
    model: Model,
}

fn wait(evd: &Evd<Shm>) -> Event {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        match evd.dequeue() {
            Ok(event) => return event,
            Err(Error::QueueEmpty) if Instant::now() < end => std::thread::yield_now(),
            Err(error) => panic!("{error:?}"),
        }
    }
}

impl World {
    fn new(directory: &str) -> World {
        let slab: &'static Slab<Shm> = Box::leak(Box::new(Slab::new(0)));
        let ia = Ia::open(slab, "shm", directory, AsyncEvd::Create(64)).unwrap();
        let pz = Pz::create(&ia).unwrap();
        let evd = |streams| Evd::create(&ia, 512, None, streams).unwrap();
        let requests = evd(Streams::REQUESTS);
        let mut memory = vec![0_u8; 64].into_boxed_slice();
        let rights = Rights::LOCAL_READ | Rights::LOCAL_WRITE;
        let addr = memory.as_mut_ptr().expose_provenance() as u64;
        let lmr = Lmr::create(&ia, Memory::Virtual(addr), None, 64, &pz, rights).unwrap();
        let mut world = World {
            srq: Srq::create(&ia, &pz, SIZE, 1).unwrap(),
            psp: Psp::create(&ia, None, &requests, PspMode::Consumer).unwrap(),
            connections: evd(Streams::CONNECTIONS),
            scratch: evd(Streams::TRANSFERS),
            recv: (0..ENDS).map(|_| evd(Streams::TRANSFERS)).collect(),
            receivers: Vec::new(),
            senders: Vec::new(),
            segment: LocalSegment { context: lmr.context(), addr, len: 64 },
            memory: (memory, lmr),
            model: Model {
                max: SIZE,
                available: 0,
                low_watermark: 0,
                armed: false,
                fired: 0,
                queued: [0; ENDS],
                waiting: [0; ENDS],
                starved: VecDeque::new(),
                connected: [false; ENDS],
            },
            requests,
            pz,
            ia,
        };
        for k in 0..ENDS {
            let (receiver, sender) = (world.receiver(k), world.sender());
            world.receivers.push(receiver);
            world.senders.push(sender);
            world.connect(k);
        }
        world
    }

    fn receiver(&self, k: usize) -> Arc<Endpoint<Shm>> {
        let parts = EpParts {
            pz: Some(&self.pz),
            recv_evd: Some(&self.recv[k]),
            request_evd: Some(&self.scratch),
            connect_evd: Some(&self.connections),
            srq: Some(&self.srq),
        };
        Endpoint::create(&self.ia, &parts, None).unwrap()
    }

    fn sender(&self) -> Arc<Endpoint<Shm>> {
        let parts = EpParts {
            pz: Some(&self.pz),
            recv_evd: Some(&self.scratch),
            request_evd: Some(&self.scratch),
            connect_evd: Some(&self.connections),
            srq: None,
        };
        Endpoint::create(&self.ia, &parts, None).unwrap()
    }

    fn connect(&mut self, k: usize) {
        let address = Address::loopback();
        let qualifier = self.psp.point().qualifier();
        let request = ConnectRequest { address: &address, qualifier, timeout: None, private_data: &[] };
        self.senders[k].connect(&request).unwrap();
        let Event::Request { cr, .. } = wait(&self.requests) else { panic!("no request") };
        self.ia.slab().get::<Cr<Shm>>(cr).unwrap().accept(Some(&self.receivers[k]), &[]).unwrap();
        self.expect_connections(ConnectionEvent::Established, 2);
        self.model.connected[k] = true;
    }

    fn expect_connections(&self, wanted: ConnectionEvent, count: usize) {
        for _ in 0..count {
            let Event::Connection { kind, .. } = wait(&self.connections) else { panic!("no connection event") };
            assert_eq!(kind, wanted);
        }
    }

    fn disconnect(&mut self, k: usize, by_peer: bool) {
        if !self.model.connected[k] {
            return;
        }
        // What was sent has been counted as arrived, so let it arrive.
        self.check();
        let end = if by_peer { &self.senders[k] } else { &self.receivers[k] };
        end.disconnect(false).unwrap();
        self.expect_connections(ConnectionEvent::Disconnected, 2);
        self.model.end(k);
        while self.scratch.dequeue().is_ok() {}
    }

    fn call(&mut self, call: &Call) {
        match *call {
            Call::Post => {
                let posted = self.srq.post_recv(&[self.segment], 0).is_ok();
                assert_eq!(posted, self.model.post());
            }
            Call::Send(k) if self.model.connected[k] => {
                let sent = self.senders[k].post_send(&[self.segment], 0, CompletionFlags::SUPPRESS);
                if sent.is_ok() {
                    self.model.send(k);
                }
            }
            Call::Send(_) => {}
            Call::Dequeue(k) => {
                let dequeued = self.recv[k].dequeue().is_ok();
                assert_eq!(dequeued, self.model.queued[k] > 0);
                self.model.queued[k] -= usize::from(dequeued);
            }
            Call::SetLowWatermark(value) => {
                let set = self.srq.set_low_watermark(value).is_ok();
                assert_eq!(set, value <= self.model.max);
                if set {
                    self.model.low_watermark = value;
                    self.model.armed = true;
                    self.model.fire_if_due();
                }
            }
            Call::Resize(value) => {
                let short = value < self.model.outstanding() || value < self.model.low_watermark;
                match self.srq.resize(value) {
                    Ok(()) => {
                        assert!(value > 0 && !short);
                        self.model.max = value;
                    }
                    Err(Error::InvalidState(Refusal::SrqTooShort)) => assert!(value > 0 && short),
                    Err(error) => {
                        assert_eq!((error, value), (Error::InvalidParameter(dat_core::error::Arg::QueueLength), 0))
                    }
                }
            }
            Call::Disconnect(k, by_peer) => self.disconnect(k, by_peer),
            Call::Reconnect(k) => {
                self.disconnect(k, false);
                if self.receivers[k].query().state == State::Disconnected {
                    self.receivers[k].reset().unwrap();
                    self.senders[k].reset().unwrap();
                }
                self.connect(k);
            }
            Call::Replace(k) => {
                self.check();
                let was_connected = std::mem::take(&mut self.model.connected[k]);
                self.receivers[k].free().unwrap();
                self.model.end(k);
                if was_connected {
                    self.expect_connections(ConnectionEvent::Disconnected, 1);
                }
                self.senders[k].reset().unwrap();
                while self.scratch.dequeue().is_ok() {}
                self.receivers[k] = self.receiver(k);
                self.connect(k);
            }
        }
        self.check();
    }

    fn check(&mut self) {
        let status = self.srq.query();
        assert!(status.available <= status.outstanding && status.outstanding <= status.max_recvs);
        let model = (self.model.max, self.model.available, self.model.outstanding());
        assert_eq!((status.max_recvs, status.available, status.outstanding), model);
        let events = self.ia.async_evd().and_then(|evd| self.ia.slab().get::<Evd<Shm>>(evd)).unwrap();
        while let Ok(event) = events.dequeue() {
            assert!(matches!(event, Event::Async { reason: AsyncReason::SrqLowWatermark, .. }));
            self.model.fired = self.model.fired.checked_sub(1).expect("one event more than due");
        }
        assert_eq!(self.model.fired, 0, "an event is missing");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_books_are_exact(calls in calls()) {
        let directory = tempfile::tempdir().unwrap();
        let mut world = World::new(directory.path().join("meet").to_str().unwrap());
        for call in &calls {
            world.call(call);
        }
        world.ia.close_abrupt();
    }
}
