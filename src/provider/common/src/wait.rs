//! The slots that block.
//!
//! A thread may be cancelled while it waits, and cancellation unwinds its stack as if an exception of another language
//! passed through. Rust allows that for frames that own nothing with a destructor. So the frames that are on the stack
//! during the sleep, [`dat_evd_wait`], `wait_for_events`, [`dat_cno_wait`], `block`, `sleep_on` and what that calls, have
//! plain data alone; everything else happens in *steps*, which return before the sleep, catch panics and cannot be
//! cancelled. The core holds the state of a wait meanwhile. If the thread is unwound, libc calls `abandon` before
//! anything of the program runs, which drops that state: a cleanup handler of the program finds no wait of its thread,
//! and neither does any other thread.

use std::ffi::{c_int, c_long, c_void};
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use dat_core::error::{Arg, Error, Role};
use dat_core::wait::{
    self, EvdOutcome, MAX_FDS, Sleep, SleepPlace, Step, cno_begin, cno_resume, evd_begin, evd_resume,
};
use dat_core::{Cno, Evd, Handle};
use dat_udat::{DAT_CNO_HANDLE, DAT_COUNT, DAT_EVD_HANDLE, DAT_RETURN, DAT_SUCCESS, DAT_TIMEOUT};
use host::cancel;
use libc::{nfds_t, pollfd, sigset_t, timespec};

use crate::call::{PANICKED, caught, code, quickly};
use crate::ep::connect::duration;
use crate::evd::Event;
use crate::handle::{find, raw};
use crate::ptr::OutPtr;
use crate::{Answer, At, Fault, Positions, Provider, Version, count};

unsafe extern "C-unwind" {
    // These are functions of the libc crate, except that they may unwind: a thread can be cancelled in them.
    fn ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
}

/// The limit of a sleep that has none. A sleep with a limit is one that every handled signal ends.
const UNLIMITED: Duration = Duration::from_secs(365 * 24 * 3600);

/// Sleeps until it is woken or the time is up. Returns whether a signal ended the sleep. Owns nothing: it may be
/// unwound.
fn sleep_on(sleep: &Sleep) -> bool {
    match &sleep.place {
        SleepPlace::Word { word, value, shared } => {
            sleep_on_word(*word, *value, *shared, &time_of(sleep.timeout.unwrap_or(UNLIMITED)))
        }
        SleepPlace::Descriptors { fds, count } => sleep_on_descriptors(fds, *count, sleep.timeout),
    }
}

/// Sleeps while the word has the value, until it is woken or the time is up. Returns whether a signal ended the sleep.
///
/// The system call is no place where libc lets a thread be cancelled, so for its time the thread can be cancelled
/// everywhere. The unwinding may begin at any instruction of this function then, which therefore stays a function of its
/// own: its callers have calls that catch panics, and could be unwound only from these.
#[inline(never)]
fn sleep_on_word(word: *const AtomicU32, value: u32, shared: bool, limit: &timespec) -> bool {
    let private = if shared { 0 } else { libc::FUTEX_PRIVATE_FLAG };
    // SAFETY: one system call follows; this function owns nothing, and see above for its callers.
    let before = unsafe { cancel::allow_anywhere() };
    // SAFETY: the system looks at the word and fails if it is not there; the limit outlives the call.
    let result = unsafe { syscall(libc::SYS_futex, word, libc::FUTEX_WAIT | private, value, ptr::from_ref(limit)) };
    cancel::allow_as(before);
    // SAFETY: every thread has an errno.
    result < 0 && unsafe { *libc::__errno_location() } == libc::EINTR
}

/// Sleeps until one of the descriptors is readable or the time is up. Returns whether a signal ended the sleep.
fn sleep_on_descriptors(watched: &[c_int; MAX_FDS], count: usize, timeout: Option<Duration>) -> bool {
    let mut fds = [pollfd { fd: -1, events: libc::POLLIN, revents: 0 }; MAX_FDS];
    let mut used: nfds_t = 0;
    for (place, &fd) in fds.iter_mut().zip(watched).take(count) {
        place.fd = fd;
        used += 1;
    }
    let limit = timeout.map(time_of);
    let limit = limit.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the descriptors and the limit outlive the call; there is no signal mask.
    let result = unsafe { ppoll(fds.as_mut_ptr(), used, limit, ptr::null()) };
    // SAFETY: every thread has an errno.
    result < 0 && unsafe { *libc::__errno_location() } == libc::EINTR
}

fn time_of(time: Duration) -> timespec {
    timespec { tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: time.subsec_nanos().into() }
}

/// Drops the state of a wait whose thread is being unwound.
extern "C" fn abandon(_: *mut c_void) {
    wait::abandon();
}

/// Goes from step to step, and sleeps in between: first `begin`, then `resume`, which is told whether a signal ended the sleep.
/// A step returns `None` when the call is done and has written its results. Owns nothing, as the steps are plain data: it may
/// be unwound.
#[inline(always)]
fn block<F: Provider>(
    begin: impl Fn() -> Answer<Option<Sleep>> + Copy,
    resume: impl Fn(bool) -> Answer<Option<Sleep>> + Copy,
) -> DAT_RETURN {
    let before = cancel::forbid();
    let mut next = caught(begin).unwrap_or(Err(PANICKED));
    loop {
        match next {
            Ok(Some(sleep)) => {
                let mut place = cancel::Note::EMPTY;
                // SAFETY: the place stays in this frame until `forget`, and the frame is left before that by unwinding alone.
                unsafe { cancel::note(&mut place, abandon) };
                cancel::restore(before);
                let interrupted = sleep_on(&sleep);
                cancel::forbid();
                // SAFETY: a signal handler has forgotten its own notes by now, so this is the last one.
                unsafe { cancel::forget(&mut place) };
                next = caught(|| resume(interrupted)).unwrap_or(Err(PANICKED));
            }
            done => {
                cancel::restore(before);
                return code::<F>(done.map(|_| ()));
            }
        }
    }
}

/// The positions of dat_evd_wait's arguments that the core checks.
const EVD_WAIT: Positions = &[(Arg::Threshold, 3)];

/// Takes the end of a transfer for a wait for one event, if it is there: this costs as much as a dequeue. The code is that
/// of an empty queue only if the queue was looked at; with any other failure the wait begins from the start. In the frame
/// of a fast call, and of its own, because the caller's may be unwound.
#[inline(never)]
extern "C" fn take_ready<F: Provider>(
    evd: DAT_EVD_HANDLE,
    event: OutPtr<Event<F>>,
    more: OutPtr<DAT_COUNT>,
) -> DAT_RETURN {
    let body = move |taken_from: &Evd<F::Transport>| {
        let (event, more) = (event.required(4)?, more.required(5)?);
        let left = taken_from
            .take_completion(true, |completion| F::Version::completion(event, Handle(evd.addr()), completion));
        let ((), left) = left.ok_or(Fault::Core(Error::QueueEmpty))?;
        more.write(count(left));
        Ok(())
    };
    quickly::<F, _>(evd, Evd::look, body, || code::<F>(Err(Fault::Handle(Role::Evd))))
}

/// Waits for events in steps; [`take_ready`] has found none if `looked`. Owns nothing: it may be unwound.
#[cold]
#[inline(never)]
fn wait_for_events<F: Provider>(
    evd: DAT_EVD_HANDLE,
    timeout: DAT_TIMEOUT,
    threshold: DAT_COUNT,
    event: OutPtr<Event<F>>,
    more: OutPtr<DAT_COUNT>,
    looked: bool,
) -> DAT_RETURN {
    let after = move |step| {
        let outcome: EvdOutcome = match step {
            Step::Sleep(sleep) => return Ok(Some(sleep)),
            Step::Done(outcome) => outcome,
        };
        if matches!(outcome.result, Ok(_) | Err(Error::TimeoutExpired | Error::Interrupted)) {
            more.offer(count(outcome.more));
        }
        let taken = outcome.result.at(EVD_WAIT)?;
        F::Version::event::<F>(event.required(4)?, Handle(evd.addr()), taken);
        Ok(None)
    };
    let begin = move || {
        let object = find::<F, Evd<F::Transport>>(evd, Role::Evd)?;
        event.required(4)?;
        more.required(5)?;
        let threshold = usize::try_from(threshold).map_err(|_| Fault::Argument(3))?;
        after(evd_begin(object, threshold, duration(timeout), looked))
    };
    block::<F>(begin, move |interrupted| after(evd_resume::<F::Transport>(interrupted)))
}

/// Slot of dat_evd_wait. A cancellation point.
#[inline(always)]
pub fn dat_evd_wait<F: Provider>(
    evd_handle: DAT_EVD_HANDLE,
    timeout: DAT_TIMEOUT,
    threshold: DAT_COUNT,
    event: OutPtr<Event<F>>,
    n_more_events: OutPtr<DAT_COUNT>,
) -> DAT_RETURN {
    let mut looked = false;
    if threshold == 1 {
        match take_ready::<F>(evd_handle, event, n_more_events) {
            DAT_SUCCESS => return DAT_SUCCESS,
            code => looked = code == F::Version::QUEUE_EMPTY,
        }
    }
    wait_for_events::<F>(evd_handle, timeout, threshold, event, n_more_events, looked)
}

/// Slot of dat_cno_wait. A cancellation point.
pub fn dat_cno_wait<F: Provider>(
    cno_handle: DAT_CNO_HANDLE,
    timeout: DAT_TIMEOUT,
    evd_handle: OutPtr<DAT_EVD_HANDLE>,
) -> DAT_RETURN {
    let after = move |step| {
        let result: dat_core::Result<Handle> = match step {
            Step::Sleep(sleep) => return Ok(Some(sleep)),
            Step::Done(result) => result,
        };
        match result {
            Ok(evd) => evd_handle.offer(raw(evd)),
            Err(Error::QueueEmpty) => evd_handle.offer(raw(Handle::NULL)),
            Err(_) => {}
        }
        result.at(&[]).map(|_| None)
    };
    let begin = move || {
        let cno = find::<F, Cno<F::Transport>>(cno_handle, Role::Cno)?;
        evd_handle.required(3)?;
        after(cno_begin(cno, duration(timeout)))
    };
    block::<F>(begin, move |interrupted| after(cno_resume::<F::Transport>(interrupted)))
}
