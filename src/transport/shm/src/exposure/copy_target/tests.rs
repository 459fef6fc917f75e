use std::time::{Duration, Instant};

use dat_software::user::Target;

use super::*;
use crate::os::memory::{Access, SharedMemory};
use crate::os::vm::{VmError, read_from};

fn new() -> CopyTargetThread {
    let (_, memory) = SharedMemory::create("test", 4096, Access::ReadOnly).unwrap();
    CopyTargetThread::new(Arc::new(memory).place(64).unwrap())
}

fn number(copy_target: &CopyTargetThread) -> i32 {
    copy_target.sign.load(Ordering::SeqCst) as i32
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
fn only_current_door_reaches_memory() {
    let copy_target = new();
    copy_target.open().unwrap();
    for _ in 0..100 {
        let before = number(&copy_target);
        assert_eq!(reach(before), Ok(()));
        let change = copy_target.change(copy_target.now());
        until(|| copy_target.is_changed(change));
        assert_ne!(number(&copy_target), before);
        assert_eq!(reach(before), Err(VmError::Gone));
        assert_eq!(reach(number(&copy_target)), Ok(()));
        assert_eq!(copy_target.threads.lock().all.len(), 1, "target threads that exited are removed");
    }
    let last = number(&copy_target);
    copy_target.close();
    assert_eq!(number(&copy_target), 0);
    until(|| reach(last) == Err(VmError::Gone));
}

#[test]
fn change_serves_all_earlier_requests() {
    let copy_target = new();
    copy_target.open().unwrap();
    let (early, also) = (copy_target.now(), copy_target.now());
    let change = copy_target.change(early);
    until(|| copy_target.is_changed(change));
    let new = number(&copy_target);
    let change = copy_target.change(also);
    assert!(copy_target.is_changed(change));
    assert_eq!(number(&copy_target), new, "no further thread was made");
    let change = copy_target.change(copy_target.now());
    until(|| copy_target.is_changed(change));
    assert_ne!(number(&copy_target), new);
}

#[test]
fn threads_change_door_concurrently() {
    let copy_target = new();
    copy_target.open().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let before = number(&copy_target);
                    let change = copy_target.change(copy_target.now());
                    until(|| copy_target.is_changed(change));
                    assert_eq!(reach(before), Err(VmError::Gone));
                }
            });
        }
    });
    assert_eq!(reach(number(&copy_target)), Ok(()));
}
