//! Random sequences of calls on a shared receive queue and its endpoints against a model of
//! the books. After each call the counters are exact, and
//! 0 <= available <= outstanding <= entries.

use std::collections::VecDeque;
use std::sync::Arc;

use dat_core::ep::State;
use dat_core::error::{Arg, Refusal};
use dat_core::event::{AsyncReason, ConnectionEvent};
use dat_core::testing::{Adapter, Buffer, End, connect, until};
use dat_core::transport::Transport;
use dat_core::{CompletionFlags, Error, Evd, Event, Srq, Streams};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::{Network, rounds};

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

/// A sequence that failed once: ends take turns at starving, and one that does connects anew.
const ONCE_WRONG: [Call; 16] = [
    Call::Post,
    Call::Send(0),
    Call::Send(2),
    Call::Send(0),
    Call::Send(2),
    Call::Post,
    Call::Dequeue(2),
    Call::Post,
    Call::Dequeue(0),
    Call::Send(1),
    Call::Send(0),
    Call::Post,
    Call::Send(2),
    Call::Send(0),
    Call::Post,
    Call::Reconnect(1),
];

/// What the books must say.
struct Model {
    max: usize,
    available: usize,
    low_watermark: usize,
    armed: bool,
    fired: usize,
    /// Completions that wait on each end's dispatcher; each occupies an entry.
    queued: [usize; ENDS],
    /// Messages of each end that wait for a buffer.
    waiting: [usize; ENDS],
    /// The ends for which messages wait, in the order in which they ran out.
    starved: VecDeque<usize>,
    connected: [bool; ENDS],
}

impl Model {
    fn new() -> Self {
        Model {
            max: SIZE,
            available: 0,
            low_watermark: 0,
            armed: false,
            fired: 0,
            queued: [0; ENDS],
            waiting: [0; ENDS],
            starved: VecDeque::new(),
            connected: [false; ENDS],
        }
    }

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

    /// Whether a message of `k` would leave open which of several ends gets the next buffer.
    fn would_race(&self, k: usize) -> bool {
        self.available == 0 && self.starved.iter().any(|&other| other != k)
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

struct World<T: Transport> {
    memory: Buffer<T>,
    srq: Arc<Srq<T>>,
    /// Where all but the completions of receives go.
    scratch: Arc<Evd<T>>,
    receivers: Vec<End<T>>,
    senders: Vec<End<T>>,
    adapter: Adapter<T>,
    model: Model,
    exact: bool,
}

impl<T: Transport> World<T> {
    fn new(network: &Network<T>) -> Self {
        let adapter = network.open();
        let mut world = World {
            memory: adapter.buffer(64),
            srq: adapter.srq(SIZE),
            scratch: adapter.evd(Streams::TRANSFERS),
            receivers: Vec::new(),
            senders: Vec::new(),
            adapter,
            model: Model::new(),
            exact: network.is_exact(),
        };
        for k in 0..ENDS {
            let receives = world.adapter.evd(Streams::TRANSFERS);
            world.receivers.push(world.end(&receives, true));
            world.senders.push(world.end(&world.scratch, false));
            world.connect(k);
        }
        world
    }

    fn end(&self, receives: &Arc<Evd<T>>, shared: bool) -> End<T> {
        let evds = [receives, &self.scratch, &self.adapter.evd(Streams::CONNECTIONS)];
        self.adapter.end_to(&self.adapter.pz, evds, shared.then_some(&self.srq), |_| {})
    }

    fn connect(&mut self, k: usize) {
        connect(&self.senders[k], &self.receivers[k]);
        self.model.connected[k] = true;
    }

    fn disconnect(&mut self, k: usize, by_peer: bool) {
        if !self.model.connected[k] {
            return;
        }
        // What was sent has been counted as arrived, so let it arrive.
        self.check();
        let end = if by_peer { &self.senders[k] } else { &self.receivers[k] };
        end.ep.disconnect(false).unwrap();
        self.senders[k].is_told(ConnectionEvent::Disconnected);
        self.receivers[k].is_told(ConnectionEvent::Disconnected);
        self.model.end(k);
        while self.scratch.dequeue().is_ok() {}
    }

    fn call(&mut self, call: &Call) {
        let segment = [self.memory.at(0, 64)];
        match *call {
            Call::Post => {
                let posted = self.srq.post_recv(&segment, 0).is_ok();
                assert_eq!(posted, self.model.post());
            }
            Call::Send(k) if self.model.connected[k] && (self.exact || !self.model.would_race(k)) => {
                if self.senders[k].ep.post_send(&segment, 0, CompletionFlags::SUPPRESS).is_ok() {
                    self.model.send(k);
                }
            }
            Call::Send(_) => {}
            Call::Dequeue(k) => {
                let dequeued = self.receivers[k].receives.dequeue().is_ok();
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
                    Err(error) => assert_eq!((error, value), (Error::InvalidParameter(Arg::QueueLength), 0)),
                }
            }
            Call::Disconnect(k, by_peer) => self.disconnect(k, by_peer),
            Call::Reconnect(k) => {
                self.disconnect(k, false);
                if self.receivers[k].state() == State::Disconnected {
                    self.receivers[k].ep.reset().unwrap();
                    self.senders[k].ep.reset().unwrap();
                }
                self.connect(k);
            }
            Call::Replace(k) => {
                self.check();
                let was_connected = std::mem::take(&mut self.model.connected[k]);
                self.receivers[k].ep.free().unwrap();
                self.model.end(k);
                if was_connected {
                    self.senders[k].is_told(ConnectionEvent::Disconnected);
                }
                self.senders[k].ep.reset().unwrap();
                while self.scratch.dequeue().is_ok() {}
                self.receivers[k] = self.end(&self.receivers[k].receives, true);
                self.connect(k);
            }
        }
        self.check();
    }

    /// The counters are those of the model: at once, or as soon as messages have arrived.
    fn check(&mut self) {
        let wanted = (self.model.max, self.model.available, self.model.outstanding());
        let counts = || {
            let status = self.srq.query();
            assert!(status.available <= status.outstanding && status.outstanding <= status.max_recvs);
            (status.max_recvs, status.available, status.outstanding)
        };
        if !self.exact {
            until("the counters are exact", || counts() == wanted);
            let idle = |end: &End<T>| end.ep.recv_query().allocated == 0;
            until("what was taken is complete", || self.receivers.iter().all(idle));
        }
        assert_eq!(counts(), wanted);
        let events = self.adapter.events();
        let fired = self.model.fired;
        let mut told = 0;
        let mut look = || {
            while let Ok(event) = events.dequeue() {
                assert!(matches!(event, Event::Async { reason: AsyncReason::SrqLowWatermark, .. }));
                told += 1;
            }
            assert!(told <= fired, "one event more than due");
            told == fired
        };
        if !self.exact {
            until("the events of the watermark are there", &mut look);
        }
        assert!(look(), "an event is missing");
        self.model.fired = 0;
    }
}

/// See above.
pub fn the_books_are_exact<T: Transport>(network: &Network<T>) {
    if !network.open().ia.transport().attributes().srq {
        return;
    }
    let play = |calls: &[Call]| {
        let mut world = World::new(network);
        calls.iter().for_each(|call| world.call(call));
    };
    play(&ONCE_WRONG);
    let cases = rounds(64) as u32;
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let tried = TestRunner::new(config).run(&calls(), |calls| {
        play(&calls);
        Ok(())
    });
    if let Err(error) = tried {
        panic!("{error}");
    }
}
