//! Ctrl-C, and the signal by which a process is asked to end: a tool ends in good order, with what it has to say.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

/// The signals by which somebody asks for the end.
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// Bytes of the stack of the thread that acts.
const STACK: usize = 1 << 20;

/// Whether somebody wants the tool to end. Calls that wait return when such a signal is handled.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Catches the signals from now on. A second one ends the process at once.
    pub fn catch() -> io::Result<Self> {
        let asked = Self::default();
        for signal in SIGNALS {
            flag::register_conditional_default(signal, Arc::clone(&asked.0))?;
            flag::register(signal, Arc::clone(&asked.0))?;
        }
        Ok(asked)
    }

    /// As [`catch`](Self::catch), and has a thread do something when the first of the signals has come.
    pub fn catch_then(act: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let mut signals = Signals::new(SIGNALS)?;
        let asked = Self::catch()?;
        // Its stack is there also where those of other threads are too large for the memory.
        thread::Builder::new().stack_size(STACK).spawn(move || {
            if signals.forever().next().is_some() {
                act();
            }
        })?;
        Ok(asked)
    }

    /// Asks for the end itself when a time is over.
    pub fn set_after(&self, time: Duration) -> io::Result<()> {
        let asked = Arc::clone(&self.0);
        let wait = move || {
            thread::sleep(time);
            asked.store(true, Ordering::Relaxed);
        };
        thread::Builder::new().spawn(wait).map(drop)
    }

    /// Whether the tool is to end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
