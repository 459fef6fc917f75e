//! Ctrl-C, and the signal by which a process is asked to end: a tool ends in good order, with what it has to say.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;

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
        let (mut ours, theirs) = UnixStream::pair()?;
        let asked = Self::catch()?;
        for signal in SIGNALS {
            pipe::register(signal, theirs.try_clone()?)?;
        }
        // A signal that has come before is in no pipe.
        if asked.is_set() {
            (&theirs).write_all(&[0])?;
        }
        thread::Builder::new().spawn(move || {
            if ours.read_exact(&mut [0]).is_ok() {
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
