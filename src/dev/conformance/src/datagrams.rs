//! Endpoints for datagrams, if the transport supports them.

use std::sync::Arc;

use dat_core::ep::EpState;
use dat_core::error::{Arg, Error, Role};
use dat_core::event::{Event, Peer, PeerEvent, Status, Transfer};
use dat_core::testing::{Adapter, End, next, next_request, patience, quiet, request, until};
use dat_core::transport::Transport;
use dat_core::transport::datagrams::LEAD;
use dat_core::{Ah, Claim, CompletionFlags, Evd, LocalSegment, Psp, PspMode, Streams};

use crate::Network;

/// Length of a receive for a short datagram.
const ROOM: usize = LEAD as usize + 64;

/// Opens an adapter. Returns `None` if it does not support datagrams.
fn with_datagrams<T: Transport>(network: &Network<T>) -> Option<Adapter<T>> {
    Some(network.open()).filter(|adapter| adapter.ia.attributes().datagrams)
}

fn end<T: Transport>(adapter: &Adapter<T>) -> End<T> {
    adapter.end_with(None, |attr| (attr.datagrams, attr.max_message_size) = (true, 0))
}

struct Point<T: Transport> {
    requests: Arc<Evd<T>>,
    psp: Arc<Psp<T>>,
}

impl<T: Transport> Point<T> {
    fn new(adapter: &Adapter<T>) -> Self {
        let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
        let psp = Psp::create(&adapter.ia, None, &requests, PspMode::Consumer).unwrap();
        Point { requests, psp }
    }

    fn ask(&self, active: &End<T>, private_data: &[u8]) {
        let address = active.ep.ia().attributes().address.clone();
        request(active, &address, self.psp.point.qualifier(), Some(patience()), private_data).unwrap();
    }

    /// Exchanges the address handles of two endpoints. Returns the peer that the active endpoint got, then the peer
    /// that the passive endpoint got.
    fn join(&self, active: &End<T>, passive: &End<T>) -> [Arc<Peer>; 2] {
        self.ask(active, b"hello");
        next_request(&self.requests).accept(Some(&passive.ep), b"welcome").unwrap();
        let (ours, theirs) = (known(active, PeerEvent::Answered), known(passive, PeerEvent::Accepted));
        assert!(ours.private_data.as_ref().unwrap().starts_with(b"welcome"));
        assert!(theirs.private_data.as_ref().unwrap().starts_with(b"hello"));
        [ours, theirs]
    }
}

/// Returns the peer in the next event of `end`, which must have the kind `wanted`.
#[track_caller]
fn known<T: Transport>(end: &End<T>, wanted: PeerEvent) -> Arc<Peer> {
    match next(&end.connections) {
        Event::Peer { kind, peer, .. } => {
            assert_eq!(kind, wanted);
            peer
        }
        other => panic!("{other:?}"),
    }
}

fn handle<T: Transport>(end: &End<T>, peer: &Peer) -> Arc<Ah<T>> {
    end.ep.ia().arena.get(peer.handle).unwrap()
}

fn send<T: Transport>(end: &End<T>, from: LocalSegment, cookie: u64, peer: &Peer) {
    let to = handle(end, peer);
    end.ep.post_datagram(&[from], cookie, Some(&to), CompletionFlags::DEFAULT).unwrap();
    assert_eq!(end.done_with(), ((cookie, Status::Success, from.len), Transfer::SendDatagram));
}

/// All peers know the endpoint `hub` by the same number.
pub fn endpoint_has_many_peers<T: Transport>(network: &Network<T>) {
    let Some(adapter) = with_datagrams(network) else { return };
    let point = Point::new(&adapter);
    let (hub, leaves) = (end(&adapter), [end(&adapter), end(&adapter), end(&adapter)]);
    let (from, to) = (adapter.buffer(64), adapter.buffer(8 * ROOM));
    let joined = leaves.each_ref().map(|leaf| point.join(&hub, leaf));
    assert_eq!(hub.state(), EpState::ActiveConnectionPending);
    assert!(leaves.iter().all(|leaf| leaf.state() == EpState::CompletionPending));
    let [a, b] = [&joined[0][1], &joined[1][1]];
    assert_eq!(a.number, b.number);
    assert_ne!(joined[0][0].number, joined[1][0].number);
    for (k, (leaf, [ours, theirs])) in leaves.iter().zip(&joined).enumerate() {
        leaf.receive(to.at(0, ROOM), 10);
        from.paint(0..8, k);
        send(&hub, from.at(0, 8), 11, ours);
        assert_eq!(leaf.arrived_with(), ((10, Status::Success, LEAD + 8), Transfer::RecvDatagram, 0));
        assert!(to.shows(LEAD as usize..LEAD as usize + 8, k));
        hub.receive(to.at(0, ROOM), 12);
        send(leaf, from.at(0, 0), 13, theirs);
        assert_eq!(hub.arrived_with(), ((12, Status::Success, LEAD), Transfer::RecvDatagram, 0));
    }
    assert_eq!(hub.ep.lost_datagrams(), 0);
}

/// A receive that is too short for a datagram remains for the next datagram.
pub fn datagram_without_fitting_receive_is_lost<T: Transport>(network: &Network<T>) {
    let Some(adapter) = with_datagrams(network).filter(|_| network.is_exact()) else { return };
    let (a, b) = (end(&adapter), end(&adapter));
    let [ours, _] = Point::new(&adapter).join(&a, &b);
    let (from, to) = (adapter.buffer(64), adapter.buffer(ROOM));
    send(&a, from.at(0, 8), 1, &ours);
    until("the first one is lost", || b.ep.recv_query() == 0 && b.ep.lost_datagrams() == 1);
    b.receive(to.at(0, LEAD as usize + 8), 2);
    send(&a, from.at(0, 9), 3, &ours);
    until("the second one is lost", || b.ep.recv_query() == 1 && b.ep.lost_datagrams() == 2);
    send(&a, from.at(0, 8), 4, &ours);
    assert_eq!(b.arrived_with(), ((2, Status::Success, LEAD + 8), Transfer::RecvDatagram, 0));
    assert!(quiet([&a.connections, &b.connections]));
}

/// No event reports the free. Datagrams to the peer are lost, and its receives are flushed.
pub fn freed_peer_receives_nothing<T: Transport>(network: &Network<T>) {
    let Some(adapter) = with_datagrams(network) else { return };
    let point = Point::new(&adapter);
    let (a, b, c) = (end(&adapter), end(&adapter), end(&adapter));
    let ([gone, _], [left, _]) = (point.join(&a, &b), point.join(&a, &c));
    let (from, to) = (adapter.buffer(64), adapter.buffer(2 * ROOM));
    b.receive(to.at(0, ROOM), 1);
    b.receive(to.at(0, ROOM), 2);
    b.ep.free().unwrap();
    b.arrives(1, Status::Flushed);
    b.arrives(2, Status::Flushed);
    for k in 0..300 {
        send(&a, from.at(0, 8), k, &gone);
    }
    c.receive(to.at(ROOM, ROOM), 3);
    send(&a, from.at(0, 8), 4, &left);
    assert_eq!(c.arrived_with().0, (3, Status::Success, LEAD + 8));
    assert!(quiet([&a.connections, &c.connections]));
}

/// Until it is freed, the handle is valid on all endpoints of its zone.
pub fn address_handle_is_valid_until_free<T: Transport>(network: &Network<T>) {
    let Some(adapter) = with_datagrams(network) else { return };
    let (a, b, other) = (end(&adapter), end(&adapter), end(&adapter));
    let [ours, theirs] = Point::new(&adapter).join(&a, &b);
    let to = handle(&a, &ours);
    let (from, place) = (adapter.buffer(64), adapter.buffer(ROOM));
    let post = |end: &End<T>, to| end.ep.post_datagram(&[from.at(0, 8)], 1, to, CompletionFlags::DEFAULT);
    let unknown = Err(Error::InvalidParameter(Arg::Remote));
    let plain = adapter.end();
    assert_eq!(post(&plain, Some(&to)), Err(Error::InvalidHandle(Role::Ep)));
    assert_eq!(a.ep.post_send(&[from.at(0, 8)], 1, CompletionFlags::DEFAULT), Err(a.state().into()));
    b.receive(place.at(0, ROOM), 2);
    send(&other, from.at(0, 8), 3, &ours);
    assert_eq!(b.arrived_with().0, (2, Status::Success, LEAD + 8));
    assert_eq!(other.ep.free_peer(&to, Claim::Handle), unknown);
    assert_eq!(a.ep.free_peer(&to, Claim::Exchange), Ok(()));
    assert_eq!(a.ep.free_peer(&to, Claim::Exchange), unknown);
    assert_eq!(a.ep.free_peer(&to, Claim::Handle), Ok(()));
    assert_eq!(a.ep.free_peer(&to, Claim::Handle), unknown);
    assert_eq!([post(&a, Some(&to)), post(&other, Some(&to)), post(&a, None)], [unknown; 3]);
    assert!(a.ep.ia().arena.get::<Ah<T>>(ours.handle).is_none());
    // The peer can still send.
    a.receive(place.at(0, ROOM), 4);
    send(&b, from.at(0, 8), 5, &theirs);
    assert_eq!(a.arrived_with().0, (4, Status::Success, LEAD + 8));
}

pub fn request_accepts_only_endpoint_of_its_kind<T: Transport>(network: &Network<T>) {
    let Some(adapter) = with_datagrams(network) else { return };
    let point = Point::new(&adapter);
    let (datagrams, connection) = (end(&adapter), adapter.end());
    point.ask(&datagrams, b"");
    let cr = next_request(&point.requests);
    assert_eq!(cr.accept(Some(&connection.ep), b""), Err(Error::InvalidHandle(Role::Ep)));
    cr.reject(b"no").unwrap();
    assert!(known(&datagrams, PeerEvent::Rejected).private_data.as_ref().unwrap().starts_with(b"no"));
    point.ask(&connection, b"");
    let cr = next_request(&point.requests);
    assert_eq!(cr.accept(Some(&datagrams.ep), b""), Err(Error::InvalidHandle(Role::Ep)));
}
