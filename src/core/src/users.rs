//! The users of an object, which keep it from being freed.
//!
//! A [`Use`] counts one user for as long as it lives. Retiring an object succeeds only without users and exactly once;
//! after that there can be no new user.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::slab::Object;

const RETIRED: usize = 1 << (usize::BITS - 1);

/// The number of users of an object, and whether it takes no more of them.
#[derive(Debug, Default)]
pub struct Users(AtomicUsize);

impl Users {
    fn attach(&self, most: usize) -> Result<(), Unusable> {
        let another = |n: usize| (n & RETIRED == 0 && n < most).then_some(n + 1);
        match self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, another) {
            Ok(_) => Ok(()),
            Err(n) if n & RETIRED != 0 => Err(Unusable::Gone),
            Err(_) => Err(Unusable::Full),
        }
    }

    fn detach(&self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }

    /// Takes no more users, provided there are none; true for exactly one caller.
    pub fn retire(&self) -> bool {
        self.0.compare_exchange(0, RETIRED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Takes no more users, even while there still are some.
    pub fn retire_anyway(&self) {
        self.0.fetch_or(RETIRED, Ordering::AcqRel);
    }

    /// Takes users again, after a [`Users::retire`] that was undone.
    pub fn revive(&self) {
        self.0.fetch_and(!RETIRED, Ordering::AcqRel);
    }

    /// Whether it takes no more users.
    pub fn is_retired(&self) -> bool {
        self.0.load(Ordering::Acquire) & RETIRED != 0
    }

    /// The users at this moment.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Acquire) & !RETIRED
    }
}

/// The reason why an object takes no more users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It is being freed.
    Gone,
    /// It has as many as it may have.
    Full,
}

/// One use of an object, for as long as this value lives.
pub struct Use<O: Object>(Arc<O>);

impl<O: Object> Use<O> {
    /// Counts a use; `None` if the object is being freed.
    pub fn of(object: &Arc<O>) -> Option<Self> {
        Self::within(object, usize::MAX).ok()
    }

    /// Counts a use, unless the object has `most` users already.
    ///
    /// # Errors
    /// [`Unusable`]; nothing was counted then.
    pub fn within(object: &Arc<O>, most: usize) -> Result<Self, Unusable> {
        object.header().users.attach(most).map(|()| Use(object.clone()))
    }

    /// Whether the object was freed although it is used.
    pub fn is_gone(&self) -> bool {
        self.0.header().users.is_retired()
    }

    /// The object.
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
