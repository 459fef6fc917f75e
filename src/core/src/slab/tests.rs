use std::sync::Barrier;

use super::*;

struct A(u32, Header);
struct B(Header);
impl Object for A {
    const KIND: Kind = Kind::Ep;
    fn header(&self) -> &Header {
        &self.1
    }
}
impl Object for B {
    const KIND: Kind = Kind::Evd;
    fn header(&self) -> &Header {
        &self.0
    }
}

fn b() -> Arc<B> {
    Arc::new(B(Header::default()))
}

#[test]
fn only_live_handles_of_the_right_kind_are_entered() {
    let slab: Slab<()> = Slab::new(7);
    let object = Arc::new(A(5, Header::default()));
    let handle = slab.insert(object.clone()).unwrap();
    // SAFETY: a handle points to a cell whose first word belongs to the face.
    assert_eq!(unsafe { *(handle.0 as *const usize) }, 7);
    assert_eq!(slab.get::<A>(handle).unwrap().0, 5);
    assert!(slab.get::<B>(handle).is_none());
    assert!(slab.get::<A>(Handle(handle.0 + 8)).is_none());
    assert!(slab.get::<A>(Handle(handle.0 + 64)).is_none());
    assert!(slab.get::<A>(Handle(&object as *const _ as usize)).is_none());
    assert!(!slab.remove::<B>(handle));
    assert!(slab.remove::<A>(handle));
    assert!(!slab.remove::<A>(handle));
    assert!(slab.get::<A>(handle).is_none());
    assert_eq!(Arc::strong_count(&object), 1);
}

#[test]
fn an_object_outlives_its_handle_while_a_call_is_inside() {
    let slab: Slab<()> = Slab::new(0);
    let object = b();
    let handle = slab.insert(object.clone()).unwrap();
    let held = slab.get::<B>(handle).unwrap();
    assert!(slab.remove::<B>(handle));
    assert_eq!(Arc::strong_count(&object), 2);
    drop(held);
    assert_eq!(Arc::strong_count(&object), 1);
}

#[test]
fn cells_rest_before_they_are_used_again() {
    let slab: Slab<()> = Slab::new(0);
    let first = slab.insert(b()).unwrap();
    assert!(slab.remove::<B>(first));
    for _ in 0..QUARANTINE - 1 {
        let handle = slab.insert(b()).unwrap();
        assert_ne!(handle, first);
        assert!(slab.remove::<B>(handle));
    }
    assert!(slab.get::<B>(first).is_none());
}

/// More calls at once than a thread has slots for.
const MANY: usize = 20;

#[test]
fn a_thread_can_be_inside_of_many_objects() {
    let slab: Slab<()> = Slab::new(0);
    let objects: Vec<_> = (0..MANY).map(|_| b()).collect();
    let handles: Vec<_> = objects.iter().map(|object| slab.insert(object.clone()).unwrap()).collect();
    let mut held: Vec<_> = handles.iter().map(|&handle| slab.get::<B>(handle)).collect();
    assert!(held.iter().all(Option::is_some));
    assert!(handles.iter().all(|&handle| slab.remove::<B>(handle)));
    assert!(objects.iter().all(|object| Arc::strong_count(object) == 2));
    // They leave in another order than that in which they entered.
    for index in (0..MANY).map(|index| index * 7 % MANY) {
        held[index] = None;
        assert_eq!(Arc::strong_count(&objects[index]), 1);
    }
}

#[test]
fn the_last_to_leave_drops_the_object_whichever_way_it_entered() {
    let slab: Slab<()> = Slab::new(0);
    for first in 0..3 {
        let object = b();
        let handle = slab.insert(object.clone()).unwrap();
        // More than the slots, so that the last of them are pins.
        let mut held: Vec<_> = (0..MANY).map(|_| slab.get::<B>(handle)).collect();
        // A thread that is inside when the handle is freed, and leaves later.
        let (inside, leave) = (Barrier::new(2), Barrier::new(2));
        let mut other = std::thread::scope(|scope| {
            scope.spawn(|| {
                let held = slab.get::<B>(handle);
                inside.wait();
                leave.wait();
                drop(held);
            });
            inside.wait();
            assert!(slab.remove::<B>(handle));
            if first == 0 {
                held.clear();
                assert_eq!(Arc::strong_count(&object), 2);
            }
            leave.wait();
            held.split_off(held.len() / 2)
        });
        if first == 1 {
            std::mem::swap(&mut held, &mut other);
        }
        drop(held);
        assert_eq!(Arc::strong_count(&object), if first == 0 { 1 } else { 2 });
        drop(other);
        assert_eq!(Arc::strong_count(&object), 1);
    }
}

#[test]
fn threads_that_race_with_a_free_see_the_object_or_nothing() {
    let slab: Arc<Slab<()>> = Arc::new(Slab::new(0));
    for _ in 0..200 {
        let object = Arc::new(A(9, Header::default()));
        let handle = slab.insert(object.clone()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while let Some(held) = slab.get::<A>(handle) {
                        assert_eq!(held.0, 9);
                    }
                });
            }
            assert!(slab.remove::<A>(handle));
        });
        assert_eq!(Arc::strong_count(&object), 1);
    }
}

/// An object that knows whether it was dropped.
struct Witness(Header, Arc<AtomicBool>);

impl Object for Witness {
    const KIND: Kind = Kind::Srq;
    fn header(&self) -> &Header {
        &self.0
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        assert!(!self.1.swap(true, Ordering::SeqCst), "it is dropped once");
    }
}

/// Threads that stay enter and leave the objects of a few handles all the time, by slots and by pins, while two others
/// free them and make new ones.
#[test]
fn every_object_is_dropped_once_and_after_the_last_has_left() {
    const PLACES: usize = 4;
    const ROUNDS: usize = 4000;
    let slab: Slab<()> = Slab::new(0);
    let new = |dropped: &Arc<AtomicBool>| {
        let object = Arc::new(Witness(Header::default(), dropped.clone()));
        slab.insert(object).unwrap().0
    };
    let all: Vec<Vec<_>> = (0..2).map(|_| (0..ROUNDS).map(|_| Arc::new(AtomicBool::new(false))).collect()).collect();
    let places: Vec<_> = (0..2 * PLACES).map(|_| AtomicUsize::new(0)).collect();
    let go = AtomicUsize::new(2);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (slab, places, go) = (&slab, &places, &go);
            scope.spawn(move || {
                let mut many = Vec::new();
                let mut turn = thread;
                while go.load(Ordering::SeqCst) > 0 {
                    turn += 1;
                    let handle = Handle(places[turn % places.len()].load(Ordering::SeqCst));
                    if let Some(held) = slab.get::<Witness>(handle) {
                        assert!(!held.1.load(Ordering::SeqCst), "it is there");
                        many.push(held);
                    }
                    if many.len() > turn % MANY {
                        assert!(many.iter().all(|held| !held.1.load(Ordering::SeqCst)), "it stays");
                        many.clear();
                    }
                }
            });
        }
        for (mine, half) in all.iter().zip(places.chunks(PLACES)) {
            let (slab, go, new) = (&slab, &go, &new);
            scope.spawn(move || {
                for (round, dropped) in mine.iter().enumerate() {
                    let earlier = half[round % PLACES].swap(new(dropped), Ordering::SeqCst);
                    assert_eq!(slab.remove::<Witness>(Handle(earlier)), round >= PLACES);
                }
                go.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    for place in &places {
        assert!(slab.remove::<Witness>(Handle(place.load(Ordering::SeqCst))));
    }
    assert!(all.iter().flatten().all(|dropped| dropped.load(Ordering::SeqCst)), "none is left behind");
}
