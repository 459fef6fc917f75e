//! Establishment of connections, and its failures: private data, rejects, timeouts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dat_core::addr::Address;
use dat_core::ep::EpState;
use dat_core::event::{ConnectionEvent, Status};
use dat_core::testing::{Adapter, Buffer, End, connect, next_request, patience, quiet, request, until};
use dat_core::transport::Transport;
use dat_core::{Error, Evd, Psp, PspMode, Streams};

use crate::{Network, repeats};

pub(crate) struct Scene<T: Transport> {
    pub memory: Buffer<T>,
    pub requests: Arc<Evd<T>>,
    pub psp: Arc<Psp<T>>,
    pub address: Address,
    pub adapter: Adapter<T>,
}

impl<T: Transport> Scene<T> {
    pub fn new(network: &Network<T>) -> Self {
        let adapter = network.open();
        let requests = adapter.evd(Streams::CONNECTION_REQUESTS);
        let psp = Psp::create(&adapter.ia, None, &requests, PspMode::Consumer).unwrap();
        let address = adapter.ia.attributes().address.clone();
        Scene { memory: adapter.buffer(4096), requests, psp, address, adapter }
    }

    #[track_caller]
    pub fn ask(&self, end: &End<T>, timeout: Option<Duration>) {
        request(end, &self.address, self.psp.point.qualifier(), timeout, b"").unwrap();
    }

    #[track_caller]
    pub fn talk(&self, a: &End<T>, b: &End<T>) {
        for (from, to) in [(a, b), (b, a)] {
            to.receive(self.memory.at(2048, 64), 901);
            from.send(self.memory.at(1024, 64), 902);
            to.arrives(901, Status::Success);
            from.completes(902, Status::Success);
        }
    }

    /// Expects the event `kind` and the flushed receive `cookie` from the failed attempt of `end`. After a reset, the
    /// endpoint must be usable.
    #[track_caller]
    fn failed(&self, end: &End<T>, kind: ConnectionEvent, cookie: u64) {
        assert_eq!(end.next_connection_event(), (kind, vec![]));
        assert_eq!(end.state(), EpState::Disconnected);
        end.arrives(cookie, Status::Flushed);
        assert!(quiet([&end.connections]));
        end.ep.reset().unwrap();
        assert_eq!(end.state(), EpState::Unconnected);
        let other = self.adapter.end();
        connect(end, &other);
        self.talk(end, &other);
    }
}

pub fn private_data_arrives_on_both_sides<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let most = scene.adapter.ia.attributes().max_private_data;
    assert!(most > 0);
    for len in [0, 1, most / 2, most] {
        let (a, b) = (scene.adapter.end(), scene.adapter.end());
        let (question, answer): (Vec<u8>, Vec<u8>) =
            (0..len).map(|k| ((k % 250 + 1) as u8, (k % 240 + 2) as u8)).unzip();
        let qualifier = scene.psp.point.qualifier();
        request(&a, &scene.address, qualifier, Some(patience()), &question).unwrap();
        let cr = next_request(&scene.requests);
        // The transport may append zeros.
        let asked = &cr.private_data;
        let asked: Vec<u8> = asked.iter().map(|byte| byte.load(std::sync::atomic::Ordering::Relaxed)).collect();
        assert!(asked.starts_with(&question) && asked[len..].iter().all(|&byte| byte == 0), "{asked:?}");
        cr.accept(Some(&b.ep), &answer).unwrap();
        let (kind, told) = a.next_connection_event();
        assert_eq!(kind, ConnectionEvent::Established);
        assert!(told.starts_with(&answer) && told[len..].iter().all(|&byte| byte == 0), "{told:?}");
        assert_eq!(b.next_connection_event(), (ConnectionEvent::Established, vec![]), "it has its data in the request");
        scene.talk(&a, &b);
    }
}

pub fn both_sides_return_address_of_peer<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let (a, b) = (scene.adapter.end(), scene.adapter.end());
    scene.ask(&a, Some(patience()));
    assert_eq!(a.state(), EpState::ActiveConnectionPending);
    let cr = next_request(&scene.requests);
    assert_eq!(cr.remote_address.ip(), scene.address.ip());
    cr.accept(Some(&b.ep), b"").unwrap();
    for end in [&a, &b] {
        end.is_told(ConnectionEvent::Established);
        assert_eq!(end.state(), EpState::Connected);
        let (address, _) = end.ep.query().remote.expect("it is connected");
        assert_eq!(address.ip(), scene.address.ip());
    }
    assert_eq!(a.ep.query().remote.map(|(_, qualifier)| qualifier), Some(scene.psp.point.qualifier()));
    assert!(quiet([&a.connections, &b.connections, &scene.requests]));
}

pub fn separate_adapters_connect<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let other = network.open();
    let (a, b) = (other.end(), scene.adapter.end());
    connect(&a, &b);
    let memory = other.buffer(4096);
    memory.paint(0..64, 1);
    b.receive(scene.memory.at(0, 64), 1);
    a.send(memory.at(0, 64), 2);
    b.arrives(1, Status::Success);
    a.completes(2, Status::Success);
    assert!(scene.memory.shows(0..64, 1));
    b.read(scene.memory.at(128, 64), 3, memory.remote(0, 64));
    b.completes(3, Status::Success);
    assert!(scene.memory.shows(128..192, 1));
}

pub fn many_connections_are_accepted_in_any_order<T: Transport>(network: &Network<T>) {
    const COUNT: usize = 16;
    let scene = Scene::new(network);
    let ends: Vec<_> = (0..COUNT).map(|_| (scene.adapter.end(), scene.adapter.end())).collect();
    for (k, (a, _)) in ends.iter().enumerate() {
        let qualifier = scene.psp.point.qualifier();
        request(a, &scene.address, qualifier, Some(patience()), &[k as u8 + 1]).unwrap();
    }
    let mut asked: Vec<_> = (0..COUNT).map(|_| next_request(&scene.requests)).collect();
    asked.reverse();
    for cr in asked {
        let k = usize::from(cr.private_data[0].load(std::sync::atomic::Ordering::Relaxed)) - 1;
        cr.accept(Some(&ends[k].1.ep), b"").unwrap();
    }
    for (a, b) in &ends {
        a.is_told(ConnectionEvent::Established);
        b.is_told(ConnectionEvent::Established);
    }
    for (a, b) in &ends {
        scene.talk(a, b);
    }
}

pub fn reject_ends_attempt<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let a = scene.adapter.end();
    a.receive(scene.memory.at(0, 64), 1);
    scene.ask(&a, Some(patience()));
    next_request(&scene.requests).reject(&[]).unwrap();
    scene.failed(&a, ConnectionEvent::PeerRejected, 1);
}

pub fn reject_carries_private_data<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let most = scene.adapter.ia.attributes().max_reject_data;
    let a = scene.adapter.end();
    for len in [most, 0, most.min(1), most / 2] {
        // The data end with a zero byte, which must not be mistaken for padding.
        let data: Vec<u8> = (0..len).rev().map(|k| k as u8).collect();
        scene.ask(&a, Some(patience()));
        next_request(&scene.requests).reject(&data).unwrap();
        assert_eq!(a.next_connection_event(), (ConnectionEvent::PeerRejected, data));
        a.ep.reset().unwrap();
    }
    // No private data remains for the next connection.
    let b = scene.adapter.end();
    connect(&a, &b);
    b.ep.disconnect(false).unwrap();
    assert_eq!(a.next_connection_event(), (ConnectionEvent::Disconnected, vec![]));
}

pub fn connect_without_listener_is_rejected<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let a = scene.adapter.end();
    a.receive(scene.memory.at(0, 64), 2);
    let qualifier = scene.psp.point.qualifier();
    scene.psp.free();
    request(&a, &scene.address, qualifier, Some(patience()), b"").unwrap();
    scene.failed(&a, ConnectionEvent::NonPeerRejected, 2);
}

pub fn close_rejects_pending_requests<T: Transport>(network: &Network<T>) {
    let (scene, other) = (Scene::new(network), network.open());
    let a = other.end();
    scene.ask(&a, Some(patience()));
    let _cr = next_request(&scene.requests);
    scene.adapter.ia.close_abrupt().unwrap();
    a.is_told(ConnectionEvent::NonPeerRejected);
}

/// The timeout ends the attempt, and a later accept fails.
pub fn attempt_times_out<T: Transport>(network: &Network<T>) {
    let time = patience() / 20;
    let scene = Scene::new(network);
    let (a, late) = (scene.adapter.end(), scene.adapter.end());
    a.receive(scene.memory.at(0, 64), 3);
    late.receive(scene.memory.at(64, 64), 4);
    let start = Instant::now();
    scene.ask(&a, Some(time));
    let cr = next_request(&scene.requests);
    until("the attempt ends", || a.state() == EpState::Disconnected);
    assert!(start.elapsed() >= time - Duration::from_millis(1));
    scene.failed(&a, ConnectionEvent::TimedOut, 3);
    cr.accept(Some(&late.ep), b"").unwrap();
    if repeats(&scene.adapter) {
        scene.failed(&late, ConnectionEvent::AcceptCompletionError, 4);
    } else {
        // On iWARP, the accepting end gets no reply to its accept, so it is established, and then breaks.
        late.is_told(ConnectionEvent::Established);
        network.expect_broken(&late);
        late.arrives(4, Status::Flushed);
    }
}

/// Without a timeout, an attempt waits indefinitely. An accept cancels the timeout.
pub fn attempt_waits_for_reply<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    // Long enough that a slow machine accepts before it expires.
    let short = patience() / 8;
    for timeout in [None, Some(short)] {
        let (a, b) = (scene.adapter.end(), scene.adapter.end());
        let start = Instant::now();
        scene.ask(&a, timeout);
        let cr = next_request(&scene.requests);
        assert!(quiet([&a.connections]));
        cr.accept(Some(&b.ep), b"").unwrap();
        a.is_told(ConnectionEvent::Established);
        b.is_told(ConnectionEvent::Established);
        if timeout.is_some() {
            until("the limit has passed", || start.elapsed() > short);
        }
        assert!(quiet([&a.connections, &b.connections]));
        scene.talk(&a, &b);
    }
}

/// A disconnect ends the attempt with one event, and the passive side can still reply.
pub fn disconnect_ends_attempt<T: Transport>(network: &Network<T>) {
    for graceful in [false, true] {
        let scene = Scene::new(network);
        let a = scene.adapter.end();
        a.receive(scene.memory.at(0, 64), 5);
        scene.ask(&a, Some(patience()));
        let cr = next_request(&scene.requests);
        a.ep.disconnect(graceful).unwrap();
        a.is_told(ConnectionEvent::Disconnected);
        assert_eq!(a.state(), EpState::Disconnected);
        a.arrives(5, Status::Flushed);
        assert!(quiet([&a.connections]));
        cr.reject(&[]).unwrap();
        // An accept after the end of the attempt fails.
        let (c, d) = (scene.adapter.end(), scene.adapter.end());
        scene.ask(&c, Some(patience()));
        let cr = next_request(&scene.requests);
        c.ep.free().unwrap();
        cr.accept(Some(&d.ep), b"").unwrap();
        let (kind, _) = d.next_connection_event();
        // If accept and close cross, the connection can be established briefly.
        match kind {
            ConnectionEvent::AcceptCompletionError => {}
            ConnectionEvent::Established => d.is_told(ConnectionEvent::Disconnected),
            other => panic!("{other:?}"),
        }
        assert!(quiet([&d.connections]));
    }
}

pub fn address_without_host_is_unreachable<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let qualifier = scene.psp.point.qualifier();
    for ip in ["192.0.2.1", "2001:db8::1"] {
        let a = scene.adapter.end();
        let nobody = Address::new(std::net::SocketAddr::new(ip.parse().unwrap(), 0));
        match request(&a, &nobody, qualifier, Some(patience() / 20), b"") {
            Ok(()) => {
                let (kind, _) = a.next_connection_event();
                let fits = [ConnectionEvent::Unreachable, ConnectionEvent::TimedOut, ConnectionEvent::NonPeerRejected];
                assert!(fits.contains(&kind), "{ip}: {kind:?}");
            }
            Err(error) => assert!(matches!(error, Error::InvalidAddress(_)), "{ip}: {error:?}"),
        }
    }
    assert!(quiet([&scene.requests]));
}

pub fn rejected_connect_keeps_receives<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let (a, b) = (scene.adapter.end(), scene.adapter.end());
    b.receive(scene.memory.at(2048, 8), 3);
    let group = Address::new(std::net::SocketAddr::from(([224, 0, 0, 1], 0)));
    let refused = request(&b, &group, 5, Some(patience()), b"");
    assert!(matches!(refused, Err(Error::InvalidAddress(_))));
    assert_eq!(b.state(), EpState::Unconnected);
    assert!(quiet([&b.receives, &b.connections]));
    connect(&b, &a);
    a.send(scene.memory.at(0, 8), 4);
    assert_eq!(b.arrived(), (3, Status::Success, 8));
    assert_eq!(a.done(), (4, Status::Success, 8));
}

pub fn dup_connect_reaches_same_service_point<T: Transport>(network: &Network<T>) {
    let scene = Scene::new(network);
    let ends: Vec<_> = (0..4).map(|_| scene.adapter.end()).collect();
    scene.ask(&ends[0], Some(patience()));
    next_request(&scene.requests).accept(Some(&ends[1].ep), b"").unwrap();
    ends[0].is_told(ConnectionEvent::Established);
    ends[1].is_told(ConnectionEvent::Established);
    ends[2].ep.dup_connect(&ends[0].ep, Some(patience()), b"again").unwrap();
    let cr = next_request(&scene.requests);
    let told: Vec<u8> = cr.private_data.iter().map(|byte| byte.load(std::sync::atomic::Ordering::Relaxed)).collect();
    assert!(told.starts_with(b"again"));
    cr.accept(Some(&ends[3].ep), b"").unwrap();
    ends[2].is_told(ConnectionEvent::Established);
    ends[3].is_told(ConnectionEvent::Established);
    scene.talk(&ends[2], &ends[3]);
    scene.talk(&ends[0], &ends[1]);
}
