use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::*;

const LIMIT: Duration = Duration::from_secs(60);

fn soon() -> Instant {
    Instant::now() + LIMIT
}

#[test]
fn blocked_tasks_delay_no_others() {
    let freeing = Freeing::new().unwrap();
    let (begun, beginnings) = channel();
    let (release, released) = channel::<()>();
    let released = Arc::new(std::sync::Mutex::new(released));
    for _ in 0..MAX_THREADS - 1 {
        let (begun, released) = (begun.clone(), released.clone());
        freeing
            .run(move || {
                begun.send(()).unwrap();
                let _ = released.lock().unwrap().recv();
            })
            .unwrap();
    }
    (1..MAX_THREADS).for_each(|_| beginnings.recv_timeout(LIMIT).unwrap());
    for _ in 0..1000 {
        let begun = begun.clone();
        freeing.run(move || begun.send(()).unwrap()).unwrap();
    }
    (0..1000).for_each(|_| beginnings.recv_timeout(LIMIT).unwrap());
    assert!(freeing.state.lock().threads <= MAX_THREADS);
    // A call that waits for blocked tasks ends at its limit.
    freeing.close(Instant::now());
    assert!(freeing.state.lock().threads >= MAX_THREADS - 1);
    drop(release);
    freeing.close(soon());
    assert_eq!(freeing.state.lock().threads, 0);
}

#[test]
fn one_thread_stays_and_close_ends_it() {
    let freeing = Freeing::new().unwrap();
    for _ in 0..100 {
        let (done, ended) = channel();
        freeing.run(move || done.send(Id::current()).unwrap()).unwrap();
        assert_ne!(ended.recv_timeout(LIMIT).unwrap(), Id::current());
    }
    let mut state = freeing.state.lock();
    while (state.threads, state.idle) != (1, 1) {
        freeing.settled.wait_until(&mut state, soon());
    }
    drop(state);
    freeing.close(soon());
    assert_eq!(freeing.state.lock().threads, 0);
    // Objects that outlive the adapter are destroyed, too.
    let (done, ended) = channel();
    freeing.run(move || done.send(()).unwrap()).unwrap();
    ended.recv_timeout(LIMIT).unwrap();
    freeing.close(soon());
    assert_eq!(freeing.state.lock().threads, 0);
}

#[test]
fn a_panic_loses_only_its_task() {
    let freeing = Freeing::new().unwrap();
    freeing.run(|| panic!("expected by the test")).unwrap();
    let (done, ended) = channel();
    freeing.run(move || done.send(()).unwrap()).unwrap();
    assert_eq!(ended.recv_timeout(LIMIT), Ok::<(), RecvTimeoutError>(()));
    freeing.close(soon());
}

#[test]
fn knows_the_progress_thread() {
    let freeing = Freeing::new().unwrap();
    assert!(!freeing.is_progress_thread());
    freeing.spare_this_thread();
    assert!(freeing.is_progress_thread());
    let other = freeing.clone();
    assert!(!std::thread::spawn(move || other.is_progress_thread()).join().unwrap());
}
