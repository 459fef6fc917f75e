//! The implementation of [`Transport`]: one [`Shm`] per open interface adapter.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use dat_core::Rights;
use dat_core::addr::Address;
use dat_core::error::{Error, Result};
use dat_core::transport::{
    AdapterAttributes, AdapterSink, Armed, Closing, Connect, ConnectRetry, ConnectionReport, Disconnect, Fabric, Flow,
    Handed, ListenerSink, Path, Poll, QpInit, Recv, Rejection, Request, SeqNo, ShortSend, Transport, Wakeup, ZoneId,
};
use dat_software::datagrams::{Receiver, UdQp};
use dat_software::objects::{self, Region, Window, Zone};
use dat_software::qp::{Phase, QpBase, SoftwareTransport};
use dat_software::regions::next_port;
use dat_software::rnr_line::{RnrLine, RnrWaiter};
use dat_software::wire::LARGEST;
use host::{fork, memory};

use crate::alarm::Alarm;
use crate::cm::Incoming;
use crate::conn::Conn;
use crate::peer_segment::End;
use crate::process_context::{Command, Listener, ProcessContext};
use crate::process_contexts::ProcessContexts;
use crate::ring::SMALL;
use crate::thread::PendingConnect;
use crate::transfers;
use crate::tx::Tx;
use crate::wire::{self, EndInfo};

/// An open interface adapter. Adapters with the same directory share one `ProcessContext`.
pub struct Shm {
    context: Arc<ProcessContext>,
    closed: AtomicBool,
}

static CONTEXTS: ProcessContexts = ProcessContexts::new();

/// A wait that [`Transport::arm`] has armed. Its drop disarms it.
pub struct Wait {
    context: Arc<ProcessContext>,
    /// The thread sleeps while the alarm's word has this value; `None` if the progress thread reports new data instead.
    sleep: Option<u32>,
    requests: bool,
}

impl Armed for Wait {
    type Alarm = Alarm;

    fn wakeup(&self) -> Wakeup<'_, Alarm> {
        self.sleep.map_or(Wakeup::Reported, |sleep| Wakeup::Word(&self.context.links.control.alarm, sleep))
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.context.links.disarm(self.sleep, self.requests);
    }
}

fn attributes() -> AdapterAttributes {
    objects::attributes("shm", Address::loopback(), Fabric::memory("shm".into()), LARGEST, wire::MAX_PRIVATE_DATA)
}

impl Drop for Shm {
    fn drop(&mut self) {
        self.close();
    }
}

impl SoftwareTransport for Shm {
    type Owner = ProcessContext;

    fn owner(&self) -> &Arc<ProcessContext> {
        &self.context
    }

    #[inline]
    fn base(qp: &Conn) -> &QpBase<Self> {
        &qp.base
    }

    fn port(qp: &Conn) -> u64 {
        qp.info.port
    }

    fn create(&self, init: QpInit<'_, Self>, receiver: Receiver<Self>) -> Result<(Arc<Conn>, Tx)> {
        let tx = Tx::new(init.sink.ep(), &init.sizes, receiver.datagrams().is_some())?;
        let QpInit { sink, zone, extended, .. } = init;
        let info = EndInfo { zone: zone.id(), port: next_port(), extended, datagrams: receiver.number() };
        Ok((Conn::new(sink, info, receiver)?, tx))
    }

    fn post_done(&self, qp: &Arc<Conn>, tx: &mut Tx, request: &Request<'_>) -> Result<SeqNo> {
        Ok(qp.end().map_or(SeqNo::NEVER, |end| tx.post_done(end, request)))
    }

    fn try_send(&self, qp: &Arc<Conn>, tx: &mut Tx, datagram: &Request<'_>) -> bool {
        qp.end().is_some_and(|end| tx.try_send(end, datagram))
    }
}

impl Transport for Shm {
    type Window = Window<ProcessContext>;
    type Srq = RnrLine<Conn>;
    type DatagramQp = UdQp<Shm>;
    type Zone = Zone;
    type Region = Region<ProcessContext>;
    type Cq = ();
    type Armed = Wait;
    type Qp = Conn;
    type Tx = Tx;
    type Listener = Listener;
    type Incoming = Incoming;

    const INLINE_MAX: u64 = SMALL as u64;
    const TAKES_RECEIVES: bool = true;
    const KEEPS_TX: bool = true;
    const ARMS_ALL: bool = true;

    fn open(_name: &str, instance: &str) -> Result<(Arc<Self>, AdapterAttributes)> {
        let context = CONTEXTS.get(instance)?;
        let shm = memory::arc(Shm { context, closed: AtomicBool::new(false) })?;
        Ok((shm, attributes()))
    }

    fn report_to(&self, sink: AdapterSink<Self>) {
        self.context.census.add(sink);
    }

    fn watch(&self, on: bool) {
        self.context.links.expect_agent(on);
    }

    fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            CONTEXTS.release(&self.context);
        }
    }

    fn after_fork_in_child() {
        CONTEXTS.forget();
        transfers::after_fork_in_child();
        // SAFETY: the core calls this in the child of a fork, in which it has abandoned all objects.
        unsafe { fork::close_in_child() };
    }

    dat_software::software_methods!();

    #[inline]
    fn poll(&self, _cq: Option<&()>, how: Poll) {
        match how {
            Poll::IfFree => self.context.links.poll(),
            Poll::Complete => self.context.links.settle(),
        };
    }

    fn arm(&self, _cq: Option<&()>, requests: bool) -> Wait {
        Wait { context: self.context.clone(), sleep: self.context.links.arm(requests), requests }
    }

    #[inline(always)]
    fn post_inline(&self, qp: &Arc<Conn>, tx: &mut Tx, send: ShortSend<'_>) -> Option<SeqNo> {
        tx.post_inline(qp.end()?, &send)
    }

    #[inline(never)]
    fn post(&self, qp: &Arc<Conn>, tx: &mut Tx, request: &Request<'_>) -> Result<Handed> {
        Ok(qp.end().map_or(Handed::under_way(SeqNo::NEVER), |end| tx.post(end, request)))
    }

    fn takes_extended(qp: &Conn) -> bool {
        qp.base.takes_extended()
    }

    fn reap(&self, qp: &Arc<Conn>) {
        qp.progress_tx();
    }

    fn repoll(&self, qp: &Conn) {
        if let Some(end) = qp.end() {
            end.repoll();
        }
    }

    fn flow(&self, qp: &Conn, tx: &Tx) -> Flow {
        let peer_wakeups = qp.end().map_or(0, End::wakeups);
        Flow { request_stalls: tx.stalls(), message_stalls: qp.base.stalls(), peer_wakeups }
    }

    fn path(&self, qp: &Conn, tx: &Tx) -> Path {
        let Some(end) = qp.end() else { return Path::default() };
        let name = match &end.peer_segment {
            segment if segment.is_local() => "local",
            segment if segment.reads_peer.get() => "direct",
            _ => "ring",
        };
        let (process, requests_wait, message_waits) = (end.peer_segment.pid, tx.waits(), qp.base.waits());
        Path { name, process, requests_wait, message_waits, ..Path::default() }
    }

    fn listen(&self, qualifier: Option<u64>, sink: ListenerSink<Self>) -> Result<(Listener, u64)> {
        self.context.listen(qualifier, sink)
    }

    fn check_address(&self, _address: &Address) -> Result<()> {
        Ok(())
    }

    fn connect(&self, qp: &Arc<Conn>, connect: &Connect<'_>) -> Result<()> {
        let waiting = PendingConnect {
            conn: Arc::downgrade(qp),
            qualifier: connect.qualifier,
            private_data: memory::copied(connect.private_data)?.into_vec(),
            retry: ConnectRetry::new(Instant::now()),
        };
        self.context.room_for_command()?;
        qp.base.shift(Phase::Idle, Phase::Connecting);
        self.context.command(Command::Connect(waiting, connect.address.clone(), connect.timeout));
        Ok(())
    }

    fn accept(&self, incoming: &mut Option<Incoming>, qp: &Arc<Conn>, private_data: &[u8]) -> Result<()> {
        let incoming = incoming.take().ok_or(Error::Internal)?;
        incoming.accept(&self.context, qp, private_data);
        Ok(())
    }

    fn reject(&self, mut incoming: Incoming, why: Rejection, private_data: &[u8]) {
        incoming.reject(why == Rejection::Consumer, private_data);
    }

    fn local_qualifier(&self, qp: &Conn) -> u64 {
        qp.info.port
    }

    fn disconnect(&self, qp: &Arc<Conn>, how: Disconnect) -> Closing {
        let (reason, report) = match how {
            Disconnect::AfterRequests => {
                qp.drain();
                return Closing::Later;
            }
            Disconnect::Now => (wire::CloseReason::Disconnected, ConnectionReport::Disconnected),
            Disconnect::Broken => (wire::CloseReason::Broken(None), ConnectionReport::Broken),
        };
        if qp.leave(reason, report) { Closing::Done } else { Closing::Exposed }
    }

    fn await_end(&self, qp: &Arc<Conn>) {
        qp.await_still();
    }
}
