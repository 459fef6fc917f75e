//! The log of calls: the arguments that identify objects, the return code, and the handles that a call creates.
//!
//! [`function!`](crate::function) logs the calls of a table. Calls of the fast path have no lines: a check of the log
//! level would cost each of them two instructions.

use std::any::Any;
use std::fmt;

use dat_udat::names::CodeNames;
use dat_udat::{DAT_HANDLE, DAT_RETURN, DAT_SUCCESS};
use host::cancel::uncancelled;
use host::diagnostics::{CALL, RETURN};

/// The calls of the fast path, except calls that post ([`is_logged`]).
const FAST: [&str; 10] = [
    "dat_evd_dequeue",
    "dat_evd_wait",
    "dat_cno_wait",
    "dat_ep_get_status",
    "dat_ep_recv_query",
    "dat_srq_query",
    "dat_set_consumer_context",
    "dat_get_consumer_context",
    "dat_get_handle_type",
    "dat_extension_op",
];

/// Maximum number of handles that a call creates.
const MAX_OUTPUTS: usize = 2;

/// Returns whether the call with this name is logged.
pub const fn is_logged(name: &str) -> bool {
    let mut at = 0;
    while at < FAST.len() {
        if name.len() == FAST[at].len() && has(name, 0, FAST[at]) {
            return false;
        }
        at += 1;
    }
    let mut at = 0;
    while at < name.len() {
        if has(name, at, "_post_") {
            // All posts are on the fast path, except the post of a software event.
            return has(name, 0, "dat_evd_post_se");
        }
        at += 1;
    }
    true
}

const fn has(text: &str, at: usize, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let mut k = 0;
    while k < part.len() {
        if at + k >= text.len() || text[at + k] != part[k] {
            return false;
        }
        k += 1;
    }
    true
}

/// The name of an argument, the name of its type, and its value.
pub type Argument<'a> = (&'static str, &'static str, &'a dyn Any);

/// A call in progress.
pub struct Call {
    name: &'static str,
    /// The arguments to which the call may write a handle.
    outputs: [Option<(&'static str, *mut DAT_HANDLE)>; MAX_OUTPUTS],
}

impl Call {
    /// Logs the beginning of a call, and stores its outputs for [`Call::end`], each if its log level is enabled.
    pub fn begin(name: &'static str, arguments: &[Argument<'_>]) -> Call {
        let mut call = Call { name, outputs: [None; MAX_OUTPUTS] };
        if log::log_enabled!(target: CALL, log::Level::Debug) {
            uncancelled(|| log::debug!(target: CALL, "{name}{}", Arguments(arguments)));
        }
        if log::log_enabled!(target: RETURN, log::Level::Debug) {
            let outputs = arguments.iter().filter_map(|(name, _, value)| Some((*name, *value.downcast_ref()?)));
            call.outputs.iter_mut().zip(outputs).for_each(|(place, output)| *place = Some(output));
        }
        call
    }

    /// Logs the end of a call.
    ///
    /// # Safety
    /// If the call has succeeded, its arguments that point to a handle must be NULL or readable.
    pub unsafe fn end(self, names: CodeNames, code: DAT_RETURN) {
        if !log::log_enabled!(target: RETURN, log::Level::Debug) {
            return;
        }
        let mut handles = [None; MAX_OUTPUTS];
        if code == DAT_SUCCESS {
            handles = self.outputs.map(|output| {
                let (name, place) = output.filter(|(_, place)| !place.is_null())?;
                // SAFETY: not NULL, so readable as the caller promises.
                Some((name, unsafe { place.read_unaligned() }))
            });
        }
        uncancelled(|| log::debug!(target: RETURN, "{} returns {}{}", self.name, names.shown(code), Handles(handles)));
    }
}

struct Handles([Option<(&'static str, DAT_HANDLE)>; MAX_OUTPUTS]);

impl fmt::Display for Handles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.into_iter().flatten().try_for_each(|(name, handle)| write!(f, " {name}={handle:p}"))
    }
}

/// Writes the arguments that are handles or numbers. Flags, masks and contexts are hexadecimal.
struct Arguments<'a>(&'a [Argument<'a>]);

impl fmt::Display for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, of, value) in self.0 {
            let long = || value.downcast_ref::<u64>().copied();
            if let Some(&handle) = value.downcast_ref::<DAT_HANDLE>() {
                write!(f, " {name}={handle:p}")?;
            } else if let Some(number) = value.downcast_ref::<i32>() {
                write!(f, " {name}={number}")?;
            } else if let Some(number) = value.downcast_ref::<u32>().map(|&short| short.into()).or_else(long) {
                let bits = ["_FLAGS", "_MASK", "_CONTEXT"].iter().any(|end| of.ends_with(end));
                if bits { write!(f, " {name}={number:#x}") } else { write!(f, " {name}={number}") }?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
