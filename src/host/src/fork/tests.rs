use std::io::Read;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::*;

/// Serialises the tests of the global [`INSIDE`].
static GATE: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn fork_waits_for_thread_inside() {
    let _gate = GATE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (inside, entered) = std::sync::mpsc::channel();
    let (leave, left) = std::sync::mpsc::channel::<()>();
    let worker = std::thread::spawn(move || {
        with_fork_lock(|| {
            inside.send(()).expect("a receiver");
            left.recv().expect("a sender");
        });
    });
    entered.recv().expect("inside");
    let fork = std::thread::spawn(|| {
        let began = Instant::now();
        keep_out();
        // On a busy machine the wait may have timed out.
        let alone = INSIDE.load(Ordering::Acquire) == FORKING || began.elapsed() >= FORK_TIMEOUT;
        let newcomer = std::thread::spawn(|| with_fork_lock(Instant::now));
        let opened = Instant::now();
        let_in();
        (alone, opened, newcomer.join().expect("no panic"))
    });
    while INSIDE.load(Ordering::Acquire) & FORKING == 0 {
        std::thread::yield_now();
    }
    leave.send(()).expect("a receiver");
    worker.join().expect("no panic");
    let (alone, opened, came) = fork.join().expect("no panic");
    assert!(alone, "a thread was inside during the fork");
    assert!(came >= opened, "a thread entered during the fork");
    assert_eq!(INSIDE.load(Ordering::Acquire), 0);
}

#[test]
fn fork_times_out_and_child_is_unblocked() {
    let _gate = GATE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let stuck = Inside::enter();
    let began = Instant::now();
    keep_out();
    assert!(began.elapsed() >= FORK_TIMEOUT);
    let_in_child();
    assert_eq!(with_fork_lock(|| 5), 5);
    drop(stuck);
    assert_eq!(INSIDE.load(Ordering::Acquire), 0);
}

fn is_marked(fd: RawFd) -> bool {
    bit(fd).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
}

#[test]
fn child_closes_only_marked_descriptors() {
    let (mut heard, marked) = UnixStream::pair().expect("pair");
    let (mut waited, kept) = UnixStream::pair().expect("pair");
    let mark = CloseOnFork::new(&marked);
    assert!(is_marked(marked.as_raw_fd()));
    // SAFETY: the child only makes system calls.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: the arguments are numbers. The child dies with this test.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        // SAFETY: the child uses no other value.
        unsafe { close_in_child() };
        loop {
            // SAFETY: the call only sleeps.
            unsafe { libc::pause() };
        }
    }
    assert!(child > 0);
    drop(mark);
    assert!(!is_marked(marked.as_raw_fd()));
    drop(marked);
    drop(kept);
    let limit = Some(Duration::from_secs(20));
    heard.set_read_timeout(limit).expect("limit");
    assert_eq!(heard.read(&mut [0]).expect("the end"), 0);
    waited.set_nonblocking(true).expect("nonblocking");
    assert_eq!(waited.read(&mut [0]).expect_err("the child has it").kind(), std::io::ErrorKind::WouldBlock);
    // SAFETY: an unreaped child of this process.
    unsafe { libc::kill(child, libc::SIGKILL) };
    // SAFETY: an unreaped child of this process; the status may be NULL.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    waited.set_nonblocking(false).expect("blocking");
    waited.set_read_timeout(limit).expect("limit");
    assert_eq!(waited.read(&mut [0]).expect("the end"), 0);
}

#[test]
fn mark_ends_with_its_value() {
    let (one, other) = UnixStream::pair().expect("pair");
    let mut marks = [CloseOnFork::new(&one), CloseOnFork::new(&other)];
    assert!(is_marked(one.as_raw_fd()) && is_marked(other.as_raw_fd()));
    marks[0].end();
    assert!(!is_marked(one.as_raw_fd()) && is_marked(other.as_raw_fd()));
    drop(marks);
    assert!(!is_marked(one.as_raw_fd()) && !is_marked(other.as_raw_fd()));
}
