//! The slots that block.
//!
//! Cancellation unwinds the stack of a sleeping thread like a foreign exception, which Rust allows only for frames
//! without destructors. So a wait alternates *steps* and sleeps:
//!
//! ```text
//!  dat_evd_wait → wait_for_events ┐         ┌ step: catches panics, cannot be cancelled, returns
//!                                 ├→ block ─┤
//!  dat_cno_wait                   ┘         └ sleep_on: can be unwound
//! ```
//!
//! During the sleep, no frame on the stack has destructors; core stores the state of the wait. On unwinding, libc first
//! calls `abandon`, which drops that state before the program's cleanup handlers run.

use std::ffi::{c_int, c_long, c_void};
use std::io;
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use dat_core::error::{Arg, Error, Role};
use dat_core::wait::{
    self, EvdOutcome, MAX_FDS, Sleep, SleepPlace, Step, cno_begin, cno_resume, evd_begin, evd_resume,
};
use dat_core::{Cno, Evd, Handle};
use dat_udat::{DAT_CNO_HANDLE, DAT_COUNT, DAT_EVD_HANDLE, DAT_QUEUE_EMPTY, DAT_RETURN, DAT_SUCCESS, DAT_TIMEOUT};
use host::cancel;
use host::thread::isolate;
use libc::{nfds_t, pollfd, sigset_t, timespec};

use crate::call::{PANICKED, code, fast_path};
use crate::ep::connect::duration;
use crate::evd::Event;
use crate::handle::{find, raw};
use crate::ptr::OutPtr;
use crate::{Answer, At, Fault, Positions, Provider, Version, count};

unsafe extern "C-unwind" {
    // Unlike in the libc crate, these can unwind by cancellation.
    fn ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
}

/// Timeout of an unlimited sleep on a word. Without it, a signal handler with `SA_RESTART` would not end the sleep.
const UNLIMITED: Duration = Duration::from_secs(365 * 24 * 3600);

/// Sleeps until woken or until the timeout. Returns whether a signal ended the sleep.
fn sleep_on(sleep: &Sleep) -> bool {
    let result = match &sleep.place {
        SleepPlace::Word { word, value, shared } => {
            sleep_on_word(*word, *value, *shared, &time_of(sleep.timeout.unwrap_or(UNLIMITED)))
        }
        SleepPlace::Descriptors { fds, count } => sleep_on_descriptors(fds, *count, sleep.timeout).into(),
    };
    result < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EINTR)
}

/// Sleeps on the word while it has the value. Returns the result of futex(2).
///
/// libc has no cancellation point for futex(2), so the function enables asynchronous cancellation: any instruction can
/// then unwind. Never inlined, because the callers have landing pads, where unwinding must not begin.
#[inline(never)]
fn sleep_on_word(word: *const AtomicU32, value: u32, shared: bool, limit: &timespec) -> c_long {
    let private = if shared { 0 } else { libc::FUTEX_PRIVATE_FLAG };
    // SAFETY: one system call follows; this function has no destructors and is not inlined.
    let before = unsafe { cancel::allow_anywhere() };
    // SAFETY: the kernel validates the address of the word; the timeout outlives the call.
    let result = unsafe { syscall(libc::SYS_futex, word, libc::FUTEX_WAIT | private, value, ptr::from_ref(limit)) };
    cancel::allow_as(before);
    result
}

/// Sleeps until a descriptor is readable. Returns the result of ppoll(2).
fn sleep_on_descriptors(watched: &[c_int; MAX_FDS], count: usize, timeout: Option<Duration>) -> c_int {
    let mut fds = [pollfd { fd: -1, events: libc::POLLIN, revents: 0 }; MAX_FDS];
    let mut used: nfds_t = 0;
    for (place, &fd) in fds.iter_mut().zip(watched).take(count) {
        place.fd = fd;
        used += 1;
    }
    let limit = timeout.map(time_of);
    let limit = limit.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: descriptors and timeout outlive the call; the signal mask is NULL.
    unsafe { ppoll(fds.as_mut_ptr(), used, limit, ptr::null()) }
}

fn time_of(time: Duration) -> timespec {
    timespec { tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: time.subsec_nanos().into() }
}

/// Drops the wait state of a thread that is unwound.
extern "C" fn abandon(_: *mut c_void) {
    wait::abandon();
}

/// Alternates steps and sleeps. `resume` receives whether a signal ended the sleep. A step returns `None` after it has
/// written the results of the call.
#[inline(always)]
fn block<F: Provider>(
    begin: impl Fn() -> Answer<Option<Sleep>> + Copy,
    resume: impl Fn(bool) -> Answer<Option<Sleep>> + Copy,
) -> DAT_RETURN {
    let before = cancel::forbid();
    let mut next = isolate(begin).unwrap_or(Err(PANICKED));
    loop {
        match next {
            Ok(Some(sleep)) => {
                let mut place = cancel::Note::EMPTY;
                // SAFETY: the place stays in this frame until `forget`; otherwise only unwinding leaves the frame.
                unsafe { cancel::note(&mut place, abandon) };
                cancel::restore(before);
                let interrupted = sleep_on(&sleep);
                cancel::forbid();
                // SAFETY: signal handlers have removed their notes, so this is the thread's last.
                unsafe { cancel::forget(&mut place) };
                next = isolate(|| resume(interrupted)).unwrap_or(Err(PANICKED));
            }
            done => {
                cancel::restore(before);
                return code::<F>(done.map(|_| ()));
            }
        }
    }
}

const EVD_WAIT: Positions = &[(Arg::Threshold, 3)];

/// Tries to dequeue a DTO completion for a wait with threshold 1, as fast as a dequeue. Polls first if the EVD has no
/// event and no waiter. After any error, the wait starts anew. `DAT_QUEUE_EMPTY` means that the poll found no event, so
/// the wait need not poll again. Never inlined, because it has destructors.
#[inline(never)]
extern "C" fn take_ready<F: Provider>(
    evd: DAT_EVD_HANDLE,
    event: OutPtr<Event<F>>,
    more: OutPtr<DAT_COUNT>,
) -> DAT_RETURN {
    let body = move |taken_from: &Evd<F::Transport>| {
        let (event, more) = (event.required(4)?, more.required(5)?);
        let left = taken_from
            .take_completion(true, |completion| F::Version::completion(event, Handle(evd.addr()), completion, 0));
        // The oldest event is of another kind, a thread waits, or another thread took the event. So `look` may not have
        // polled.
        let ((), left) = left.ok_or(Fault::Core(Error::TimeoutExpired))?;
        more.write(count(left));
        Ok(())
    };
    fast_path::<F, _>(evd, Evd::look, body, || code::<F>(Err(Fault::Handle(Role::Evd))))
}

/// Waits in steps. `looked` is `true` if [`take_ready`] has just polled and found no event.
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
            code => looked = code == DAT_QUEUE_EMPTY,
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
        after(cno_begin(&cno, duration(timeout)))
    };
    block::<F>(begin, move |interrupted| after(cno_resume::<F::Transport>(interrupted)))
}
