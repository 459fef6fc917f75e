//! Watermarks and resizes of shared receive queues.

use dat_core::Object;
use dat_core::ep::{EpState, Watermark};
use dat_core::error::{Error, StateError};
use dat_core::event::{AsyncReason, ConnectionEvent, Event, Status};
use dat_core::testing::{patience, quiet, until, wait};
use dat_core::transport::Transport;

use crate::srq::Scene;
use crate::{Network, repeats};

pub fn low_watermark_fires_once_per_arming<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network, 1) else { return };
    scene.fill(0..5);
    scene.srq.set_low_watermark(4).unwrap();
    scene.send(0);
    assert!(quiet([&scene.events]), "four are left");
    scene.send(0);
    scene.low_watermark();
    scene.send(0);
    assert!(quiet([&scene.events]), "it has fired");
    // If the count is already below the watermark, each arming fires immediately.
    for _ in 0..2 {
        scene.srq.set_low_watermark(4).unwrap();
        scene.low_watermark();
    }
    // After a refill, the watermark fires only if it was armed again.
    scene.take_all(0, 3);
    scene.fill(5..9);
    (0..3).for_each(|_| scene.send(0));
    assert!(quiet([&scene.events]));
    scene.srq.set_low_watermark(2).unwrap();
    scene.send(0);
    assert!(quiet([&scene.events]), "two are left");
    scene.send(0);
    scene.low_watermark();
    // A watermark of 0 never fires.
    scene.srq.set_low_watermark(0).unwrap();
    scene.send(0);
    assert!(quiet([&scene.events]));
}

pub fn low_watermark_fires_without_polling<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network, 1) else { return };
    scene.fill(0..3);
    scene.srq.set_low_watermark(3).unwrap();
    scene.pairs[0].0.send(scene.memory.at(4096, 32), 1);
    let outcome = wait(&scene.events, 1, Some(patience()));
    let Ok(Event::Async { reason: AsyncReason::SrqLowWatermark, .. }) = outcome.result else { panic!("no event") };
}

/// A resize loses neither buffers nor messages, and the watermark stays armed.
pub fn resize_loses_nothing<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network, 1) else { return };
    scene.fill(0..10);
    scene.srq.set_low_watermark(5).unwrap();
    let too_short = Err(Error::InvalidState(StateError::SrqTooShort));
    assert_eq!(scene.srq.resize(9), too_short);
    scene.send(0);
    assert_eq!(scene.srq.resize(9), too_short, "what is not dequeued counts");
    scene.take(0);
    scene.srq.resize(9).unwrap();
    assert!(scene.post(0).is_err());
    scene.srq.resize(40).unwrap();
    for k in 10..41 {
        scene.post(k).unwrap();
    }
    assert!(scene.post(41).is_err());
    assert_eq!(scene.counts(), (40, 40));
    let mut seen = Vec::new();
    for _ in 0..35 {
        scene.send(0);
        seen.push(scene.take(0));
    }
    assert!(quiet([&scene.events]), "five are left");
    scene.send(0);
    scene.low_watermark();
    seen.push(scene.take(0));
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 36, "every buffer once");
    assert_eq!(scene.srq.resize(4), too_short, "the watermark is higher");
    scene.srq.set_low_watermark(0).unwrap();
    scene.srq.resize(4).unwrap();
    assert_eq!(scene.counts(), (4, 4));
    if !repeats(&scene.adapter) {
        return;
    }
    // Resize while messages wait for buffers.
    (0..4).for_each(|_| scene.send(0));
    scene.take_all(0, 4);
    let (tx, rx) = &scene.pairs[0];
    (0..3).for_each(|cookie| tx.send(scene.memory.at(4096, 32), cookie));
    scene.srq.resize(8).unwrap();
    scene.fill(0..3);
    (0..3).for_each(|_| assert_eq!(rx.arrived().1, Status::Success));
    (0..3).for_each(|cookie| tx.completes(cookie, Status::Success));
}

pub fn soft_high_watermark_fires<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network, 2) else { return };
    scene.fill(0..10);
    let rx = &scene.pairs[0].1;
    rx.ep.set_watermark(Watermark::At(0), Watermark::Infinite).unwrap();
    scene.send(1);
    assert!(quiet([&scene.events]), "another endpoint took it");
    scene.send(0);
    scene.is_told(rx.ep.header().handle(), AsyncReason::EpSoftHighWatermark);
    scene.send(0);
    assert!(quiet([&scene.events]), "it has fired");
    rx.ep.set_watermark(Watermark::At(0), Watermark::Infinite).unwrap();
    scene.send(0);
    scene.is_told(rx.ep.header().handle(), AsyncReason::EpSoftHighWatermark);
    assert_eq!(rx.state(), EpState::Connected);
}

pub fn hard_high_watermark_breaks_connection<T: Transport>(network: &Network<T>) {
    let Some(scene) = Scene::new(network, 2) else { return };
    scene.fill(0..8);
    let (tx, rx) = &scene.pairs[0];
    scene.send(0);
    scene.take(0);
    rx.ep.set_watermark(Watermark::Infinite, Watermark::At(0)).unwrap();
    assert!(quiet([&rx.connections]), "nothing is taken");
    tx.send(scene.memory.at(4096, 32), 1);
    rx.is_told(ConnectionEvent::Broken);
    network.expect_broken(tx);
    let (cookie, ..) = tx.done();
    assert_eq!(cookie, 1);
    // Dequeue the completion of the taken buffer, if there is one.
    until("no buffer is under way", || {
        let _ = rx.receives.dequeue();
        let (available, outstanding) = scene.counts();
        available == outstanding
    });
    let (left, _) = scene.counts();
    assert!((6..=7).contains(&left), "{left}");
    for _ in 0..left {
        scene.send(1);
        scene.take(1);
    }
    assert_eq!(scene.counts(), (0, 0));
}
