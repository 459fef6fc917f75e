//! The longest time of a measurement. The loops that are measured look at no clock for that: another thread does, and acts.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use anyhow::Context;

/// Does work; if the time is up before that, another thread calls `act`.
pub fn within<T>(
    until: Instant,
    act: impl FnOnce() + Send,
    work: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let (end, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let watch = thread::Builder::new().spawn_scoped(scope, move || {
            let left = until.saturating_duration_since(Instant::now());
            if ended.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                act();
            }
        });
        watch.context("there can be no more threads")?;
        let result = work();
        drop(end);
        result
    })
}
