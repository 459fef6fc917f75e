use std::sync::atomic::AtomicUsize;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::*;

const ROUNDS: usize = 5_000;

struct Conn {
    queued: AtomicBool,
    resumed: mpsc::SyncSender<()>,
}

impl RnrWaiter for Conn {
    fn rnr(&self) -> &AtomicBool {
        &self.queued
    }

    fn resume(self: &Arc<Self>) {
        let _ = self.resumed.try_send(());
    }
}

fn conn() -> (Arc<Conn>, mpsc::Receiver<()>) {
    let (resumed, resumes) = mpsc::sync_channel(1);
    (Arc::new(Conn { queued: AtomicBool::new(false), resumed }), resumes)
}

#[test]
fn a_connection_waits_once_and_leaves_the_line() {
    let line = RnrLine::new().expect("memory");
    let (first, first_resumes) = conn();
    let (second, second_resumes) = conn();
    assert!(!line.waits());
    for conn in [&first, &first, &second] {
        line.join(conn);
    }
    line.resume_while(|| false);
    assert!(line.waits() && first_resumes.try_recv().is_err(), "no buffer");
    assert_eq!(line.0.conns.lock().len(), 2);
    drop(first);
    line.resume_while(|| true);
    assert!(second_resumes.try_recv().is_ok(), "a connection that has ended does not stop the others");
    assert!(!line.waits());
    line.join(&second);
    assert!(line.waits(), "it can wait again");
}

#[test]
fn each_post_resumes_a_waiting_connection() {
    let line = RnrLine::new().expect("memory");
    let (buffers, received) = (Mutex::new(0_usize), AtomicUsize::new(0));
    let take = || {
        let mut buffers = buffers.lock();
        let found = *buffers > 0;
        *buffers -= usize::from(found);
        found
    };
    thread::scope(|scope| {
        // A second connection in the line would hide that a post does not resume the first.
        scope.spawn(|| {
            let (conn, resumes) = conn();
            let is_over = || received.load(Ordering::SeqCst) >= ROUNDS;
            while !is_over() {
                let found = take() || {
                    line.join(&conn);
                    take()
                };
                if found {
                    received.fetch_add(1, Ordering::SeqCst);
                } else {
                    while resumes.recv_timeout(Duration::from_millis(10)).is_err() && !is_over() {}
                }
            }
        });
        for posted in 1..=ROUNDS {
            let waits = {
                let mut buffers = buffers.lock();
                let waits = line.waits();
                *buffers += 1;
                waits
            };
            if waits {
                line.resume_while(|| *buffers.lock() > 0);
            }
            let deadline = Instant::now() + Duration::from_secs(20);
            while received.load(Ordering::SeqCst) < posted {
                if Instant::now() > deadline {
                    received.store(ROUNDS, Ordering::SeqCst);
                    panic!("post {posted} did not resume the connection");
                }
                thread::yield_now();
            }
        }
    });
    assert_eq!(received.load(Ordering::SeqCst), ROUNDS);
}
