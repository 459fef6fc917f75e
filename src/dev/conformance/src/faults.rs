//! Lack of memory: in an adapter's lifecycle, each allocation fails once alone, and once with all later allocations.
//!
//! Requires a test program with only this test, whose allocator is [`FAULTY`].

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, AtomicU8, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dat_core::ep::EpState;
use dat_core::error::{Error, Result};
use dat_core::event::{ConnectionEvent, Event, Status};
use dat_core::testing::{Adapter, connect, patience, wait};
use dat_core::transport::{Connect, RemoteSegment, Scope, Transport};
use dat_core::{
    ApiCaps, Arena, AsyncEvd, Base, Change, Cno, CompletionFlags, Cr, Endpoint, EpParts, Evd, Ia, Lmr, LocalSegment,
    Memory, Psp, PspMode, Pz, Rights, Rmr, Rsp, Srq, Streams,
};
use host::memory::{self, Allocator};

use crate::{LOCAL, Network};

/// The system's allocator, with injected failures.
pub struct Failing;

/// The allocator of the product libraries, which allocates from [`Failing`].
pub const FAULTY: Allocator<Failing> = Allocator(Failing);

static CALLS: AtomicUsize = AtomicUsize::new(0);
static FIRST: AtomicUsize = AtomicUsize::new(usize::MAX);
static LAST: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicIsize = AtomicIsize::new(0);

/// Counts a call, and returns whether it must fail.
fn fails() -> bool {
    let call = CALLS.fetch_add(1, Ordering::SeqCst) + 1;
    (FIRST.load(Ordering::SeqCst)..=LAST.load(Ordering::SeqCst)).contains(&call)
}

fn count_live(piece: *mut u8, size: usize) -> *mut u8 {
    if !piece.is_null() {
        LIVE.fetch_add(size as isize, Ordering::SeqCst);
    }
    piece
}

// SAFETY: returns what the system's allocator returns, or NULL.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fails() {
            return ptr::null_mut();
        }
        // SAFETY: the caller follows the rules of `alloc`.
        count_live(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::SeqCst);
        // SAFETY: the caller follows the rules of `dealloc`.
        unsafe { System.dealloc(piece, layout) }
    }
}

/// Injects failures of the next allocator calls: from number `first` to number `last`, counted from 1.
fn fail(first: usize, last: usize) {
    FIRST.store(usize::MAX, Ordering::SeqCst);
    LAST.store(last, Ordering::SeqCst);
    CALLS.store(0, Ordering::SeqCst);
    FIRST.store(first, Ordering::SeqCst);
}

/// Stops all failures. Returns the number of calls since [`fail`].
fn stop_failing() -> usize {
    FIRST.store(usize::MAX, Ordering::SeqCst);
    CALLS.load(Ordering::SeqCst)
}

const LEN: usize = 40_000;
static BYTES: [AtomicU8; 2 * LEN] = [const { AtomicU8::new(0) }; 2 * LEN];

/// Timeout of a wait whose event can be missing because of an injected failure.
const FAULT_TIMEOUT: Duration = Duration::from_millis(150);

/// Returns the timeout of a wait. Without failures, it allows for a loaded machine.
fn timeout() -> Duration {
    if FIRST.load(Ordering::SeqCst) == usize::MAX { patience() } else { FAULT_TIMEOUT }
}

struct Closing<T: Transport>(Arc<Ia<T>>);

impl<T: Transport> Drop for Closing<T> {
    fn drop(&mut self) {
        let _ = self.0.close_abrupt();
    }
}

/// Returns the next event, or an error if there is none in time.
fn next<T: Transport>(evd: &Arc<Evd<T>>) -> Result<Event> {
    wait(evd, 1, Some(timeout())).result.map_err(|_| Error::TimeoutExpired)
}

fn succeeds<T: Transport>(evd: &Arc<Evd<T>>) -> Result<()> {
    match next(evd)? {
        Event::Transfer { status: Status::Success, .. } => Ok(()),
        // Lack of memory can break a connection.
        _ => Err(Error::TimeoutExpired),
    }
}

fn lifecycle<T: Transport>(arena: &'static Arena<T>, network: &Network<T>) -> Result<()> {
    let (name, instance) = network.place();
    let api_caps = ApiCaps { extended: true, ..ApiCaps::default() };
    let ia = Ia::open(arena, 0, name, instance, AsyncEvd::Create(8), api_caps)?;
    let closing = Closing(ia.clone());
    let pz = Pz::create(&ia)?;
    let cno = Cno::create(&ia, None)?;
    let evd = |streams, cno| Evd::create(&ia, 64, cno, streams);
    let (receives, requests) = (evd(Streams::TRANSFERS, Some(&cno))?, evd(Streams::TRANSFERS | Streams::BINDS, None)?);
    let (connections, arrivals) = (evd(Streams::CONNECTIONS, None)?, evd(Streams::CONNECTION_REQUESTS, None)?);
    let addr = BYTES.as_ptr().expose_provenance() as u64;
    let all = LOCAL | Rights::REMOTE;
    let lmr = Lmr::create(&ia, Memory::Virtual(addr), None, BYTES.len() as u64, &pz, all, Base::Address)?;
    let limits = ia.attributes();
    let rmr = limits.rmr.then(|| Rmr::create(&pz, Scope::Zone)).transpose()?;
    let srq = Srq::create(&ia, &pz, 8, 2)?;
    let parts = EpParts {
        pz: Some(&pz),
        recv_evd: Some(&receives),
        request_evd: Some(&requests),
        connect_evd: Some(&connections),
        srq: None,
    };
    let (active, passive) = (Endpoint::create(&ia, &parts, None)?, Endpoint::create(&ia, &parts, None)?);
    receives.resize(300)?;
    srq.resize(200)?;
    let at = |offset: usize, len: usize| local(&lmr, offset, len);
    for cookie in 0..10 {
        srq.post_recv(&[at(0, 64)], cookie)?;
    }
    srq.set_low_watermark(2)?;

    for cookie in 0..3 {
        passive.post_recv(&[at(LEN, LEN)], cookie, CompletionFlags::DEFAULT)?;
    }
    let psp = Psp::create(&ia, None, &arrivals, PspMode::Consumer)?;
    let address = limits.address.clone();
    let qualifier = psp.point.qualifier();
    let request = Connect { address: &address, qualifier, timeout: Some(timeout()), private_data: b"hello" };
    active.connect(&request)?;
    let Event::ConnectionRequest { cr, .. } = next(&arrivals)? else { panic!("no connection request") };
    let cr = arena.get::<Cr<T>>(cr).ok_or(Error::TimeoutExpired)?;
    cr.accept(Some(&passive), b"welcome")?;
    for _ in 0..2 {
        match next(&connections)? {
            Event::Connection { kind: ConnectionEvent::Established, .. } => {}
            _ => return Err(Error::TimeoutExpired),
        }
    }
    transfers(&ia, &pz, [&active, &passive], [&receives, &requests], &lmr, rmr.as_ref())?;
    active.disconnect(false)?;

    // Frees succeed even without memory.
    psp.free();
    if let Some(rmr) = rmr {
        rmr.free();
    }
    for ep in [active, passive] {
        assert_eq!(ep.free(), Ok(()));
    }
    assert_eq!((srq.free(), lmr.free(), pz.free()), (Ok(()), Ok(()), Ok(())));
    assert_eq!(receives.free(), Ok(()));
    assert_eq!(cno.free(), Ok(()));
    drop(closing);
    Ok(())
}

/// Returns a part of `BYTES` as a segment of `lmr`.
fn local<T: Transport>(lmr: &Lmr<T>, offset: usize, len: usize) -> LocalSegment {
    LocalSegment { context: lmr.context, addr: lmr.addr() + offset as u64, len: len as u64 }
}

/// Posts one request of each kind that the adapter supports, and waits for their completions.
fn transfers<T: Transport>(
    ia: &Ia<T>,
    pz: &Arc<Pz<T>>,
    [active, passive]: [&Arc<Endpoint<T>>; 2],
    [receives, requests]: [&Arc<Evd<T>>; 2],
    lmr: &Arc<Lmr<T>>,
    rmr: Option<&Arc<Rmr<T>>>,
) -> Result<()> {
    let (limits, addr) = (ia.attributes(), lmr.addr());
    let at = |offset: usize, len: usize| local(lmr, offset, len);
    let to = |len: usize| RemoteSegment { addr: addr + LEN as u64, len: len as u64, key: lmr.remote_key };
    for len in [8, 5000, LEN] {
        active.post_send(&[at(0, len)], 1, CompletionFlags::DEFAULT)?;
        succeeds(receives)?;
        succeeds(requests)?;
        active.post_write(&[at(0, len)], 2, to(len), CompletionFlags::DEFAULT)?;
        succeeds(requests)?;
        active.post_read(&[at(0, len)], 3, to(len), CompletionFlags::DEFAULT)?;
        succeeds(requests)?;
    }
    if limits.immediate {
        passive.post_recv(&[at(LEN, LEN)], 3, CompletionFlags::DEFAULT)?;
        active.post_write_immediate(&[at(0, LEN)], 4, to(LEN), 5, CompletionFlags::DEFAULT)?;
        succeeds(receives)?;
        succeeds(requests)?;
    }
    if limits.atomics {
        let word = (0..8).find(|at| (addr + LEN as u64 + at) % 8 == 0).unwrap_or(0);
        let target = RemoteSegment { addr: addr + LEN as u64 + word, ..to(8) };
        active.post_atomic(&[at(0, 8)], 6, target, Change::Add(1), CompletionFlags::DEFAULT)?;
        succeeds(requests)?;
    }
    if limits.invalidate && limits.endpoint_windows {
        let single = Rmr::create(pz, Scope::Endpoint)?;
        let flags = CompletionFlags::DEFAULT;
        let key = passive.post_bind(&single, Some(lmr), at(0, 64), Rights::REMOTE_READ, Base::Address, 7, flags)?;
        next(requests)?;
        passive.post_recv(&[at(LEN, LEN)], 8, flags)?;
        active.post_send_invalidate(&[at(0, 64)], 9, key, flags)?;
        succeeds(receives)?;
        succeeds(requests)?;
        single.free();
    }
    if let Some(rmr) = rmr {
        let flags = CompletionFlags::DEFAULT;
        active.post_bind(rmr, Some(lmr), at(0, 64), Rights::REMOTE_READ, Base::Address, 4, flags)?;
        next(requests)?;
    }
    Ok(())
}

/// Runs a lifecycle in which the allocations `first` to `last` fail, and a second without failures. Expects no leak.
/// Returns whether the first lifecycle failed.
fn lifecycle_with_failures<T: Transport>(
    arena: &'static Arena<T>,
    network: &Network<T>,
    first: usize,
    last: usize,
) -> bool {
    let before = LIVE.load(Ordering::SeqCst);
    fail(first, last);
    let ended = lifecycle(arena, network);
    stop_failing();
    // A lifecycle without failures must succeed. It also restores cached memory, so that the live bytes are comparable.
    assert_eq!(lifecycle(arena, network), Ok(()), "after allocation {first}");
    match ended {
        Ok(()) | Err(Error::InsufficientResources(_) | Error::TimeoutExpired) => {}
        Err(other) => panic!("allocation {first}: {other:?}"),
    }
    // A thread of the transport can free memory slightly later.
    let left = || (memory::reserve_in_use(), (LIVE.load(Ordering::SeqCst) - before).max(0));
    let end = Instant::now() + patience();
    while left() != (0, 0) {
        assert!(
            Instant::now() < end,
            "allocation {first}: the reserve and the system have lost {:?} ({ended:?})",
            left()
        );
        thread::yield_now();
    }
    ended.is_err()
}

/// After a failed allocation, the process neither ends nor leaks, and later calls succeed.
pub fn lack_of_memory_is_refused<T: Transport>(network: &Network<T>) {
    let arena: &'static Arena<T> = Box::leak(Box::new(Arena::new()));
    // The arena reuses the cells of freed handles late. Create enough cells that it does not grow later.
    {
        let (name, instance) = network.place();
        let ia = Closing(Ia::open(arena, 0, name, instance, AsyncEvd::Create(8), ApiCaps::default()).expect("memory"));
        for _ in 0..6000 {
            Pz::create(&ia.0).and_then(|pz| pz.free()).expect("memory");
        }
        // Sleep once, because a thread keeps the memory that its first sleep allocates, and not every lifecycle sleeps.
        let evd = Evd::create(&ia.0, 1, None, Streams::SOFTWARE).expect("memory");
        assert_eq!(wait(&evd, 1, Some(FAULT_TIMEOUT)).result.err(), Some(Error::TimeoutExpired));
        evd.free().expect("memory");
    }
    // The first lifecycle also allocates what exists once per process.
    for _ in 0..3 {
        lifecycle(arena, network).expect("memory");
    }
    fail(usize::MAX, usize::MAX);
    lifecycle(arena, network).expect("memory");
    let calls = stop_failing();
    let every = std::env::var_os("DAT_TEST_ALL").is_some_and(|all| all != "0");
    let step = if every { 1 } else { 3 };
    let mut refused = [0, 0];
    for first in (1..=calls).step_by(step) {
        refused[0] += usize::from(lifecycle_with_failures(arena, network, first, first));
        refused[1] += usize::from(lifecycle_with_failures(arena, network, first, usize::MAX));
    }
    println!("{calls} allocations, one in {step} tried; {refused:?} lives were cut short");
    assert!(refused[0] > 0 && refused[1] > 0);
    let adapter: Adapter<T> = network.open();
    let (a, b) = (adapter.end(), adapter.end());
    connect(&a, &b);
    let memory = adapter.buffer(64);
    b.receive(memory.at(0, 32), 1);
    a.send(memory.at(32, 32), 2);
    b.arrives(1, Status::Success);
}

/// A reserved service point for whose request memory is lacking accepts the next request.
pub fn lack_of_memory_leaves_reserved_service_point<T: Transport>(network: &Network<T>) {
    let adapter: Adapter<T> = network.open();
    let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
    let address = adapter.ia.attributes().address.clone();
    // A service point on a free qualifier, which its successors reuse.
    let psp = Psp::create(&adapter.ia, None, &requests, PspMode::Consumer).expect("memory");
    let qualifier = psp.point.qualifier();
    psp.free();
    let mut refused = 0;
    for first in 1.. {
        let ends = [adapter.end(), adapter.end(), adapter.end()];
        let rsp = Rsp::create(&adapter.ia, qualifier, &ends[0].ep, &requests).expect("memory");
        let ask = |active: usize, timeout| {
            ends[active].ep.connect(&Connect {
                address: &address,
                qualifier,
                timeout: Some(timeout),
                private_data: b"",
            })?;
            next(&requests)
        };
        fail(first, first);
        let asked = ask(1, FAULT_TIMEOUT);
        let calls = stop_failing();
        refused += usize::from(asked.is_err());
        let request = asked.or_else(|_| ask(2, patience()));
        let Ok(Event::ConnectionRequest { cr, .. }) = request else { panic!("allocation {first}: {request:?}") };
        let cr = adapter.ia.arena.get::<Cr<T>>(cr).expect("the request is new");
        cr.reject(&[]).expect("it is not answered yet");
        assert_eq!(ends[0].state(), EpState::Unconnected);
        rsp.free();
        if calls < first {
            break;
        }
    }
    assert!(refused > 0);
}
