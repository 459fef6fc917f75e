//! Waits: results, signals, cancellation.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use dat_core::event::Status;
use dat_core::transport::RecvDone;
use libc::{c_int, pthread_t};

use super::*;

const WHILE: DAT_TIMEOUT = 20_000_000;
const TIMEOUT: DAT_RETURN = DAT_ERROR(DAT_TIMEOUT_EXPIRED, 0);
const CANCELED: *mut c_void = std::ptr::without_provenance_mut(usize::MAX);

unsafe extern "C" {
    fn pthread_cancel(thread: pthread_t) -> c_int;
}

unsafe extern "C-unwind" {
    // A cancelled thread unwinds from this function.
    fn pthread_testcancel();
}

fn wait(t: &DAT_PROVIDER, evd: DAT_EVD_HANDLE, timeout: DAT_TIMEOUT, threshold: DAT_COUNT) -> (DAT_RETURN, DAT_COUNT) {
    let (mut event, mut more) = (blank_event(), -9);
    (slot!(t, evd_wait_func(evd, timeout, threshold, &mut event, &mut more)), more)
}

fn post(t: &DAT_PROVIDER, evd: DAT_EVD_HANDLE) {
    let event = DAT_EVENT { event_number: DAT_SOFTWARE_EVENT, ..blank_event() };
    assert_eq!(slot!(t, evd_post_se_func(evd, &event)), OK);
}

fn until(mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < end, "the condition did not come about");
        thread::yield_now();
    }
}

/// Returns whether a thread waits on the EVD, which must be empty.
fn has_waiter(t: &DAT_PROVIDER, evd: DAT_EVD_HANDLE) -> bool {
    slot!(t, evd_dequeue_func(evd, &mut blank_event())) == state_error(DAT_INVALID_STATE_EVD_WAITER)
}

#[test]
fn dispatcher_waits_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let evd = setup.evd(DAT_EVD_SOFTWARE_FLAG);
    let (mut event, mut more) = (blank_event(), -9);
    assert_eq!(slot!(t, evd_wait_func(evd, 0, 1, null_mut(), &mut more)), arg_error(4));
    assert_eq!(slot!(t, evd_wait_func(evd, 0, 1, &mut event, null_mut())), arg_error(5));
    for threshold in [0, -1, 11, i32::MIN] {
        assert_eq!(wait(t, evd, 0, threshold), (arg_error(3), -9));
    }
    assert_eq!(wait(t, evd, 0, 1), (TIMEOUT, 0));
    post(t, evd);
    let start = Instant::now();
    assert_eq!(wait(t, evd, 5_000, 2), (TIMEOUT, 1));
    assert!(start.elapsed() >= Duration::from_millis(5));
    post(t, evd);
    post(t, evd);
    assert_eq!(wait(t, evd, 0, 2), (OK, 2));
    assert_eq!(slot!(t, evd_set_unwaitable_func(evd)), OK);
    assert_eq!(wait(t, evd, 0, 1).0, state_error(DAT_INVALID_STATE_EVD_UNWAITABLE));
}

#[test]
fn event_unwaitable_and_close_wake_waiter() {
    let setup = Setup::new();
    let t = setup.table;
    let evd = setup.evd(DAT_EVD_SOFTWARE_FLAG);
    let sleeper = || {
        let target = Box::new(Target { forever: true, ..target(t, evd, false) });
        (start(&target), target)
    };
    let ended = |(thread, target): (pthread_t, Box<Target>)| {
        assert!(join(thread).is_null());
        target.code.load(Ordering::Acquire)
    };
    let first = sleeper();
    until(|| has_waiter(t, evd));
    let second_waiter = state_error(DAT_INVALID_STATE_EVD_WAITER);
    assert_eq!(slot!(t, evd_dequeue_func(evd, &mut blank_event())), second_waiter);
    assert_eq!(slot!(t, evd_free_func(evd)), second_waiter);
    post(t, evd);
    assert_eq!(ended(first), OK);

    let second = sleeper();
    until(|| has_waiter(t, evd));
    assert_eq!(slot!(t, evd_set_unwaitable_func(evd)), OK);
    assert_eq!(ended(second), state_error(DAT_INVALID_STATE_EVD_UNWAITABLE));
    assert_eq!(slot!(t, evd_clear_unwaitable_func(evd)), OK);

    let third = sleeper();
    until(|| has_waiter(t, evd));
    assert_eq!(slot!(t, ia_close_func(setup.ia, DAT_CLOSE_ABRUPT_FLAG)), OK);
    assert_eq!(ended(third), DAT_ERROR(DAT_ABORT, 0));
}

/// Argument of a C thread.
struct Target {
    table: &'static DAT_PROVIDER,
    handle: DAT_HANDLE,
    cno: bool,
    forever: bool,
    cleaned: AtomicBool,
    code: AtomicU32,
}

extern "C-unwind" fn waiter(target: *mut c_void) -> *mut c_void {
    // SAFETY: the test keeps the target until it has joined the thread.
    let target = unsafe { &*target.cast::<Target>() };
    thread_local! {
        static CLEANER: std::cell::Cell<Option<Cleaner>> = const { std::cell::Cell::new(None) };
    }
    struct Cleaner(*const AtomicBool);
    impl Drop for Cleaner {
        fn drop(&mut self) {
            // SAFETY: the test keeps the target until it has joined the thread.
            unsafe { &*self.0 }.store(true, Ordering::Release);
        }
    }
    CLEANER.set(Some(Cleaner(&target.cleaned)));
    let code = if target.cno { wait_cno(target) } else { wait_evd(target) };
    target.code.store(code, Ordering::Release);
    null_mut()
}

fn wait_evd(target: &Target) -> DAT_RETURN {
    let (mut event, mut more) = (blank_event(), 0);
    let timeout = if target.forever { DAT_TIMEOUT_INFINITE } else { WHILE };
    slot!(target.table, evd_wait_func(target.handle, timeout, 1, &mut event, &mut more))
}

fn wait_cno(target: &Target) -> DAT_RETURN {
    let mut evd = null_mut();
    slot!(target.table, cno_wait_func(target.handle, WHILE, &mut evd))
}

fn target(table: &'static DAT_PROVIDER, handle: DAT_HANDLE, cno: bool) -> Target {
    Target { table, handle, cno, forever: false, cleaned: AtomicBool::new(false), code: AtomicU32::new(0) }
}

unsafe extern "C" {
    fn pthread_create(
        thread: *mut pthread_t,
        attr: *const c_void,
        start: extern "C-unwind" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
}

fn start(target: &Target) -> pthread_t {
    start_with(target, waiter)
}

fn start_with(target: &Target, function: extern "C-unwind" fn(*mut c_void) -> *mut c_void) -> pthread_t {
    let mut thread = 0;
    let argument = std::ptr::from_ref(target).cast_mut().cast();
    // SAFETY: the callers join the thread before they drop the target.
    assert_eq!(unsafe { pthread_create(&mut thread, null(), function, argument) }, 0);
    thread
}

fn join(thread: pthread_t) -> *mut c_void {
    let mut result = null_mut();
    // SAFETY: `start` created the thread, and it has not been joined.
    assert_eq!(unsafe { libc::pthread_join(thread, &mut result) }, 0);
    result
}

#[test]
fn cancelled_evd_wait_leaves_evd_usable() {
    let setup = Setup::new();
    let t = setup.table;
    let evd = setup.evd(DAT_EVD_SOFTWARE_FLAG);
    for _ in 0..50 {
        let target = target(t, evd, false);
        let thread = start(&target);
        until(|| has_waiter(t, evd));
        // SAFETY: the thread has not been joined.
        assert_eq!(unsafe { pthread_cancel(thread) }, 0);
        assert_eq!(join(thread), CANCELED);
        assert!(target.cleaned.load(Ordering::Acquire), "thread-locals are dropped");
        assert_eq!(wait(t, evd, 0, 1), (TIMEOUT, 0));
        post(t, evd);
        assert_eq!(wait(t, evd, 0, 1), (OK, 0));
    }
    assert_eq!(slot!(t, evd_free_func(evd)), OK);
}

#[test]
fn cancelled_cno_wait_leaves_cno_usable() {
    let setup = Setup::new();
    let t = setup.table;
    let cno = setup.cno();
    for _ in 0..50 {
        let target = target(t, cno, true);
        let thread = start(&target);
        // The thread can be cancelled only in its sleep, so the test need not wait for the sleep. SAFETY: the thread
        // has not been joined.
        assert_eq!(unsafe { pthread_cancel(thread) }, 0);
        assert_eq!(join(thread), CANCELED);
        let mut told = UNTOUCHED;
        assert_eq!(slot!(t, cno_wait_func(cno, 0, &mut told)), DAT_QUEUE_EMPTY);
    }
    assert_eq!(slot!(t, cno_free_func(cno)), OK);
}

/// Cancels its own thread, and then posts to a disconnected endpoint, which wakes a waiter.
extern "C-unwind" fn doomed_poster(target: *mut c_void) -> *mut c_void {
    // SAFETY: the test keeps the target until it has joined the thread.
    let target = unsafe { &*target.cast::<Target>() };
    // SAFETY: the call has no preconditions.
    let own = unsafe { libc::pthread_self() };
    // SAFETY: the current thread exists.
    unsafe { pthread_cancel(own) };
    let code = slot!(target.table, ep_post_recv_func(target.handle, 0, null_mut(), word(0), 0));
    target.code.store(code + 1, Ordering::Release);
    // SAFETY: this frame has no destructors.
    unsafe { pthread_testcancel() };
    null_mut()
}

#[test]
fn post_with_pending_cancellation_wakes_waiter() {
    let setup = Setup::new();
    let t = setup.table;
    let ep = connection::disconnected(&setup);
    let sleeper = target(t, setup.dto_evd, false);
    let sleeping = start(&sleeper);
    until(|| has_waiter(t, setup.dto_evd));
    let poster = target(t, ep, false);
    assert_eq!(join(start_with(&poster, doomed_poster)), CANCELED);
    assert_eq!(poster.code.load(Ordering::Acquire), OK + 1);
    assert!(join(sleeping).is_null());
    assert_eq!(sleeper.code.load(Ordering::Acquire), OK);
}

#[test]
fn a_signal_interrupts_a_wait() {
    extern "C" fn nothing(_: c_int) {}
    // SAFETY: zero is valid for integers and pointers.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = (nothing as extern "C" fn(c_int) as *const ()).addr();
    // SAFETY: the action is complete, and the process does not use this signal otherwise.
    assert_eq!(unsafe { libc::sigaction(libc::SIGUSR2, &action, null_mut()) }, 0);
    let setup = Setup::new();
    let t = setup.table;
    let evd = setup.evd(DAT_EVD_SOFTWARE_FLAG);
    let target = target(t, evd, false);
    let thread = start(&target);
    until(|| has_waiter(t, evd));
    until(|| {
        // A signal before the sleep interrupts nothing, so repeat it.
        // SAFETY: the thread has not been joined.
        unsafe { libc::pthread_kill(thread, libc::SIGUSR2) };
        target.code.load(Ordering::Acquire) != 0
    });
    assert!(join(thread).is_null());
    assert_eq!(target.code.load(Ordering::Acquire), DAT_ERROR(DAT_INTERRUPTED_CALL, 0));
    assert_eq!(wait(t, evd, 0, 1), (TIMEOUT, 0));
}

#[test]
fn notification_waits_row_by_row() {
    let setup = Setup::new();
    let t = setup.table;
    let cno = setup.cno();
    let mut evd = null_mut();
    let flags = DAT_EVD_SOFTWARE_FLAG;
    assert_eq!(slot!(t, evd_create_func(setup.ia, 8, cno, flags, &mut evd)), OK);
    let mut told = UNTOUCHED;
    assert_eq!(slot!(t, cno_wait_func(cno, 0, null_mut())), arg_error(3));
    assert_eq!(slot!(t, cno_wait_func(cno, 1_000, &mut told)), DAT_QUEUE_EMPTY);
    assert!(told.is_null());
    post(t, evd);
    assert_eq!(slot!(t, cno_wait_func(cno, 0, &mut told)), OK);
    assert_eq!(told, evd);
    let target = target(t, cno, true);
    let thread = start(&target);
    post(t, evd);
    assert!(join(thread).is_null());
    assert_eq!(target.code.load(Ordering::Acquire), OK);
}

#[test]
fn an_agent_is_called_with_its_data_and_the_dispatcher() {
    static CALLED: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn agent(data: DAT_PVOID, evd: DAT_EVD_HANDLE) {
        // SAFETY: the test passed the address of a handle that outlives the CNO's calls.
        let wanted = unsafe { *data.cast::<DAT_EVD_HANDLE>() };
        CALLED.store(if evd == wanted { 1 } else { 2 }, Ordering::Release);
    }
    let setup = Setup::new();
    let t = setup.table;
    let (mut cno, mut evd) = (null_mut(), null_mut());
    let mut wanted: DAT_EVD_HANDLE = null_mut();
    let agent = DAT_OS_WAIT_PROXY_AGENT { instance_data: (&raw mut wanted).cast(), proxy_agent_func: Some(agent) };
    assert_eq!(slot!(t, cno_create_func(setup.ia, agent, &mut cno)), OK);
    assert_eq!(slot!(t, evd_create_func(setup.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &mut evd)), OK);
    wanted = evd;
    post(t, evd);
    until(|| CALLED.load(Ordering::Acquire) != 0);
    assert_eq!(CALLED.load(Ordering::Acquire), 1);
    // This use keeps `wanted` alive until the agent has read it.
    assert_eq!(wanted, evd);
}

#[test]
fn announcement_wakes_waiter_for_solicited_messages() {
    let setup = Setup::new();
    let t = setup.table;
    let evd = setup.evd(DAT_EVD_DTO_FLAG);
    let attr = DAT_EP_ATTR { recv_completion_flags: DAT_COMPLETION_SOLICITED_WAIT_FLAG, ..connection::attributes() };
    let mut ep = null_mut();
    assert_eq!(slot!(t, ep_create_func(setup.ia, setup.pz, evd, setup.dto_evd, setup.connect_evd, &attr, &mut ep)), OK);
    for _ in 0..2 {
        assert_eq!(slot!(t, ep_post_recv_func(ep, 0, null_mut(), word(1), 0)), OK);
    }
    connection::establish(&setup, ep);
    let sink = connection::sink(&setup);
    let target = target(t, evd, false);
    let waiter = start(&target);
    until(|| has_waiter(t, evd));
    sink.recv_done(RecvDone { id: 0, status: Status::Success, len: 0, solicited: false });
    sink.recv_done(RecvDone { id: 1, status: Status::Success, len: 0, solicited: false });
    assert!(has_waiter(t, evd));
    sink.recv_announced();
    assert!(join(waiter).is_null());
    assert_eq!(target.code.load(Ordering::Acquire), OK);
    // With an empty queue, an announcement wakes no waiter.
    assert!(setup.dequeue(evd).is_some());
    sink.recv_announced();
    assert_eq!(wait(t, evd, 0, 1).0, TIMEOUT);
}
