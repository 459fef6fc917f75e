//! Users of an object, which prevent its free.
//!
//! A free retires an object that has no users. A retired object accepts no new users.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::arena::Object;

const RETIRED: usize = 1 << (usize::BITS - 1);

/// The number of users, and the flag [`RETIRED`].
#[derive(Debug, Default)]
pub struct Users(AtomicUsize);

impl Users {
    fn attach(&self) -> bool {
        let another = |n: usize| (n & RETIRED == 0).then_some(n + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, another).is_ok()
    }

    fn detach(&self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }

    /// Retires the object if it has no users. Returns `true` if this call has retired it.
    pub fn retire(&self) -> bool {
        self.0.compare_exchange(0, RETIRED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Retires an object even if it has users.
    pub fn retire_anyway(&self) {
        self.0.fetch_or(RETIRED, Ordering::AcqRel);
    }

    /// Reverts [`Users::retire`].
    pub fn revive(&self) {
        self.0.fetch_and(!RETIRED, Ordering::AcqRel);
    }

    /// Returns whether the object is retired.
    pub fn is_retired(&self) -> bool {
        self.0.load(Ordering::Acquire) & RETIRED != 0
    }

    /// Returns the number of users.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Acquire) & !RETIRED
    }
}

/// A use of an object. Until the drop, only an abrupt close of the adapter can free the object.
pub struct Use<O: Object>(Arc<O>);

impl<O: Object> Use<O> {
    /// Adds a use. Returns `None` if the object is freed or being freed.
    pub fn of(object: &Arc<O>) -> Option<Self> {
        object.header().users.attach().then(|| Use(object.clone()))
    }

    /// Returns whether the object was retired despite this use.
    pub fn is_gone(&self) -> bool {
        self.0.header().users.is_retired()
    }

    /// Returns the object.
    pub fn object(&self) -> &Arc<O> {
        &self.0
    }
}

impl<O: Object> Deref for Use<O> {
    type Target = O;

    fn deref(&self) -> &O {
        &self.0
    }
}

impl<O: Object> Drop for Use<O> {
    fn drop(&mut self) {
        self.0.header().users.detach();
    }
}

#[cfg(test)]
mod tests;
