//! Implements core's transport interface. No two adapters share a lock of this transport.

use std::convert::Infallible;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dat_core::Rights;
use dat_core::addr::Address;
use dat_core::error::{AddressFault, Error, Result};
use dat_core::transport::{
    AdapterAttributes, AdapterSink, Armed, Closing, Connect, ConnectionReport, Disconnect, Flow, Handed, ListenerSink,
    Path, Poll, QpInit, Recv, Rejection, Request, SeqNo, ShortSend, Transport, Wakeup,
};
use host::lock::Mutex;
use host::thread::Thread;
use host::topic::Topic;
use host::{fork, memory};

use crate::channels;
use crate::cm::{self, Incoming, Listener};
use crate::cq::CompletionQueue;
use crate::datagram::UdQp;
use crate::device::Device;
use crate::memory::{Region, Zone};
use crate::qp::{NO_BYTE, Qp, QpPhase};
use crate::srq::SharedQueue;
use crate::window::Window;

/// Maximum time for which a close waits for calls that free objects. Blocked calls end later, in their threads.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// An open adapter.
pub struct Verbs {
    pub(crate) device: Arc<Device>,
    thread: Mutex<Option<Thread>>,
}

impl Verbs {
    /// Adds an empty segment to a receive without segments on soft-iWARP, which would reject it (Linux 6.1).
    #[inline(always)]
    pub(crate) fn padded<'a>(&self, recv: &Recv<'a>) -> Recv<'a> {
        if recv.segments.is_empty() && self.device.limits.quirks.rejects_empty_receives {
            return Recv { segments: NO_BYTE, ..*recv };
        }
        *recv
    }
}

impl Drop for Verbs {
    fn drop(&mut self) {
        // If the open of the adapter fails, core may drop this without a call of `close`.
        self.close();
    }
}

/// An armed wakeup ([`Transport::arm`]).
pub struct Wait {
    device: Arc<Device>,
    /// The armed completion queue and its channel's descriptor. `None` for all queues, which the progress thread polls.
    cq: Option<(Arc<CompletionQueue>, RawFd)>,
}

impl Armed for Wait {
    type Alarm = Infallible;

    fn wakeup(&self) -> Wakeup<'_, Infallible> {
        self.cq.as_ref().map_or(Wakeup::Reported, |&(_, fd)| Wakeup::Descriptor(fd))
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.device.sleepers.fetch_sub(1, Ordering::AcqRel);
        if let Some((cq, _)) = &self.cq {
            cq.disarm();
        }
    }
}

impl Transport for Verbs {
    type Window = Window;
    type Srq = Arc<SharedQueue>;
    type DatagramQp = UdQp;
    type Zone = Zone;
    type Region = Region;
    type Cq = Arc<CompletionQueue>;
    type Armed = Wait;
    type Qp = Qp;
    type Tx = ();
    type Listener = Listener;
    type Incoming = Incoming;

    const INLINE_MAX: u64 = 0;
    const TAKES_RECEIVES: bool = false;
    const KEEPS_TX: bool = false;
    const ARMS_ALL: bool = false;

    fn open(name: &str, instance: &str) -> Result<(Arc<Self>, AdapterAttributes)> {
        let device = Device::open(name, instance)?;
        let thread = crate::thread::start(&device).map_err(|error| {
            Topic::DoesNotOpen.error(&error, format!("no thread: {error}")).log(name);
            Error::NO_MEMORY
        })?;
        let attributes = device.attributes.clone();
        Ok((memory::arc(Verbs { device, thread: Mutex::new(Some(thread)) })?, attributes))
    }

    fn report_to(&self, sink: AdapterSink<Self>) {
        self.device.beacon.add(sink.clone());
        *self.device.adapter.lock() = Some(sink);
        self.device.report_loss();
    }

    fn watch(&self, on: bool) {
        if on {
            self.device.sleepers.fetch_add(1, Ordering::AcqRel);
        } else {
            self.device.sleepers.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn close(&self) {
        self.device.stop.store(true, Ordering::Release);
        self.device.wakeup_fd.wake();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            thread.join();
        }
        self.device.freeing.close(Instant::now() + CLOSE_LIMIT);
        // Connections may still be ending. After `finish`, the device uses none of their buffers.
        let draining = std::mem::take(&mut self.device.work.lock().draining);
        draining.iter().for_each(Qp::finish);
        // The remaining tasks would keep their queue pairs alive, and the queue pairs the device.
        let tasks = std::mem::take(&mut *self.device.work.lock());
        drop(tasks);
        let cm_owners = std::mem::take(&mut *self.device.cm_owners.lock());
        drop(cm_owners);
    }

    fn after_fork_in_child() {
        // SAFETY: core calls this in a forked child, where it has abandoned all objects.
        unsafe { fork::close_in_child() };
        channels::after_fork_in_child();
    }

    fn zone_create(&self) -> Result<Zone> {
        self.device.check_device()?;
        Zone::new(&self.device)
    }

    fn register(&self, zone: &Zone, addr: u64, len: u64, rights: Rights, _first: u64) -> Result<Region> {
        self.device.check_device()?;
        Region::new(&self.device, zone, addr, len, rights)
    }

    fn cq_create(&self, depth: usize) -> Result<Arc<CompletionQueue>> {
        self.device.check_device()?;
        CompletionQueue::new(&self.device, depth)
    }

    #[inline]
    fn poll(&self, cq: Option<&Arc<CompletionQueue>>, how: Poll) {
        // For one queue, `how` does not matter: `drain` waits for the reports of a thread that polls it.
        match (cq, how) {
            (Some(cq), _) => cq.drain(),
            (None, Poll::Complete) => self.device.drain(),
            (None, Poll::IfFree) => self.device.drain_unread(),
        }
    }

    fn arm(&self, cq: Option<&Arc<CompletionQueue>>, _requests: bool) -> Wait {
        self.device.sleepers.fetch_add(1, Ordering::AcqRel);
        Wait { device: self.device.clone(), cq: cq.map(|cq| (cq.clone(), cq.arm())) }
    }

    fn qp_create(&self, init: QpInit<'_, Self>) -> Result<(Arc<Qp>, ())> {
        self.device.check_device()?;
        Ok((Qp::new(&self.device, init)?, ()))
    }

    #[inline(always)]
    fn post_recv(&self, qp: &Qp, recv: &Recv<'_>) -> Result<bool> {
        qp.post_recv(&self.padded(recv)).map(|()| false)
    }

    fn kick(&self, _qp: &Arc<Qp>) {}

    #[inline(always)]
    fn post_inline(&self, _qp: &Arc<Qp>, _tx: &mut (), _send: ShortSend<'_>) -> Option<SeqNo> {
        None
    }

    #[inline(always)]
    fn post(&self, qp: &Arc<Qp>, (): &mut (), request: &Request<'_>) -> Result<Handed> {
        qp.post(request)?;
        Ok(Handed::under_way(SeqNo(request.id)))
    }

    fn takes_extended(_: &Qp) -> bool {
        // Unknown, because no handshake message states which operations the peer accepts.
        true
    }

    fn reap(&self, qp: &Arc<Qp>) {
        qp.reap();
    }

    fn repoll(&self, _qp: &Qp) {}

    fn flow(&self, qp: &Qp, _tx: &()) -> Flow {
        Flow { request_stalls: qp.sends.lock().stalls.stalls(), ..Flow::default() }
    }

    fn path(&self, qp: &Qp, _tx: &()) -> Path {
        Path { name: "device", requests_wait: qp.sends.lock().stalls.waits(), ..Path::default() }
    }

    fn listen(&self, qualifier: Option<u64>, sink: ListenerSink<Self>) -> Result<(Listener, u64)> {
        self.device.check_device()?;
        cm::listen(&self.device, qualifier, sink)
    }

    fn check_address(&self, address: &Address) -> Result<()> {
        let is_usable = [address.ip(), cm::destination(&self.device, address)]
            .iter()
            .any(|ip| ip.is_ipv4() == self.device.place.address.is_ipv4());
        if is_usable { Ok(()) } else { Err(Error::InvalidAddress(AddressFault::Unsupported)) }
    }

    fn connect(&self, qp: &Arc<Qp>, connect: &Connect<'_>) -> Result<()> {
        self.device.check_device()?;
        cm::connect(qp, connect)
    }

    fn accept(&self, incoming: &mut Option<Incoming>, qp: &Arc<Qp>, private_data: &[u8]) -> Result<()> {
        Incoming::accept(incoming, qp, private_data)
    }

    fn reject(&self, mut incoming: Incoming, why: Rejection, private_data: &[u8]) {
        incoming.refuse(why, private_data);
    }

    fn local_qualifier(&self, qp: &Qp) -> u64 {
        qp.state.lock().cm.as_ref().map_or(0, |id| id.local_port().into())
    }

    fn disconnect(&self, qp: &Arc<Qp>, how: Disconnect) -> Closing {
        let report = match how {
            Disconnect::AfterRequests => {
                // The progress thread then polls for the last request, in case no thread of the program does.
                self.device.command(|work| work.awaited.push_back(qp.clone()));
                return Closing::Later;
            }
            Disconnect::Now => ConnectionReport::Disconnected,
            Disconnect::Broken => ConnectionReport::Broken,
        };
        if qp.abandon() {
            return Closing::Done;
        }
        qp.begin_end(report);
        if qp.phase() == QpPhase::Dead { Closing::Done } else { Closing::Later }
    }

    fn await_end(&self, qp: &Arc<Qp>) {
        qp.await_end();
    }
}
