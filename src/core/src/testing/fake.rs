//! A transport that moves no bytes: the test plays the peer.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use host::lock::Mutex;

use super::patience;
use crate::addr::Address;
use crate::error::{Error, Resource, Result};
use crate::mem::Rights;
use crate::transport::datagrams::{DatagramSink, Datagrams, Exchange};
use crate::transport::{
    AdapterAttributes, AdapterSink, Armed, BindTarget, Closing, Connect, Disconnect, EndpointSink, Fabric, Flow,
    Handed, ListenerSink, Path, Poll, QpInit, Recv, RecvId, RegisteredRegion, Rejection, Request, RequestId, Scope,
    SeqNo, SharedReceives, ShortSend, Transport, Wakeup, Windows, ZoneId,
};

/// The fake transport. Records the calls that [`Call`] names. Calls succeed, except the call that
/// [`Fake::refuse_after`] selects, and calls with a constant that causes an error, such as [`Fake::NO_DEVICE`].
pub struct Fake {
    state: Arc<Mutex<State>>,
}

struct State {
    qps: Vec<EndpointSink<Fake>>,
    listeners: Vec<(u64, ListenerSink<Fake>)>,
    adapter: Option<AdapterSink<Fake>>,
    calls: Vec<Call>,
    refusal: Option<(usize, Error)>,
    closing: Closing,
    held_up: bool,
    stop: Option<(Sender<()>, Receiver<()>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the methods of a transport
pub enum Call {
    Recv(RecvId),
    SharedRecv(RecvId),
    Request(RequestId),
    Bind(RequestId),
    Connect(u64),
    Accept,
    Reject(Rejection),
    Drain,
    Disconnect { broken: bool },
    AwaitEnd,
    ArmLimit(usize),
    Watch(bool),
}

static NUMBER: AtomicU32 = AtomicU32::new(1);

fn number() -> u32 {
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

pub struct Zone(u32);

impl ZoneId for Zone {
    fn id(&self) -> u32 {
        self.0
    }
}

pub struct Region(u32, Arc<Mutex<State>>);

impl RegisteredRegion for Region {
    fn local_key(&self) -> u64 {
        self.0.into()
    }

    fn remote_key(&self) -> u32 {
        self.0
    }

    fn await_peers(&self) -> bool {
        !self.1.lock().held_up
    }
}

pub struct Queue;

pub struct Window;

pub struct Watch;

impl Armed for Watch {
    type Alarm = Infallible;

    fn wakeup(&self) -> Wakeup<'_, Infallible> {
        Wakeup::Reported
    }
}

// Only tests need a second sink of a queue pair.
impl Clone for EndpointSink<Fake> {
    fn clone(&self) -> Self {
        EndpointSink { endpoint: self.endpoint.clone(), life: self.life }
    }
}

impl Fake {
    /// Returns the sink of the adapter.
    pub fn sink(&self) -> AdapterSink<Fake> {
        self.state.lock().adapter.clone().expect("the adapter is open")
    }

    pub const NO_DEVICE: &str = "no device";
    pub const PANIC: &str = "panic";
    /// Instance data of an adapter whose endpoints must have the zone of their SRQ.
    pub const EQUAL_ZONES: &str = "equal zones";
    pub const MAX_PRIVATE_DATA: usize = 100;
    pub const QUALIFIER_IN_USE: u64 = 666;
    /// Qualifier that the transport chooses.
    pub const QUALIFIER_CHOSEN: u64 = 1024;
    pub const LOCAL_QUALIFIER: u64 = 77;

    pub fn last_qp(&self) -> EndpointSink<Fake> {
        self.state.lock().qps.last().cloned().expect("a queue pair was made")
    }

    pub fn listener(&self, at: usize) -> (u64, ListenerSink<Fake>) {
        self.state.lock().listeners[at].clone()
    }

    pub fn fail(&self) {
        let adapter = self.state.lock().adapter.take();
        if let Some(adapter) = &adapter {
            adapter.catastrophe();
        }
        self.state.lock().adapter = adapter;
    }

    /// Returns the calls that were recorded since the last call of this function.
    pub fn calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.state.lock().calls)
    }

    /// Causes one call that can fail to fail with `error`, after `others` successful calls.
    pub fn refuse_after(&self, others: usize, error: Error) {
        self.state.lock().refusal = Some((others, error));
    }

    /// Sets the result of each later disconnect. After [`Closing::Later`], the test must report the end.
    pub fn closes(&self, closing: Closing) {
        self.state.lock().closing = closing;
    }

    /// Sets whether peers can still access a region when core deregisters it.
    pub fn holds_up_binds(&self, on: bool) {
        self.state.lock().held_up = on;
    }

    /// Blocks the thread that next resizes or arms an SRQ or connects. The receiver reports the block; the sender ends
    /// it.
    pub fn stop_next_change(&self) -> (Receiver<()>, Sender<()>) {
        let (began, there) = channel();
        let (leave, given) = channel();
        self.state.lock().stop = Some((began, given));
        (there, leave)
    }

    fn linger(&self) {
        let stop = self.state.lock().stop.take();
        if let Some((began, leave)) = stop {
            began.send(()).expect("the test waits");
            leave.recv_timeout(patience()).expect("the test gives leave");
        }
        // Allows another thread to change the queue now, unless core prevents this.
        thread::yield_now();
    }

    fn note(&self, call: Call) {
        self.state.lock().calls.push(call);
    }

    fn hand_over(&self, call: Call) -> Result<()> {
        self.admit()?;
        self.note(call);
        Ok(())
    }

    fn admit(&self) -> Result<()> {
        let refusal = &mut self.state.lock().refusal;
        match refusal {
            Some((0, error)) => {
                let error = *error;
                *refusal = None;
                Err(error)
            }
            Some((others, _)) => {
                *others -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Never used, because [`attributes`] contains no support of datagrams.
impl Datagrams<Fake> for Infallible {
    type Peer = Infallible;

    fn create(_: &Fake, _: QpInit<'_, Fake, DatagramSink<Fake>>) -> Result<Arc<Self>> {
        Err(Error::ModelNotSupported)
    }

    fn post_recv(&self, _: &Recv<'_>) -> Result<()> {
        match *self {}
    }

    fn resolve(self: &Arc<Self>, _: &Fake, _: &Connect<'_>, _: Exchange<Fake>) -> Result<()> {
        match **self {}
    }

    fn answer(self: &Arc<Self>, _: &Fake, _: &mut Option<()>, _: &[u8], _: Exchange<Fake>) -> Result<()> {
        match **self {}
    }

    fn send_to(self: &Arc<Self>, to: &Infallible, _: &Request<'_>) -> Result<Handed> {
        match *to {}
    }

    fn close(_: &Fake, _: &[Arc<Self>]) {}
}

impl SharedReceives<Fake> for Queue {
    fn create(fake: &Fake, _: &Zone, _: usize, _: usize) -> Result<Self> {
        fake.admit().map(|()| Queue)
    }

    fn post(&self, fake: &Fake, recv: &Recv<'_>) -> Result<bool> {
        fake.hand_over(Call::SharedRecv(recv.id)).map(|()| true)
    }

    fn resize(&self, fake: &Fake, _: usize) -> Result<()> {
        fake.linger();
        fake.admit()
    }

    fn arm_limit(&self, fake: &Fake, limit: usize) -> Result<()> {
        fake.linger();
        fake.hand_over(Call::ArmLimit(limit))
    }

    fn kick(&self, _: impl Fn() -> bool) {}
}

impl Windows<Fake> for Window {
    fn create(fake: &Fake, _: &Zone, _: Scope) -> Result<Self> {
        fake.admit().map(|()| Window)
    }

    fn post_bind(
        &self,
        fake: &Fake,
        _: (&Arc<()>, &mut ()),
        request: &Request<'_>,
        _: Option<&BindTarget<'_, Region>>,
    ) -> Result<(u32, SeqNo)> {
        fake.hand_over(Call::Bind(request.id))?;
        Ok((number(), SeqNo(request.id)))
    }

    fn await_rebind(&self, _: &Fake) {}

    fn revoke(&self, _: &Fake) {}
}

impl Transport for Fake {
    type Window = Window;
    type Srq = Queue;
    type DatagramQp = Infallible;
    type Zone = Zone;
    type Region = Region;
    type Cq = ();
    type Armed = Watch;
    type Qp = ();
    type Tx = ();
    type Listener = ();
    type Incoming = ();

    const INLINE_MAX: u64 = 0;
    const TAKES_RECEIVES: bool = false;
    const KEEPS_TX: bool = false;
    const ARMS_ALL: bool = false;

    fn open(_name: &str, instance: &str) -> Result<(Arc<Self>, AdapterAttributes)> {
        match instance {
            Fake::NO_DEVICE => return Err(Error::InsufficientResources(Resource::Device)),
            Fake::PANIC => panic!("on purpose"),
            _ => {}
        }
        let state = State {
            qps: Vec::new(),
            listeners: Vec::new(),
            adapter: None,
            calls: Vec::new(),
            refusal: None,
            closing: Closing::Done,
            held_up: false,
            stop: None,
        };
        let attributes = AdapterAttributes { srq_zone_difference: instance != Fake::EQUAL_ZONES, ..attributes() };
        Ok((Arc::new(Fake { state: Arc::new(Mutex::new(state)) }), attributes))
    }

    fn report_to(&self, sink: AdapterSink<Self>) {
        self.state.lock().adapter = Some(sink);
    }

    fn watch(&self, on: bool) {
        self.note(Call::Watch(on));
    }

    fn close(&self) {}

    fn after_fork_in_child() {}

    fn zone_create(&self) -> Result<Zone> {
        self.admit()?;
        Ok(Zone(number()))
    }

    fn register(&self, _: &Zone, _: u64, _: u64, _: Rights, _: u64) -> Result<Region> {
        self.admit()?;
        Ok(Region(number(), self.state.clone()))
    }

    fn cq_create(&self, _: usize) -> Result<()> {
        self.admit()
    }

    fn poll(&self, _: Option<&()>, _: Poll) {}

    fn arm(&self, _: Option<&()>, _: bool) -> Watch {
        Watch
    }

    fn qp_create(&self, init: QpInit<'_, Self>) -> Result<(Arc<()>, ())> {
        self.admit()?;
        self.state.lock().qps.push(init.sink);
        Ok((Arc::new(()), ()))
    }

    fn post_recv(&self, (): &(), recv: &Recv<'_>) -> Result<bool> {
        self.hand_over(Call::Recv(recv.id)).map(|()| true)
    }

    fn kick(&self, _: &Arc<()>) {}

    #[inline(always)]
    fn post_inline(&self, _qp: &Arc<()>, _tx: &mut (), _send: ShortSend<'_>) -> Option<SeqNo> {
        None
    }

    fn post(&self, _: &Arc<()>, (): &mut (), request: &Request<'_>) -> Result<Handed> {
        self.hand_over(Call::Request(request.id))?;
        Ok(Handed::under_way(SeqNo(request.id)))
    }

    fn takes_extended((): &()) -> bool {
        true
    }

    fn reap(&self, _: &Arc<()>) {}

    fn repoll(&self, (): &()) {}

    fn flow(&self, (): &(), (): &()) -> Flow {
        Flow::default()
    }

    fn path(&self, (): &(), (): &()) -> Path {
        Path::default()
    }

    fn listen(&self, qualifier: Option<u64>, sink: ListenerSink<Self>) -> Result<((), u64)> {
        if qualifier == Some(Fake::QUALIFIER_IN_USE) {
            return Err(Error::QualifierInUse);
        }
        let qualifier = qualifier.unwrap_or(Fake::QUALIFIER_CHOSEN);
        self.state.lock().listeners.push((qualifier, sink));
        Ok(((), qualifier))
    }

    fn check_address(&self, _: &Address) -> Result<()> {
        Ok(())
    }

    fn connect(&self, _: &Arc<()>, connect: &Connect<'_>) -> Result<()> {
        self.linger();
        self.hand_over(Call::Connect(connect.qualifier))
    }

    fn accept(&self, incoming: &mut Option<()>, _: &Arc<()>, _: &[u8]) -> Result<()> {
        self.hand_over(Call::Accept)?;
        incoming.take();
        Ok(())
    }

    fn reject(&self, (): (), why: Rejection, _: &[u8]) {
        self.note(Call::Reject(why));
    }

    fn local_qualifier(&self, (): &()) -> u64 {
        Fake::LOCAL_QUALIFIER
    }

    fn disconnect(&self, _: &Arc<()>, how: Disconnect) -> Closing {
        let mut state = self.state.lock();
        state.calls.push(match how {
            Disconnect::AfterRequests => Call::Drain,
            Disconnect::Now => Call::Disconnect { broken: false },
            Disconnect::Broken => Call::Disconnect { broken: true },
        });
        state.closing
    }

    fn await_end(&self, _: &Arc<()>) {
        self.note(Call::AwaitEnd);
        thread::yield_now();
    }
}

fn attributes() -> AdapterAttributes {
    AdapterAttributes {
        vendor: "vendor".into(),
        provider: "fake".into(),
        hardware_version: (1, 2),
        firmware_version: (3, 4),
        address: Address::loopback(),
        max_eps: 8,
        max_dto_per_ep: 64,
        max_rdma_read_per_ep_in: 4,
        max_rdma_read_per_ep_out: 4,
        max_rdma_read_in: 32,
        max_rdma_read_out: 31,
        max_evds: 64,
        max_evd_qlen: 1000,
        max_segments: 8,
        max_segments_read: 4,
        max_segments_write: 4,
        max_lmrs: 64,
        max_lmr_block: 1 << 40,
        max_lmr_address: u64::MAX,
        max_pzs: 64,
        max_transfer: 1 << 20,
        max_rmrs: 4,
        max_rmr_address: u64::MAX,
        max_srqs: 4,
        max_eps_per_srq: 4,
        max_recvs_per_srq: 64,
        max_private_data: Fake::MAX_PRIVATE_DATA,
        max_reject_data: Fake::MAX_PRIVATE_DATA,
        optimal_alignment: 64,
        srq: true,
        srq_low_watermark: true,
        srq_zone_difference: true,
        rmr: true,
        zero_based: true,
        immediate: true,
        atomics: true,
        invalidate: true,
        endpoint_windows: true,
        datagrams: false,
        fabric: Fabric::memory("fake".into()),
    }
}
