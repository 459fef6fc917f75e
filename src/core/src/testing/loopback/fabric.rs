//! What the adapters of one instance share, and the thread that serves them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, ThreadId};
use std::time::Instant;

use host::lock::{Condvar, Mutex, MutexGuard};
use host::memory;

use super::Loopback;
use super::cm::{Attempt, Incoming};
use super::memory::{Row, Table};
use crate::ep::Change;
use crate::error::Result;
use crate::event::Status;
use crate::transport::{
    Checked, ConnectionReport, ConnectionRequestInfo, EndpointSink, FailedRequest, ListenerSink, QpInit, Recv,
    RecvDone, RecvId, Rejection, RemoteSegment, RequestId, ZoneId,
};

/// Fabrics by the instance that was opened, each with the number of its adapters.
static FABRICS: Mutex<BTreeMap<String, (Arc<Fabric>, usize)>> = Mutex::new(BTreeMap::new());

/// Pieces of work that can be handed in without an allocation.
const INTAKE: usize = 1024;

/// A receive that was posted.
pub struct Receive {
    pub id: RecvId,
    pub segments: Checked,
}

impl Receive {
    pub fn new(recv: &Recv<'_>) -> Self {
        Receive { id: recv.id, segments: recv.segments.iter().copied().collect() }
    }
}

/// A request that was posted.
pub struct Transfer {
    pub id: RequestId,
    pub task: Task,
    pub segments: Checked,
    pub len: u64,
}

/// What a request does.
pub enum Task {
    Send { solicited: bool, invalidate: Option<u32> },
    Write(RemoteSegment),
    Read(RemoteSegment),
    WriteImmediate { to: RemoteSegment, value: u32, solicited: bool },
    Atomic(RemoteSegment, Change),
    Bind(Bind),
}

/// A window's binding to a range, or to nothing.
pub struct Bind {
    pub window: u32,
    pub key: u32,
    pub row: Option<Row>,
}

/// What is handed in, with the number of the end or of the shared queue that it is for.
pub enum Work {
    Recv(u64, Receive),
    SharedRecv(u64, Receive),
    Request(u64, Transfer),
}

/// What is told without a lock.
pub enum Report {
    Connection(EndpointSink<Loopback>, ConnectionReport),
    Failed(EndpointSink<Loopback>, Option<RecvDone>, Option<(FailedRequest, Status)>),
    Drained(EndpointSink<Loopback>),
    Request(ListenerSink<Loopback>, Incoming, ConnectionRequestInfo),
}

impl Report {
    fn deliver(self) {
        match self {
            Report::Connection(sink, report) => sink.connection(report),
            Report::Failed(sink, recv, request) => sink.failed(recv, request),
            Report::Drained(sink) => sink.drained(),
            Report::Request(sink, incoming, info) => {
                if let Err(incoming) = sink.request(incoming, info) {
                    incoming.refuse(Rejection::Provider, &[]);
                }
            }
        }
    }
}

/// One end of a connection, or of an attempt at one.
pub struct End {
    pub sink: EndpointSink<Loopback>,
    pub zone: u32,
    /// The peer may read its memory.
    pub serves_reads: bool,
    pub srq: Option<u64>,
    pub recvs: VecDeque<Receive>,
    pub requests: VecDeque<Transfer>,
    /// Its program takes extended operations.
    pub extended: bool,
    /// That of its peer does. A post asks for it without the state's lock.
    pub to_extended: Arc<AtomicBool>,
    /// The other end, while the connection stands.
    pub peer: Option<u64>,
    /// It stands in the line of its shared queue.
    pub starved: bool,
}

/// A shared receive queue.
pub struct Shared {
    pub recvs: VecDeque<Receive>,
    /// Ends for which a message waits, in the order in which they ran out of buffers.
    pub starved: VecDeque<u64>,
}

/// All that happens on a fabric happens here, under one lock.
#[derive(Default)]
pub struct State {
    pub ends: BTreeMap<u64, End>,
    pub srqs: BTreeMap<u64, Shared>,
    pub listeners: BTreeMap<u64, ListenerSink<Loopback>>,
    pub attempts: BTreeMap<u64, Attempt>,
    /// What is to be told, and to which end; 0 for a listener.
    pub reports: VecDeque<(u64, Report)>,
    /// The end that is being told something, and the thread that tells it.
    delivering: Option<(u64, ThreadId)>,
    last: u64,
}

impl State {
    /// A number that was never used.
    pub fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn next_report(&mut self) -> Option<Report> {
        let (number, report) = self.reports.pop_front()?;
        self.delivering = Some((number, thread::current().id()));
        Some(report)
    }

    /// Whether another thread is telling the end something.
    pub fn is_telling(&self, number: u64) -> bool {
        self.delivering.is_some_and(|(told, by)| told == number && by != thread::current().id())
    }

    pub fn add_srq(&mut self, depth: usize) -> Result<u64> {
        let number = self.number();
        self.srqs.insert(number, Shared { recvs: queue(depth)?, starved: VecDeque::new() });
        Ok(number)
    }

    pub fn add_end(&mut self, init: &QpInit<'_, Loopback>, to_extended: &Arc<AtomicBool>) -> Result<u64> {
        let number = self.number();
        let end = End {
            sink: init.sink.clone(),
            zone: init.zone.id(),
            serves_reads: init.sizes.reads_in > 0,
            srq: init.srq.map(|srq| srq.number),
            recvs: queue(init.sizes.recvs)?,
            requests: queue(init.sizes.requests)?,
            extended: init.extended,
            to_extended: to_extended.clone(),
            peer: None,
            starved: false,
        };
        self.ends.insert(number, end);
        Ok(number)
    }
}

/// An empty queue with room for `len` elements.
fn queue<E>(len: usize) -> Result<VecDeque<E>> {
    Ok(VecDeque::from(memory::vec(len)?))
}

#[derive(Default)]
struct Signal {
    due: bool,
    stop: bool,
}

/// What the adapters of one instance share.
#[derive(Default)]
pub struct Fabric {
    /// What was posted and not looked at yet. Nothing else is locked under it, so that it
    /// can be locked whatever the poster holds.
    intake: Mutex<VecDeque<Work>>,
    state: Mutex<State>,
    /// Taken under the state's lock, or alone.
    pub memory: Mutex<Table>,
    signal: Mutex<Signal>,
    changed: Condvar,
}

impl Fabric {
    /// The fabric of `instance`, for one adapter more.
    pub fn join(instance: &str) -> Result<Arc<Fabric>> {
        let mut fabrics = FABRICS.lock();
        let intake = Mutex::new(queue(INTAKE)?);
        let (fabric, adapters) = fabrics.entry(instance.to_owned()).or_insert_with(|| {
            let fabric = Arc::new(Fabric { intake, ..Fabric::default() });
            let served = fabric.clone();
            thread::Builder::new().name("loopback".into()).spawn(move || served.serve()).expect("a thread");
            (fabric, 0)
        });
        *adapters += 1;
        Ok(fabric.clone())
    }

    /// One adapter less; the thread ends with the last one.
    pub fn leave(instance: &str) {
        let mut fabrics = FABRICS.lock();
        let Some((fabric, adapters)) = fabrics.get_mut(instance) else { return };
        *adapters -= 1;
        if *adapters == 0 {
            fabric.signal.lock().stop = true;
            fabric.changed.notify_one();
            fabrics.remove(instance);
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Adds work, which is carried out behind all that was added before.
    pub fn hand_in(&self, work: Work) {
        self.intake.lock().push_back(work);
        self.wake();
    }

    /// Has the thread look for work and reports.
    pub fn wake(&self) {
        self.signal.lock().due = true;
        self.changed.notify_one();
    }

    /// Carries out all that was handed in before the call.
    pub fn run(&self) {
        self.work_off(&mut self.state.lock());
    }

    /// As [`Fabric::run`], unless another thread is about it.
    pub fn run_if_free(&self) {
        if let Some(mut state) = self.state.try_lock() {
            self.work_off(&mut state);
        }
    }

    fn work_off(&self, state: &mut State) {
        while let Some(work) = self.next_work() {
            state.carry_out(&self.memory, work);
        }
        if !state.reports.is_empty() {
            self.wake();
        }
    }

    fn next_work(&self) -> Option<Work> {
        self.intake.lock().pop_front()
    }

    /// Tells the next report; false if there is none.
    fn tell(&self) -> bool {
        let Some(report) = self.state.lock().next_report() else { return false };
        report.deliver();
        self.state.lock().delivering = None;
        true
    }

    fn serve(&self) {
        loop {
            self.run();
            let deadline = self.state.lock().expire(Instant::now());
            while self.tell() {}
            let mut signal = self.signal.lock();
            if !signal.due {
                match deadline {
                    _ if signal.stop => return,
                    Some(deadline) => drop(self.changed.wait_until(&mut signal, deadline)),
                    None => self.changed.wait(&mut signal),
                }
            }
            signal.due = false;
        }
    }
}
