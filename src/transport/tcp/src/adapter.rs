//! The transport: an open interface adapter over the kernel's TCP sockets.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dat_core::Rights;
use dat_core::addr::Address;
use dat_core::error::{AddressFault, Error, Resource, Result};
use dat_core::transport::{
    AdapterAttributes, AdapterSink, Armed, Closing, Connect, Disconnect, Fabric, FabricKind, Flow, Handed,
    ListenerSink, Path, Poll, QpInit, Recv, Rejection, Request, SeqNo, ShortSend, Transport, Wakeup,
};
use dat_software::datagrams::{Receiver, UdQp};
use dat_software::objects::{self, Region, Window, Zone};
use dat_software::qp::{QpBase, SoftwareTransport};
use dat_software::rnr_line::{RnrLine, RnrWaiter};
use dat_software::wire::LARGEST;
use host::lock::Mutex;
use host::thread::Thread;
use host::topic::{Reason, Topic};
use host::{fork, memory};

use crate::cm::{self, Incoming, Listener};
use crate::conn::Conn;
use crate::device::Device;
use crate::hello;
use crate::locate::{Place, locate};
use crate::poll::Poller;
use crate::record::End;
use crate::thread;
use crate::tx::{Leave, Tx};

/// An open interface adapter.
pub struct Tcp {
    device: Arc<Device>,
    poller: Arc<Poller>,
    /// `None` once the adapter is closed.
    thread: Mutex<Option<Thread>>,
}

pub struct Wait(Arc<Poller>);

impl Armed for Wait {
    type Alarm = Infallible;

    fn wakeup(&self) -> Wakeup<'_, Infallible> {
        Wakeup::Descriptor(self.0.device.shared.sockets.as_fd().as_raw_fd())
    }

    fn before_sleep(&self) {
        // A poll that finds data leaves acknowledgements to the next poll, which comes only after the sleep.
        self.0.flush_all();
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.0.device.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Tcp {
    fn drop(&mut self) {
        // If the open of the adapter fails, core may drop this without a call of `close`.
        self.close();
    }
}

impl SoftwareTransport for Tcp {
    type Owner = Device;

    fn owner(&self) -> &Arc<Device> {
        &self.device
    }

    fn base(qp: &Conn) -> &QpBase<Self> {
        &qp.base
    }

    fn port(qp: &Conn) -> u64 {
        qp.number
    }

    fn create(&self, init: QpInit<'_, Self>, receiver: Receiver<Self>) -> Result<(Arc<Conn>, Tx)> {
        let tx = Tx::new(&init.sizes)?;
        Ok((Conn::new(&self.device, init, receiver)?, tx))
    }

    fn post_done(&self, qp: &Arc<Conn>, tx: &mut Tx, request: &Request<'_>) -> Result<SeqNo> {
        if tx.stream.is_none() {
            return Ok(SeqNo::NEVER);
        }
        tx.post(request, true)?;
        qp.pump_locked(tx);
        // Notes the connection, so that the next poll reports the request if it is already complete.
        qp.poll_soon();
        Ok(SeqNo(request.id))
    }

    fn try_send(&self, _qp: &Arc<Conn>, tx: &mut Tx, datagram: &Request<'_>) -> bool {
        tx.try_send(datagram)
    }
}

impl Transport for Tcp {
    type Window = Window<Device>;
    type Srq = RnrLine<Conn>;
    type DatagramQp = UdQp<Tcp>;
    type Zone = Zone;
    type Region = Region<Device>;
    type Cq = ();
    type Armed = Wait;
    type Qp = Conn;
    type Tx = Tx;
    type Listener = Listener;
    type Incoming = Incoming;

    const INLINE_MAX: u64 = 0;
    const TAKES_RECEIVES: bool = true;
    const KEEPS_TX: bool = true;
    const ARMS_ALL: bool = true;

    fn open(name: &str, instance: &str) -> Result<(Arc<Self>, AdapterAttributes)> {
        let refused = |reason: Reason| {
            reason.log(name);
            Error::InsufficientResources(Resource::Device)
        };
        let device = locate(name, instance).and_then(Device::open).map_err(refused)?;
        let poller = Poller::new(device.clone()).map_err(|_| refused(Topic::DoesNotOpen.reason("no memory")))?;
        let polled = poller.clone();
        let thread = host::thread::start(c"dat-tcp", move || thread::run(&polled))
            .map_err(|error| refused(Topic::DoesNotOpen.error(&error, format!("no thread: {error}"))))?;
        let Place { netdev, address } = &device.place;
        let fabric = Fabric { kind: FabricKind::Fabric, ..Fabric::memory(netdev.clone()) };
        let address = Address::new(SocketAddr::new(*address, 0));
        let attributes = objects::attributes("tcp", address, fabric, LARGEST, hello::MAX_PRIVATE_DATA);
        let tcp = Tcp { device, poller, thread: Mutex::new(Some(thread)) };
        Ok((memory::arc(tcp)?, attributes))
    }

    fn report_to(&self, sink: AdapterSink<Self>) {
        self.device.beacon.add(sink);
    }

    fn watch(&self, on: bool) {
        let change = if on { AtomicUsize::fetch_add } else { AtomicUsize::fetch_sub };
        change(&self.device.watchers, 1, Ordering::AcqRel);
        self.device.wakeup.wake();
    }

    fn close(&self) {
        let thread = self.thread.lock().take();
        let Some(thread) = thread else { return };
        self.device.stop.store(true, Ordering::Release);
        self.device.wakeup.wake();
        thread.join();
        self.device.beacon.close();
        self.poller.close();
    }

    fn after_fork_in_child() {
        // SAFETY: the core calls this in the child of a fork, in which it has abandoned all objects.
        unsafe { fork::close_in_child() };
    }

    dat_software::software_methods!();

    fn poll(&self, _cq: Option<&()>, how: Poll) {
        self.device.count_poll();
        self.poller.poll_once(how);
    }

    fn arm(&self, _cq: Option<&()>, _requests: bool) -> Wait {
        self.device.sleepers.fetch_add(1, Ordering::SeqCst);
        self.poller.flush_all();
        Wait(self.poller.clone())
    }

    #[inline(always)]
    fn post_inline(&self, _qp: &Arc<Conn>, _tx: &mut Tx, _send: ShortSend<'_>) -> Option<SeqNo> {
        None
    }

    fn post(&self, qp: &Arc<Conn>, tx: &mut Tx, request: &Request<'_>) -> Result<Handed> {
        if tx.stream.is_none() {
            return Ok(Handed::under_way(SeqNo::NEVER));
        }
        tx.post(request, false)?;
        let leave = tx.gather(self.device.polls.load(Ordering::Relaxed));
        // Gathered requests would wait for a thread that sleeps, so none are gathered then.
        if leave == Leave::Now || self.device.sleepers.load(Ordering::SeqCst) > 0 {
            qp.pump_locked(tx);
        } else if leave == Leave::WithLater && self.device.is_brisk.load(Ordering::Relaxed) {
            qp.streams.store(true, Ordering::Relaxed);
            self.device.note(qp, false);
        } else {
            qp.poll_soon();
        }
        Ok(Handed::under_way(SeqNo(request.id)))
    }

    fn takes_extended(qp: &Conn) -> bool {
        qp.base.takes_extended()
    }

    fn reap(&self, _qp: &Arc<Conn>) {
        self.device.count_poll();
        self.poller.collect(Poll::Complete);
        // Not done here, because a post must not end other connections.
        if self.device.is_deferred() {
            self.device.wakeup.wake();
        }
    }

    fn repoll(&self, _qp: &Conn) {}

    fn flow(&self, qp: &Conn, _tx: &Tx) -> Flow {
        Flow { request_stalls: qp.request_stalls.stalls(), message_stalls: qp.base.stalls(), peer_wakeups: 0 }
    }

    fn path(&self, qp: &Conn, tx: &Tx) -> Path {
        let sockets = tx.stream.as_ref().and_then(|stream| stream.socket.local().zip(stream.socket.peer()));
        let (requests_wait, message_waits) = (qp.request_stalls.waits(), qp.base.waits());
        Path { name: "socket", sockets, requests_wait, message_waits, ..Path::default() }
    }

    fn listen(&self, qualifier: Option<u64>, sink: ListenerSink<Self>) -> Result<(Listener, u64)> {
        cm::listen(&self.device, qualifier, sink)
    }

    fn check_address(&self, address: &Address) -> Result<()> {
        let is_usable = address.ip().is_ipv4() == self.device.place.address.is_ipv4();
        if is_usable { Ok(()) } else { Err(Error::InvalidAddress(AddressFault::Unsupported)) }
    }

    fn connect(&self, qp: &Arc<Conn>, connect: &Connect<'_>) -> Result<()> {
        cm::connect(qp, connect)
    }

    fn accept(&self, incoming: &mut Option<Incoming>, qp: &Arc<Conn>, private_data: &[u8]) -> Result<()> {
        Incoming::accept(incoming, qp, private_data)
    }

    fn reject(&self, mut incoming: Incoming, why: Rejection, private_data: &[u8]) {
        incoming.refuse(why, private_data);
    }

    fn local_qualifier(&self, qp: &Conn) -> u64 {
        qp.port.load(Ordering::Relaxed).into()
    }

    fn disconnect(&self, qp: &Arc<Conn>, how: Disconnect) -> Closing {
        let end = match how {
            Disconnect::AfterRequests => return Closing::Later,
            Disconnect::Now => End::Disconnected,
            Disconnect::Broken => End::Broken(None),
        };
        qp.close(false, Some(end));
        Closing::Done
    }

    fn await_end(&self, _qp: &Arc<Conn>) {}
}
