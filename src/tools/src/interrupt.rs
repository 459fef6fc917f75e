//! Ctrl-C, and the signal by which a process is asked to end: a tool ends in good order, with what it has to say.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

/// The signals by which somebody asks for the end.
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

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
        thread::Builder::new().spawn(move || {
            if signals.forever().next().is_some() {
                act();
            }
        })?;
        Ok(asked)
    }

    /// Whether the tool is to end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
