//! Ctrl-C and SIGTERM, which request the end of a tool.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// A request to end the tool, set by a signal or a timer. A signal also ends a wait for events, so loops check the
/// request after each wait.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Starts to catch both signals. A signal sets the request, or ends the process immediately if it is set already.
    pub fn catch() -> io::Result<Self> {
        let requested = Self::default();
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::clone(&requested.0))?;
            flag::register(signal, Arc::clone(&requested.0))?;
        }
        Ok(requested)
    }

    /// Starts a thread that requests the end of the tool after `time`.
    pub fn set_after(&self, time: Duration) -> io::Result<()> {
        let requested = Arc::clone(&self.0);
        let wait = move || {
            thread::sleep(time);
            requested.store(true, Ordering::Relaxed);
        };
        thread::Builder::new().spawn(wait).map(drop)
    }

    /// Returns whether the end is requested.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
