//! Watermarks, with a transport that arms slowly.

use std::thread;

use host::lock::MutexGuard;

use super::*;
use crate::arena::Arena;
use crate::error::Resource;
use crate::evd::Evd;
use crate::event::Event;
use crate::ia::ApiCaps;
use crate::lmr::{Lmr, Memory};
use crate::lmr_table::LocalSegment;
use crate::mem::Base;
use crate::open::AsyncEvd;
use crate::testing::{Call, Fake, patience};

const SIZE: usize = 16;

struct Full {
    ia: Arc<Ia<Fake>>,
    srq: Arc<Srq<Fake>>,
    segment: LocalSegment,
    device: Mutex<Device>,
}

#[derive(Default)]
struct Device {
    posted: Vec<RecvId>,
    armed: usize,
}

impl Full {
    fn new() -> Self {
        let arena: &'static Arena<Fake> = Box::leak(Box::new(Arena::new()));
        let ia = Ia::open(arena, 0, "fake", "", AsyncEvd::Create(8), ApiCaps::default()).unwrap();
        let pz = Pz::create(&ia).unwrap();
        let lmr = Lmr::create(&ia, Memory::Virtual(4096), None, 64, &pz, Rights::LOCAL_WRITE, Base::Address).unwrap();
        let segment = LocalSegment { context: lmr.context, addr: 4096, len: 64 };
        let srq = Srq::create(&ia, &pz, SIZE, 1).unwrap();
        let full = Full { ia, srq, segment, device: Mutex::default() };
        (0..SIZE).for_each(|_| full.post());
        full
    }

    fn fake(&self) -> &Fake {
        &self.ia.transport
    }

    fn device(&self) -> MutexGuard<'_, Device> {
        let mut device = self.device.lock();
        for call in self.fake().calls() {
            match call {
                Call::SharedRecv(id) => device.posted.push(id),
                Call::ArmLimit(limit) => device.armed = limit,
                _ => {}
            }
        }
        device
    }

    fn post(&self) {
        self.srq.post_recv(&[self.segment], 7).unwrap();
    }

    /// Takes a buffer, like an endpoint for a message.
    fn take(&self) -> RecvId {
        let id = self.device().posted.pop().expect("a buffer");
        self.srq.taken(id);
        id
    }

    /// Completes a taken buffer. The program dequeues its event immediately.
    fn complete(&self, id: RecvId) {
        drop(self.srq.complete(id).expect("a taken buffer"));
    }

    fn events(&self) -> usize {
        let evd = self.ia.async_evd().and_then(|evd| self.ia.arena.get::<Evd<Fake>>(evd)).unwrap();
        std::iter::from_fn(|| evd.dequeue().ok())
            .inspect(|event| assert!(matches!(event, Event::Async { reason: AsyncReason::SrqLowWatermark, .. })))
            .count()
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        // A test may have closed it already.
        let _ = self.ia.close_abrupt();
    }
}

#[test]
fn transport_has_same_watermark_as_accounting() {
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
        assert_eq!(full.device().armed, full.srq.query().low_watermark, "round {round}");
    }
    assert_eq!(full.events(), 0);
}

#[test]
fn receives_continue_during_arming() {
    let full = Full::new();
    for _ in 0..3 {
        let (there, leave) = full.fake().stop_next_change();
        thread::scope(|scope| {
            scope.spawn(|| full.srq.set_low_watermark(SIZE).unwrap());
            there.recv_timeout(patience()).expect("the transport is being armed");
            let first = full.take();
            assert_eq!(full.events(), 1, "the watermark is undercut before the transport is armed for it");
            full.complete(first);
            full.post();
            leave.send(()).expect("the transport waits");
        });
        assert_eq!(full.device().armed, SIZE);
        let second = full.take();
        assert_eq!(full.events(), 0, "once an arming");
        full.complete(second);
        full.post();
    }
}

#[test]
fn crossed_watermark_raises_one_event() {
    let full = Full::new();
    full.take();
    full.srq.set_low_watermark(SIZE).unwrap();
    assert_eq!((full.events(), full.device().armed), (1, 0));
    full.take();
    assert_eq!(full.events(), 0);
    full.srq.set_low_watermark(0).unwrap();
    full.take();
    assert_eq!((full.events(), full.device().armed), (0, 0));
}

#[test]
fn rejected_watermark_keeps_the_old_one() {
    let full = Full::new();
    let refused = Err(Error::InsufficientResources(Resource::Srq));
    full.srq.set_low_watermark(SIZE - 2).unwrap();
    let refuse = || full.fake().refuse_after(0, Error::InsufficientResources(Resource::Srq));
    refuse();
    assert_eq!(full.srq.set_low_watermark(1), refused);
    assert_eq!(full.srq.query().low_watermark, SIZE - 2);
    let taken = [full.take(), full.take()];
    assert_eq!(full.events(), 0);
    // The watermark stays armed. If it is crossed during another rejected change, the event is raised.
    refuse();
    let (there, leave) = full.fake().stop_next_change();
    thread::scope(|scope| {
        let call = scope.spawn(|| full.srq.set_low_watermark(1));
        there.recv_timeout(patience()).expect("the call");
        full.take();
        assert_eq!(full.events(), 0);
        leave.send(()).expect("the call");
        assert_eq!(call.join().expect("the call"), refused);
    });
    assert_eq!(full.events(), 1);
    // No second event.
    refuse();
    assert_eq!(full.srq.set_low_watermark(1), refused);
    full.take();
    assert_eq!(full.events(), 0);
    taken.into_iter().for_each(|id| full.complete(id));
}

#[test]
fn receives_continue_during_resize() {
    let full = Full::new();
    let (there, leave) = full.fake().stop_next_change();
    thread::scope(|scope| {
        scope.spawn(|| full.srq.resize(2 * SIZE).unwrap());
        there.recv_timeout(patience()).expect("the queue is growing");
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
