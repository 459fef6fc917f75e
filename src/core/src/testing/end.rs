//! One end of a connection, and functions that connect two of them.

use std::sync::Arc;
use std::time::Duration;

use super::{next, patience};
use crate::addr::Address;
use crate::arena::Object;
use crate::ep::{Endpoint, EpState};
use crate::error::Result;
use crate::evd::Evd;
use crate::event::{CompletionFlags, ConnectionEvent, Event, Status, Streams, Transfer};
use crate::lmr_table::{LocalSegment, SegmentList};
use crate::sp::{Cr, Psp, PspMode};
use crate::transport::{Change, Connect, RemoteSegment, Transport};

pub struct End<T: Transport> {
    pub ep: Arc<Endpoint<T>>,
    pub receives: Arc<Evd<T>>,
    pub requests: Arc<Evd<T>>,
    pub connections: Arc<Evd<T>>,
}

/// Cookie, status and length of a completion.
pub type Completion = (u64, Status, u64);

impl<T: Transport> Endpoint<T> {
    /// Posts a send.
    pub fn post_send<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<()> {
        self.post(segments, cookie, completion, Transfer::Send, &RemoteSegment::NONE)
    }

    /// Posts an RDMA write.
    pub fn post_write<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        remote: RemoteSegment,
        completion: CompletionFlags,
    ) -> Result<()> {
        self.post(segments, cookie, completion, Transfer::Write, &remote)
    }

    /// Posts an RDMA read.
    pub fn post_read<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        remote: RemoteSegment,
        completion: CompletionFlags,
    ) -> Result<()> {
        self.post(segments, cookie, completion, Transfer::Read, &remote)
    }
}

impl<T: Transport> End<T> {
    #[track_caller]
    pub fn receive(&self, into: LocalSegment, cookie: u64) {
        self.ep.post_recv(&[into], cookie, CompletionFlags::DEFAULT).unwrap();
    }

    #[track_caller]
    pub fn send(&self, from: LocalSegment, cookie: u64) {
        self.ep.post_send(&[from], cookie, CompletionFlags::DEFAULT).unwrap();
    }

    #[track_caller]
    pub fn write(&self, from: LocalSegment, cookie: u64, to: RemoteSegment) {
        self.ep.post_write(&[from], cookie, to, CompletionFlags::DEFAULT).unwrap();
    }

    #[track_caller]
    pub fn read(&self, into: LocalSegment, cookie: u64, from: RemoteSegment) {
        self.ep.post_read(&[into], cookie, from, CompletionFlags::DEFAULT).unwrap();
    }

    #[track_caller]
    pub fn write_immediate(&self, from: LocalSegment, cookie: u64, to: RemoteSegment, value: u32) {
        self.ep.post_write_immediate(&[from], cookie, to, value, CompletionFlags::DEFAULT).unwrap();
    }

    #[track_caller]
    pub fn change(&self, before: LocalSegment, cookie: u64, to: RemoteSegment, change: Change) {
        self.ep.post_atomic(&[before], cookie, to, change, CompletionFlags::DEFAULT).unwrap();
    }

    #[track_caller]
    pub fn arrived(&self) -> Completion {
        let (transfer, completion) = self.transfer(next(&self.receives));
        assert_eq!(transfer, Transfer::Recv);
        completion
    }

    #[track_caller]
    pub fn arrives(&self, cookie: u64, status: Status) {
        let (got, how, _) = self.arrived();
        assert_eq!((got, how), (cookie, status));
    }

    #[track_caller]
    pub fn done(&self) -> Completion {
        let (transfer, completion) = self.transfer(next(&self.requests));
        assert_ne!(transfer, Transfer::Recv);
        completion
    }

    #[track_caller]
    pub fn completes(&self, cookie: u64, status: Status) {
        let (got, how, _) = self.done();
        assert_eq!((got, how), (cookie, status));
    }

    /// Returns the next extended completion of a receive, its operation, and its data.
    #[track_caller]
    pub fn arrived_with(&self) -> (Completion, Transfer, u32) {
        self.extended(next(&self.receives))
    }

    #[track_caller]
    pub fn done_with(&self) -> (Completion, Transfer) {
        let (completion, operation, extra) = self.extended(next(&self.requests));
        assert_eq!(extra, 0);
        (completion, operation)
    }

    #[track_caller]
    pub fn completes_with(&self, cookie: u64, status: Status, operation: Transfer) {
        let ((got, how, _), kind) = self.done_with();
        assert_eq!((got, how, kind), (cookie, status, operation));
    }

    #[track_caller]
    fn extended(&self, event: Event) -> (Completion, Transfer, u32) {
        match event {
            Event::Transfer { ep, cookie, status, len, transfer, extra } => {
                assert_eq!(ep, self.ep.header().handle());
                ((cookie, status, len), transfer, extra)
            }
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn transfer(&self, event: Event) -> (Transfer, Completion) {
        let (completion, transfer, extra) = self.extended(event);
        assert!(matches!(transfer, Transfer::Send | Transfer::Write | Transfer::Read | Transfer::Recv), "{transfer:?}");
        assert_eq!(extra, 0);
        (transfer, completion)
    }

    #[track_caller]
    pub fn next_connection_event(&self) -> (ConnectionEvent, Vec<u8>) {
        match next(&self.connections) {
            Event::Connection { ep, kind, private_data } => {
                assert_eq!(ep, self.ep.header().handle());
                (kind, private_data.map_or(Vec::new(), |data| data.to_vec()))
            }
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub fn is_told(&self, wanted: ConnectionEvent) {
        assert_eq!(self.next_connection_event().0, wanted);
    }

    pub fn state(&self) -> EpState {
        self.ep.query().state
    }
}

pub fn request<T: Transport>(
    active: &End<T>,
    to: &Address,
    qualifier: u64,
    timeout: Option<Duration>,
    private_data: &[u8],
) -> Result<()> {
    active.ep.connect(&Connect { address: to, qualifier, timeout, private_data })
}

#[track_caller]
pub fn next_request<T: Transport>(requests: &Evd<T>) -> Arc<Cr<T>> {
    match next(requests) {
        Event::ConnectionRequest { cr, .. } => requests.ia().arena.get::<Cr<T>>(cr).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub fn connect<T: Transport>(active: &End<T>, passive: &End<T>) {
    let ia = passive.ep.ia();
    let requests = Evd::create(ia, 8, None, Streams::CONNECTION_REQUESTS).unwrap();
    let psp = Psp::create(ia, None, &requests, PspMode::Consumer).unwrap();
    let address = ia.attributes().address.clone();
    request(active, &address, psp.point.qualifier(), Some(patience()), b"hello").unwrap();
    let cr = next_request(&requests);
    // The transport may append padding.
    assert!(cr.private_data.len() >= 5);
    cr.accept(Some(&passive.ep), b"welcome").unwrap();
    active.is_told(ConnectionEvent::Established);
    passive.is_told(ConnectionEvent::Established);
    psp.free();
    requests.free().unwrap();
}
