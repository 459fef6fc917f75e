use std::sync::mpsc;

use super::*;

#[test]
fn started_thread_has_name_and_identity() {
    let mine = Id::current();
    assert_eq!(Id::current(), mine);
    let (tell, told) = mpsc::channel();
    let thread = start(c"dat-test", move || {
        let name = std::fs::read_to_string("/proc/thread-self/comm").expect("comm");
        tell.send((Id::current(), name)).expect("a receiver");
    });
    let thread = thread.expect("a thread");
    let id = thread.id();
    thread.join();
    assert_eq!(told.recv(), Ok((id, "dat-test\n".to_owned())));
    assert_ne!(id, mine);
}

#[test]
fn thread_pointers_differ() {
    let mine = pointer();
    assert!(mine != 0 && mine % 8 == 0 && mine == pointer());
    let others = [(); 2].map(|()| std::thread::spawn(pointer)).map(|thread| thread.join().expect("no panic"));
    assert!(others.iter().all(|other| *other != mine));
}

#[test]
fn panic_ends_only_its_thread() {
    start(c"dat-test", || panic!("on purpose")).expect("a thread").join();
}

#[test]
fn dropped_thread_continues() {
    let (tell, told) = mpsc::channel();
    drop(start(c"dat-test", move || tell.send(7).expect("a receiver")).expect("a thread"));
    assert_eq!(told.recv(), Ok(7));
}

unsafe extern "C-unwind" {
    fn pthread_exit(value: *mut c_void) -> !;
}

unsafe extern "C-unwind" fn note(place: *mut c_void) {
    // SAFETY: the test passes the address of an `Option<Id>`.
    unsafe { *place.cast() = Some(Id::current()) };
}

unsafe extern "C-unwind" fn exit(_: *mut c_void) {
    // SAFETY: no frame of this thread has destructors.
    unsafe { pthread_exit(ptr::null_mut()) };
}

#[test]
fn foreign_function_may_end_its_thread() {
    let mut seen: Option<Id> = None;
    let calls: [(Apart, *mut c_void); 2] = [(note, (&raw mut seen).cast()), (exit, ptr::null_mut())];
    // SAFETY: `note` writes to `seen`, and `exit` ignores its argument.
    let ended = calls.map(|(function, argument)| unsafe { apart(function, argument) });
    assert_eq!(ended.map(|ended| ended.expect("a thread")), [Ended::Returned, Ended::Exited]);
    assert_eq!(seen, Some(Id::current()), "it has the identity of its caller");
}
