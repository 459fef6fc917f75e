use std::time::{Duration, Instant};

use dat_memory::user::Target;

use super::*;
use crate::os::memory::{Access, SharedMemory};
use crate::os::vm::{VmError, read_from};

fn new() -> Door {
    let (_, memory) = SharedMemory::create("test", 4096, Access::ReadOnly).unwrap();
    Door::new(Arc::new(memory).place(64).unwrap())
}

fn number(door: &Door) -> i32 {
    door.sign.load(Ordering::SeqCst) as i32
}

fn reach(tid: i32) -> Result<(), VmError> {
    let there = 7_u64;
    let mut word = [0; 8];
    read_from(tid, &[((&raw const there).expose_provenance() as u64, 8)], &[Target::of(&mut word)])?;
    assert_eq!(u64::from_ne_bytes(word), there);
    Ok(())
}

fn until(what: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !what() {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_micros(50));
    }
}

#[test]
fn the_memory_is_reached_through_the_door_and_not_through_an_earlier_one() {
    let door = new();
    door.open().unwrap();
    for _ in 0..100 {
        let before = number(&door);
        assert_eq!(reach(before), Ok(()));
        let change = door.change(door.now());
        until(|| door.is_changed(change));
        assert_ne!(number(&door), before);
        assert_eq!(reach(before), Err(VmError::Gone));
        assert_eq!(reach(number(&door)), Ok(()));
        assert_eq!(door.threads.lock().all.len(), 1, "doors that left are forgotten");
    }
    let last = number(&door);
    door.close();
    assert_eq!(number(&door), 0);
    until(|| reach(last) == Err(VmError::Gone));
}

#[test]
fn a_change_serves_all_that_asked_before_it() {
    let door = new();
    door.open().unwrap();
    let (early, also) = (door.now(), door.now());
    let change = door.change(early);
    until(|| door.is_changed(change));
    let new = number(&door);
    let change = door.change(also);
    assert!(door.is_changed(change));
    assert_eq!(number(&door), new, "no further thread was made");
    let change = door.change(door.now());
    until(|| door.is_changed(change));
    assert_ne!(number(&door), new);
}

#[test]
fn many_threads_change_the_door_at_once() {
    let door = new();
    door.open().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let before = number(&door);
                    let change = door.change(door.now());
                    until(|| door.is_changed(change));
                    assert_eq!(reach(before), Err(VmError::Gone));
                }
            });
        }
    });
    assert_eq!(reach(number(&door)), Ok(()));
}
