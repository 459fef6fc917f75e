//! Queue pairs: the part that does not depend on the transport, and what each transport adds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use dat_core::error::Result;
use dat_core::probes::Stall;
use dat_core::transport::{
    BindTarget, EndpointSink, Gauge, QpInit, Request, Scope, SeqNo, Taken, Transport, Verdict, Windows,
};

use crate::datagrams::{Receiver, UdQp};
use crate::objects::{Owner, Region, Window, Zone};
use crate::records::{Executed, Fatal, Halt};
use crate::rnr_line::{RnrLine, RnrWaiter};

/// A transport that executes requests in software.
pub trait SoftwareTransport:
    Transport<
        // There are no completion queues: a poll finds the completions of all connections.
        Cq = (),
        Window = Window<<Self as SoftwareTransport>::Owner>,
        Zone = Zone,
        Region = Region<<Self as SoftwareTransport>::Owner>,
        Qp: RnrWaiter,
        Srq = RnrLine<<Self as Transport>::Qp>,
        DatagramQp = UdQp<Self>,
    >
{
    /// The owner of the registered memory.
    type Owner: Owner;

    /// Returns the owner of the registered memory.
    fn owner(&self) -> &Arc<Self::Owner>;

    /// Returns the base of a queue pair.
    fn base(qp: &Self::Qp) -> &QpBase<Self>;

    /// Returns the port qualifier of a queue pair's connection, with which the rows of windows of [`Scope::Endpoint`]
    /// admit it.
    fn port(qp: &Self::Qp) -> u64;

    /// Creates a queue pair whose messages go to `receiver`.
    fn create(&self, init: QpInit<'_, Self>, receiver: Receiver<Self>) -> Result<(Arc<Self::Qp>, Self::Tx)>;

    /// Posts a request that has already been executed, such as a bind. It completes once all earlier requests have
    /// completed.
    fn post_done(&self, qp: &Arc<Self::Qp>, tx: &mut Self::Tx, request: &Request<'_>) -> Result<SeqNo>;

    /// Sends a datagram if no request waits and there is room. Otherwise returns `false`, and does not access the
    /// datagram's memory.
    fn try_send(&self, qp: &Arc<Self::Qp>, tx: &mut Self::Tx, datagram: &Request<'_>) -> bool;
}

/// Defines the methods of [`Transport`] that software transports share.
#[macro_export]
macro_rules! software_methods {
    () => {
        fn zone_create(&self) -> Result<Zone> {
            Ok(Zone::new())
        }

        fn register(&self, zone: &Zone, addr: u64, len: u64, rights: Rights, first: u64) -> Result<Self::Region> {
            Region::register(self.owner(), zone, addr, len, rights, first)
        }

        fn cq_create(&self, _depth: usize) -> Result<()> {
            Ok(())
        }

        fn qp_create(&self, init: QpInit<'_, Self>) -> Result<(Arc<Self::Qp>, Self::Tx)> {
            let receiver = Receiver::new(init.srq)?;
            self.create(init, receiver)
        }

        #[inline]
        fn post_recv(&self, qp: &Self::Qp, _recv: &Recv<'_>) -> Result<bool> {
            Ok(Self::base(qp).rnr.load(Ordering::SeqCst))
        }

        fn kick(&self, qp: &Arc<Self::Qp>) {
            if Self::base(qp).end_wait() {
                qp.resume();
            }
        }
    };
}

impl<T: SoftwareTransport> Windows<T> for Window<T::Owner> {
    fn create(transport: &T, _zone: &Zone, scope: Scope) -> Result<Self> {
        Ok(Window::new(transport.owner(), scope))
    }

    fn post_bind(
        &self,
        transport: &T,
        (qp, tx): (&Arc<T::Qp>, &mut T::Tx),
        request: &Request<'_>,
        target: Option<&BindTarget<'_, Region<T::Owner>>>,
    ) -> Result<(u32, SeqNo)> {
        let key = self.bind(target, T::port(qp))?;
        Ok((key, transport.post_done(qp, tx, request)?))
    }

    fn await_rebind(&self, _transport: &T) {
        self.await_peers();
    }

    fn revoke(&self, _transport: &T) {
        self.close();
    }
}

/// The phase of a connection. Phases only advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
#[repr(u8)]
pub enum Phase {
    /// Not connected yet.
    Idle,
    /// This end has begun an attempt.
    Connecting,
    /// This end has accepted a request, and waits for the peer.
    Accepting,
    /// The peer of an accepting end has used the connection, or ended it, but this has not been reported to core.
    Used,
    /// Data can flow.
    Up,
    /// Closed.
    Dead,
    /// Closed, and no transfer of the peer is in flight.
    Still,
}

impl Phase {
    fn of(value: u8) -> Phase {
        use Phase::*;
        [Idle, Connecting, Accepting, Used, Up, Dead].get(usize::from(value)).copied().unwrap_or(Still)
    }
}

/// A queue pair's endpoint, its phase and its receives.
pub struct QpBase<T: SoftwareTransport> {
    /// The endpoint.
    pub sink: EndpointSink<T>,
    /// The destination of messages.
    pub receiver: Receiver<T>,
    phase: AtomicU8,
    to_extended: AtomicBool,
    to_datagrams: AtomicU32,
    /// Set once a message waits for a receive of the endpoint's own queue, until a post ends the wait. With an SRQ, set
    /// while the connection is in the SRQ's [`RnrLine`].
    pub rnr: AtomicBool,
    stalls: Gauge,
}

impl<T: SoftwareTransport> QpBase<T> {
    /// Returns the base of an unconnected queue pair.
    pub fn new(sink: EndpointSink<T>, receiver: Receiver<T>) -> Self {
        QpBase {
            sink,
            receiver,
            phase: AtomicU8::new(Phase::Idle as u8),
            to_extended: AtomicBool::new(false),
            to_datagrams: AtomicU32::new(0),
            rnr: AtomicBool::new(false),
            stalls: Gauge::default(),
        }
    }

    /// Returns the phase.
    pub fn phase(&self) -> Phase {
        Phase::of(self.phase.load(Ordering::Acquire))
    }

    /// Returns whether data can flow.
    #[inline]
    pub fn is_up(&self) -> bool {
        self.phase.load(Ordering::Acquire) == Phase::Up as u8
    }

    /// Changes the phase to `to` if it is `from`. Returns whether it was `from`.
    pub fn shift(&self, from: Phase, to: Phase) -> bool {
        self.phase.compare_exchange(from as u8, to as u8, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Changes the phase to `to`, unless it is already `to` or later. Returns the previous phase.
    pub fn advance(&self, to: Phase) -> Phase {
        Phase::of(self.phase.fetch_max(to as u8, Ordering::AcqRel))
    }

    /// Stores the peer's properties. Posts after the report of the connection see them, because that report takes the
    /// endpoint's lock on posts.
    pub fn note_peer(&self, extended: bool, datagrams: u32) {
        self.to_extended.store(extended, Ordering::Relaxed);
        self.to_datagrams.store(datagrams, Ordering::Relaxed);
    }

    /// Returns whether the peer's program supports extended operations.
    pub fn takes_extended(&self) -> bool {
        self.to_extended.load(Ordering::Relaxed)
    }

    /// Returns the number of the peer's endpoint if that carries datagrams, otherwise 0.
    pub fn peer_number(&self) -> u32 {
        self.to_datagrams.load(Ordering::Relaxed)
    }

    /// Takes the next receive for a message to `qp`, whose receiving direction is locked. If there is none, returns
    /// [`Halt::Wait`], and a later post resumes the queue pair.
    pub fn take(&self, qp: &Arc<T::Qp>, taken: &mut Taken) -> Executed {
        let verdict = self.sink.recv_take(taken).or_else(|| self.take_again(qp, taken));
        // Also clears the stall, because a poll that no post has caused may find the receive.
        self.note_stall(verdict.is_none());
        match verdict {
            Some(Verdict::Continue) => Ok(()),
            Some(Verdict::Break) => Err(Fatal::default().into()),
            None => Err(Halt::Wait),
        }
    }

    #[cold]
    fn take_again(&self, qp: &Arc<T::Qp>, taken: &mut Taken) -> Option<Verdict> {
        // The lock on the receives orders a post and the next take: the post sees the wait, or the take the receive.
        match &self.receiver {
            Receiver::Shared(line) => line.join(qp),
            _ => self.rnr.store(true, Ordering::SeqCst),
        }
        self.sink.recv_take(taken)
    }

    /// Ends the wait for a receive of the endpoint's own queue. Returns whether a message may have waited.
    pub fn end_wait(&self) -> bool {
        self.rnr.swap(false, Ordering::SeqCst)
    }

    /// Records whether a message waits for a receive. The caller has locked the receiving direction.
    pub fn note_stall(&self, waits: bool) {
        self.stalls.set(self.sink.ep(), Stall::Message, waits);
    }

    /// Returns whether a message waits for a receive.
    pub fn waits(&self) -> bool {
        self.stalls.waits()
    }

    /// Returns how many times a message had to wait for a receive.
    pub fn stalls(&self) -> u64 {
        self.stalls.stalls()
    }
}
