use std::io::Read;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::*;

/// Serialises the tests that use the gate, which is one for the process.
static GATE: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn a_fork_waits_for_the_thread_that_is_inside() {
    let _gate = GATE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (inside, entered) = std::sync::mpsc::channel();
    let (leave, left) = std::sync::mpsc::channel::<()>();
    let worker = std::thread::spawn(move || {
        with_fork_lock(|| {
            inside.send(()).expect("told");
            left.recv().expect("asked to leave");
        });
    });
    entered.recv().expect("inside");
    let fork = std::thread::spawn(|| {
        let began = Instant::now();
        keep_out();
        // On a busy machine the fork may have lost patience.
        let alone = INSIDE.load(Ordering::Acquire) == FORKING || began.elapsed() >= PATIENCE;
        let newcomer = std::thread::spawn(|| with_fork_lock(Instant::now));
        let opened = Instant::now();
        let_in();
        (alone, opened, newcomer.join().expect("no panic"))
    });
    while INSIDE.load(Ordering::Acquire) & FORKING == 0 {
        std::thread::yield_now();
    }
    leave.send(()).expect("told");
    worker.join().expect("no panic");
    let (alone, opened, came) = fork.join().expect("no panic");
    assert!(alone, "a thread was inside during the fork");
    assert!(came >= opened, "a thread came in during the fork");
    assert_eq!(INSIDE.load(Ordering::Acquire), 0);
}

#[test]
fn a_fork_does_not_wait_for_ever_and_the_child_is_free() {
    let _gate = GATE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let stuck = Stay::begin();
    let began = Instant::now();
    keep_out();
    assert!(began.elapsed() >= PATIENCE);
    let_in_child();
    assert_eq!(with_fork_lock(|| 5), 5);
    drop(stuck);
    assert_eq!(INSIDE.load(Ordering::Acquire), 0);
}

fn is_noted(fd: RawFd) -> bool {
    bit(fd).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
}

/// A child that lives on does not keep a peer from being told of the end of its parent.
#[test]
fn a_child_keeps_only_what_is_not_noted() {
    let (mut heard, noted) = UnixStream::pair().expect("pair");
    let (mut waited, kept) = UnixStream::pair().expect("pair");
    let note = CloseOnFork::new(&noted);
    assert!(is_noted(noted.as_raw_fd()));
    // SAFETY: the child makes system calls only.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: the arguments are numbers; the child dies with this test.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        // SAFETY: the child touches nothing any more.
        unsafe { close_in_child() };
        loop {
            // SAFETY: the call only sleeps.
            unsafe { libc::pause() };
        }
    }
    assert!(child > 0);
    drop(note);
    assert!(!is_noted(noted.as_raw_fd()));
    drop(noted);
    drop(kept);
    let limit = Some(Duration::from_secs(20));
    heard.set_read_timeout(limit).expect("limit");
    assert_eq!(heard.read(&mut [0]).expect("the end"), 0);
    waited.set_nonblocking(true).expect("nonblocking");
    assert_eq!(waited.read(&mut [0]).expect_err("the child has it").kind(), std::io::ErrorKind::WouldBlock);
    // SAFETY: the process is our child and was not waited for yet.
    unsafe { libc::kill(child, libc::SIGKILL) };
    // SAFETY: as above; no status is wanted.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    waited.set_nonblocking(false).expect("blocking");
    waited.set_read_timeout(limit).expect("limit");
    assert_eq!(waited.read(&mut [0]).expect("the end"), 0);
}

#[test]
fn a_note_ends_with_its_value() {
    let (one, other) = UnixStream::pair().expect("pair");
    let mut notes = [CloseOnFork::new(&one), CloseOnFork::new(&other)];
    assert!(is_noted(one.as_raw_fd()) && is_noted(other.as_raw_fd()));
    notes[0].end();
    assert!(!is_noted(one.as_raw_fd()) && is_noted(other.as_raw_fd()));
    drop(notes);
    assert!(!is_noted(one.as_raw_fd()) && !is_noted(other.as_raw_fd()));
}
