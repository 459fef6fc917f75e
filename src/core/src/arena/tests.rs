use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::Duration;

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
fn finds_only_live_objects_of_the_kind() {
    let arena: Arena<()> = Arena::new();
    let object = Arc::new(A(5, Header::default()));
    let handle = arena.insert(7, object.clone()).unwrap();
    // SAFETY: a handle is the address of a cell, whose first word belongs to the API layer.
    assert_eq!(unsafe { *(handle.0 as *const usize) }, 7);
    assert_eq!(arena.get::<A>(handle).unwrap().0, 5);
    assert!(arena.get::<B>(handle).is_none());
    assert!(arena.get::<A>(Handle(handle.0 + 8)).is_none());
    assert!(arena.get::<A>(Handle(handle.0 + 64)).is_none());
    assert!(arena.get::<A>(Handle(&object as *const _ as usize)).is_none());
    assert!(arena.remove(&A(5, Header::default())).is_none(), "an object without a handle");
    assert!(arena.remove(&*object).is_some());
    assert!(arena.remove(&*object).is_none());
    assert!(arena.get::<A>(handle).is_none());
    assert_eq!(Arc::strong_count(&object), 1);
}

#[test]
fn adapters_share_arena_but_no_page() {
    const PAGE: usize = 4096;
    let arena: Arena<()> = Arena::new();
    let mut pages = [Vec::new(), Vec::new()];
    for _ in 0..2 * STEP / size_of::<Cell>() {
        for (face, pages) in pages.iter_mut().enumerate() {
            let handle = arena.insert(face, b()).unwrap();
            assert!(arena.get::<B>(handle).is_some() && arena.enter::<B>(handle).is_some());
            pages.push(handle.0 / PAGE);
        }
    }
    let [one, other] = pages;
    assert!(!one.iter().any(|page| other.contains(page)));
}

#[test]
fn freed_cells_serve_the_same_adapter() {
    let arena: Arena<()> = Arena::new();
    let free = |face| {
        let object = b();
        let handle = arena.insert(face, object.clone()).unwrap();
        assert!(arena.remove(&*object).is_some());
        handle
    };
    let freed: Vec<_> = (0..=QUARANTINE).map(|_| free(1)).collect();
    assert!(!freed.contains(&free(2)));
    assert_eq!(free(1), freed[0]);
    assert_eq!(free(1), freed[1]);
}

#[test]
fn child_of_fork_starts_anew() {
    let arena: Arena<()> = Arena::new();
    let old = arena.insert(0, b()).unwrap();
    arena.abandon();
    assert!(arena.get::<B>(old).is_none() && arena.cell(old).is_none());
    let new = arena.insert(0, b()).unwrap();
    assert!(arena.get::<B>(new).is_some() && arena.get::<B>(old).is_none());
}

#[test]
fn reference_keeps_freed_object_alive() {
    let arena: Arena<()> = Arena::new();
    let object = b();
    let handle = arena.insert(0, object.clone()).unwrap();
    let found = arena.get::<B>(handle).unwrap();
    drop(arena.remove(&*object));
    assert_eq!(Arc::strong_count(&object), 2);
    drop(found);
    assert_eq!(Arc::strong_count(&object), 1);
}

#[test]
fn free_waits_for_fast_calls() {
    if !host::asymmetric::available() {
        return;
    }
    let arena: Arena<()> = Arena::new();
    let object = b();
    let handle = arena.insert(0, object.clone()).unwrap();
    let (left, (enter, entered)) = (AtomicBool::new(false), mpsc::channel());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let held = arena.enter::<B>(handle).unwrap();
            enter.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(5));
            assert_eq!(Arc::strong_count(&object), 2);
            left.store(true, Ordering::Relaxed);
            drop(held);
        });
        entered.recv().unwrap();
        let dying = arena.remove(&*object);
        assert!(arena.enter::<B>(handle).is_none() && !left.load(Ordering::Relaxed), "it is dead at once");
        drop(dying);
        assert!(left.load(Ordering::Relaxed), "the call was over");
    });
    assert_eq!(Arc::strong_count(&object), 1);
}

#[test]
fn next_free_drops_objects_freed_in_fast_call() {
    if !host::asymmetric::available() {
        return;
    }
    let arena: Arena<()> = Arena::new();
    let objects = [b(), b(), b()];
    let handles = objects.each_ref().map(|object| arena.insert(0, object.clone()).unwrap());
    let held = arena.enter::<B>(handles[0]).unwrap();
    drop(arena.remove(&*objects[0]));
    drop(arena.remove(&*objects[1]));
    assert_eq!(objects.each_ref().map(Arc::strong_count), [2, 2, 2]);
    assert!(arena.enter::<B>(handles[0]).is_none(), "it is dead");
    assert_eq!(held.header().handle(), handles[0], "and there for the call");
    drop(held);
    drop(arena.remove(&*objects[2]));
    assert_eq!(objects.each_ref().map(Arc::strong_count), [1, 1, 1]);
}

#[test]
fn free_does_not_wait_for_endless_call() {
    if !host::asymmetric::available() {
        return;
    }
    let arena: Arena<()> = Arena::new();
    let objects = [b(), b(), b()];
    let handles = objects.each_ref().map(|object| arena.insert(0, object.clone()).unwrap());
    let counts = || objects.each_ref().map(Arc::strong_count);
    std::thread::scope(|scope| {
        let (enter, entered) = mpsc::channel();
        let (leave, left) = mpsc::channel::<()>();
        let arena = &arena;
        scope.spawn(move || {
            let held = arena.enter::<B>(handles[2]).unwrap();
            enter.send(()).unwrap();
            let _ = left.recv();
            drop(held);
        });
        entered.recv().unwrap();
        for object in &objects[..2] {
            let dying = mem::ManuallyDrop::new(arena.remove(&**object).unwrap());
            dying.end(Duration::ZERO);
        }
        assert_eq!(counts(), [2, 2, 2]);
        drop(leave);
    });
    drop(arena.remove(&*objects[2]));
    assert_eq!(counts(), [1, 1, 1]);
}

#[test]
fn freed_cells_are_reused_late() {
    let arena: Arena<()> = Arena::new();
    let make = || {
        let object = b();
        let handle = arena.insert(0, object.clone()).unwrap();
        assert!(arena.remove(&*object).is_some());
        handle
    };
    let first = make();
    for _ in 0..QUARANTINE - 1 {
        assert_ne!(make(), first);
    }
    assert!(arena.get::<B>(first).is_none());
}

#[test]
fn racing_threads_see_object_or_none() {
    let arena: Arc<Arena<()>> = Arc::new(Arena::new());
    for _ in 0..200 {
        let object = Arc::new(A(9, Header::default()));
        let handle = arena.insert(0, object.clone()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while let Some(held) = arena.get::<A>(handle) {
                        assert_eq!(held.0, 9);
                    }
                });
            }
            assert!(arena.remove(&*object).is_some());
        });
        assert_eq!(Arc::strong_count(&object), 1);
    }
}

/// An object that records its drop.
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

/// Threads use the objects of a few handles in sections and by references, while two others free and replace them.
#[test]
fn drops_each_object_once_after_last_use() {
    const PLACES: usize = 4;
    const ROUNDS: usize = 4000;
    let arena: Arena<()> = Arena::new();
    let new =
        |dropped: &Arc<AtomicBool>| arena.insert(0, Arc::new(Witness(Header::default(), dropped.clone()))).unwrap().0;
    let free =
        |handle: usize| arena.get::<Witness>(Handle(handle)).is_some_and(|found| arena.remove(&*found).is_some());
    let all: Vec<Vec<_>> = (0..2).map(|_| (0..ROUNDS).map(|_| Arc::new(AtomicBool::new(false))).collect()).collect();
    let places: Vec<_> = (0..2 * PLACES).map(|_| AtomicUsize::new(0)).collect();
    let go = AtomicUsize::new(2);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (arena, places, go) = (&arena, &places, &go);
            scope.spawn(move || {
                let mut many = Vec::new();
                let mut turn = thread;
                while go.load(Ordering::SeqCst) > 0 {
                    turn += 1;
                    let handle = Handle(places[turn % places.len()].load(Ordering::SeqCst));
                    if let Some(held) = arena.enter::<Witness>(handle) {
                        assert!(!held.1.load(Ordering::SeqCst), "it is there");
                        std::hint::spin_loop();
                        assert!(!held.1.load(Ordering::SeqCst), "it stays");
                    }
                    many.extend(arena.get::<Witness>(handle));
                    if many.len() > turn % 20 {
                        assert!(many.iter().all(|found| !found.1.load(Ordering::SeqCst)), "it stays");
                        many.clear();
                    }
                }
            });
        }
        for (mine, half) in all.iter().zip(places.chunks(PLACES)) {
            let (free, go, new) = (&free, &go, &new);
            scope.spawn(move || {
                for (round, dropped) in mine.iter().enumerate() {
                    let earlier = half[round % PLACES].swap(new(dropped), Ordering::SeqCst);
                    assert_eq!(free(earlier), round >= PLACES);
                }
                go.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    for place in &places {
        assert!(free(place.load(Ordering::SeqCst)));
    }
    assert!(all.iter().flatten().all(|dropped| dropped.load(Ordering::SeqCst)), "none is left behind");
}
