//! Ctrl-C, and the signal by which a process is asked to end: a tool ends in good order, with what it has to say.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether somebody wants the tool to end. Calls that wait return when such a signal is handled.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Catches the signals from now on. A second one ends the process at once.
    ///
    /// # Errors
    /// As sigaction.
    pub fn catch() -> io::Result<Self> {
        let asked = Self::default();
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::clone(&asked.0))?;
            flag::register(signal, Arc::clone(&asked.0))?;
        }
        Ok(asked)
    }

    /// Whether the tool is to end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
