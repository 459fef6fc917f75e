//! Watermarks against a transport that takes its time to be armed.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use super::*;
use crate::error::Resource;
use crate::evd::Evd;
use crate::event::Event;
use crate::lmr::{Lmr, Memory};
use crate::open::AsyncEvd;
use crate::slab::Slab;
use crate::transport::*;

const SIZE: usize = 16;
const PATIENCE: Duration = Duration::from_secs(20);

/// A transport that has a shared receive queue and nothing else.
struct Device {
    attributes: AdapterAttributes,
    /// The limit that the queue is armed for.
    armed: AtomicUsize,
    /// Whether arming fails.
    fails: AtomicBool,
    /// Numbers of the receives that were handed over and not taken.
    posted: Mutex<Vec<RecvId>>,
    /// Reports that arming has begun, and waits for permission to end it.
    gate: Mutex<Option<(Sender<()>, Receiver<()>)>>,
}

struct Zone;

impl ZoneId for Zone {
    fn id(&self) -> u32 {
        1
    }
}

struct Region;

impl RegionKeys for Region {
    fn local_key(&self) -> u32 {
        1
    }

    fn remote_key(&self) -> u32 {
        1
    }
}

impl Transport for Device {
    type Zone = Zone;
    type Region = Region;
    type Window = ();
    type Cq = ();
    type Srq = ();
    type Qp = ();
    type Listener = ();
    type Incoming = ();

    fn open(_: &str, _: &str) -> Result<Arc<Self>> {
        Ok(Arc::new(Device {
            attributes: AdapterAttributes { max_recvs_per_srq: 2 * SIZE, ..AdapterAttributes::small() },
            armed: AtomicUsize::new(0),
            fails: AtomicBool::new(false),
            posted: Mutex::default(),
            gate: Mutex::default(),
        }))
    }

    fn attributes(&self) -> &AdapterAttributes {
        &self.attributes
    }

    fn zone_create(&self) -> Result<Zone> {
        Ok(Zone)
    }

    fn register(&self, _: &Zone, _: u64, _: u64, _: Rights) -> Result<Region> {
        Ok(Region)
    }

    fn poll(&self, _: Option<&()>, _: Poll) {}

    fn srq_create(&self, _: &Zone, _: usize, _: usize) -> Result<()> {
        Ok(())
    }

    fn srq_post(&self, (): &(), recv: &Recv<'_>) -> Result<()> {
        self.posted.lock().push(recv.id);
        Ok(())
    }

    fn srq_kick(&self, (): &()) {}

    fn srq_resize(&self, (): &(), _: usize) -> Result<()> {
        self.await_leave();
        Ok(())
    }

    fn srq_arm_limit(&self, (): &(), limit: usize) -> Result<()> {
        self.await_leave();
        if self.fails.load(Ordering::Relaxed) {
            return Err(Error::InsufficientResources(Resource::Srq));
        }
        // Another thread may arm meanwhile, if the core lets it.
        thread::yield_now();
        self.armed.store(limit, Ordering::Relaxed);
        Ok(())
    }

    fn window_create(&self, _: &Zone) -> Result<()> {
        unreachable!()
    }

    fn cq_create(&self, _: usize) -> Result<()> {
        unreachable!()
    }

    fn arm(&self, _: Option<&()>) -> Option<RawFd> {
        unreachable!()
    }

    fn disarm(&self, _: Option<&()>, _: Option<RawFd>) {
        unreachable!()
    }

    fn qp_create(&self, _: QpInit<'_, Self>) -> Result<Arc<()>> {
        unreachable!()
    }

    fn post_recv(&self, (): &(), _: &Recv<'_>) -> Result<()> {
        unreachable!()
    }

    fn recv_kick(&self, _: &Arc<()>) {
        unreachable!()
    }

    fn post(&self, _: &Arc<()>, _: &Request<'_>) -> Result<()> {
        unreachable!()
    }

    fn post_bind(
        &self,
        _: &Arc<()>,
        _: RequestId,
        (): &(),
        _: Option<&BindTarget<'_, Region>>,
        _: bool,
    ) -> Result<u32> {
        unreachable!()
    }

    fn reap(&self, _: &Arc<()>) {
        unreachable!()
    }

    fn listen(&self, _: Option<u64>, _: ListenerSink<Self>) -> Result<((), u64)> {
        unreachable!()
    }

    fn connect(&self, _: &Arc<()>, _: &Connect<'_>) -> Result<()> {
        unreachable!()
    }

    fn accept(&self, _: &mut Option<()>, _: &Arc<()>, _: &[u8]) -> Result<()> {
        unreachable!()
    }

    fn reject(&self, (): (), _: Rejection) {
        unreachable!()
    }

    fn local_qualifier(&self, (): &()) -> u64 {
        unreachable!()
    }

    fn disconnect(&self, _: &Arc<()>, _: bool) -> Closing {
        unreachable!()
    }
}

impl Device {
    fn await_leave(&self) {
        if let Some((began, leave)) = self.gate.lock().take() {
            began.send(()).expect("the test waits");
            leave.recv_timeout(PATIENCE).expect("the test gives leave");
        }
    }

    /// Stops the next change of the queue in the middle. The test gets one end that tells when the change has stopped,
    /// and one that lets it go on.
    fn stop_next(&self) -> (Receiver<()>, Sender<()>) {
        let (began, there) = channel();
        let (leave, given) = channel();
        *self.gate.lock() = Some((began, given));
        (there, leave)
    }
}

/// A queue with its adapter, full of buffers.
struct Full {
    ia: Arc<Ia<Device>>,
    srq: Arc<Srq<Device>>,
    segment: LocalSegment,
}

impl Full {
    fn new() -> Self {
        let slab: &'static Slab<Device> = Box::leak(Box::new(Slab::new(0)));
        let ia = Ia::open(slab, "device", "", AsyncEvd::Create(8)).unwrap();
        let pz = Pz::create(&ia).unwrap();
        let lmr = Lmr::create(&ia, Memory::Virtual(4096), None, 64, &pz, Rights::LOCAL_WRITE).unwrap();
        let segment = LocalSegment { context: lmr.context(), addr: 4096, len: 64 };
        let srq = Srq::create(&ia, &pz, SIZE, 1).unwrap();
        let full = Full { ia, srq, segment };
        (0..SIZE).for_each(|_| full.post());
        full
    }

    fn device(&self) -> &Device {
        self.ia.transport()
    }

    fn post(&self) {
        self.srq.post_recv(&[self.segment], 7).unwrap();
    }

    /// Takes a buffer, as an endpoint does for a message.
    fn take(&self) -> RecvId {
        let id = self.device().posted.lock().pop().expect("a buffer");
        self.srq.taken(id);
        id
    }

    /// Completes a buffer that was taken; the program dequeues its event at once.
    fn complete(&self, id: RecvId) {
        drop(self.srq.complete(id).expect("a taken buffer"));
    }

    /// The events that have come since the last look.
    fn events(&self) -> usize {
        let evd = self.ia.async_evd().and_then(|evd| self.ia.slab().get::<Evd<Device>>(evd)).unwrap();
        std::iter::from_fn(|| evd.dequeue().ok())
            .inspect(|event| assert!(matches!(event, Event::Async { reason: AsyncReason::SrqLowWatermark, .. })))
            .count()
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        self.ia.close_abrupt();
    }
}

#[test]
fn the_transport_is_left_armed_for_the_watermark_that_the_books_have() {
    let full = Full::new();
    for round in 0..500 {
        thread::scope(|scope| {
            for watermark in [1 + round % 5, 6 + round % 7] {
                scope.spawn({
                    let srq = full.srq.clone();
                    move || srq.set_low_watermark(watermark).unwrap()
                });
            }
        });
        assert_eq!(full.device().armed.load(Ordering::Relaxed), full.srq.query().low_watermark, "round {round}");
    }
    assert_eq!(full.events(), 0);
}

#[test]
fn receives_go_on_while_the_transport_is_armed_and_the_event_comes_once() {
    let full = Full::new();
    for _ in 0..3 {
        let (there, leave) = full.device().stop_next();
        thread::scope(|scope| {
            scope.spawn(|| full.srq.set_low_watermark(SIZE).unwrap());
            there.recv_timeout(PATIENCE).expect("the transport is being armed");
            let first = full.take();
            assert_eq!(full.events(), 1, "the watermark is undercut before the transport is armed for it");
            full.complete(first);
            full.post();
            leave.send(()).expect("the transport waits");
        });
        assert_eq!(full.device().armed.load(Ordering::Relaxed), SIZE);
        let second = full.take();
        assert_eq!(full.events(), 0, "once an arming");
        full.complete(second);
        full.post();
    }
}

#[test]
fn a_watermark_that_is_undercut_already_is_told_of_once_and_not_armed() {
    let full = Full::new();
    full.take();
    full.srq.set_low_watermark(SIZE).unwrap();
    assert_eq!((full.events(), full.device().armed.load(Ordering::Relaxed)), (1, 0));
    full.take();
    assert_eq!(full.events(), 0);
    full.srq.set_low_watermark(0).unwrap();
    full.take();
    assert_eq!((full.events(), full.device().armed.load(Ordering::Relaxed)), (0, 0));
}

#[test]
fn a_watermark_that_the_transport_refuses_leaves_the_old_one_as_it_was() {
    let full = Full::new();
    let refused = Err(Error::InsufficientResources(Resource::Srq));
    full.srq.set_low_watermark(SIZE - 2).unwrap();
    full.device().fails.store(true, Ordering::Relaxed);
    assert_eq!(full.srq.set_low_watermark(1), refused);
    assert_eq!(full.srq.query().low_watermark, SIZE - 2);
    let taken = [full.take(), full.take()];
    assert_eq!(full.events(), 0);
    // The watermark is still armed, and a buffer that undercuts it while another change is refused raises the event.
    let (there, leave) = full.device().stop_next();
    thread::scope(|scope| {
        let call = scope.spawn(|| full.srq.set_low_watermark(1));
        there.recv_timeout(PATIENCE).expect("the call");
        full.take();
        assert_eq!(full.events(), 0);
        leave.send(()).expect("the call");
        assert_eq!(call.join().expect("the call"), refused);
    });
    assert_eq!(full.events(), 1);
    // The event was raised and does not come again.
    assert_eq!(full.srq.set_low_watermark(1), refused);
    full.take();
    assert_eq!(full.events(), 0);
    taken.into_iter().for_each(|id| full.complete(id));
}

#[test]
fn receives_go_on_while_the_queue_grows() {
    let full = Full::new();
    let (there, leave) = full.device().stop_next();
    thread::scope(|scope| {
        scope.spawn(|| full.srq.resize(2 * SIZE).unwrap());
        there.recv_timeout(PATIENCE).expect("the queue is growing");
        let taken = full.take();
        full.complete(taken);
        full.post();
        assert!(full.srq.post_recv(&[full.segment], 7).is_err(), "the old size holds until the transport has room");
        leave.send(()).expect("the transport waits");
    });
    (0..SIZE).for_each(|_| full.post());
    let status = full.srq.query();
    assert_eq!((status.max_recvs, status.available, status.outstanding), (2 * SIZE, 2 * SIZE, 2 * SIZE));
    assert!(full.srq.post_recv(&[full.segment], 7).is_err());
}
