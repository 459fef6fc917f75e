//! The service points of an adapter by qualifier, for requests that are handed off.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::sp::ServicePoint;
use crate::transport::Transport;

/// Service points by qualifier.
pub(crate) struct Points<T: Transport>(Mutex<HashMap<u64, Weak<ServicePoint<T>>>>);

impl<T: Transport> Default for Points<T> {
    fn default() -> Self {
        Points(Mutex::default())
    }
}

impl<T: Transport> Points<T> {
    pub fn insert(&self, qualifier: u64, point: &Arc<ServicePoint<T>>) {
        self.0.lock().insert(qualifier, Arc::downgrade(point));
    }

    pub fn remove(&self, qualifier: u64, point: &ServicePoint<T>) {
        let mut points = self.0.lock();
        let same = points.get(&qualifier).is_some_and(|known| std::ptr::eq(known.as_ptr(), point));
        if same {
            points.remove(&qualifier);
        }
    }

    pub fn find(&self, qualifier: u64) -> Option<Arc<ServicePoint<T>>> {
        self.0.lock().get(&qualifier)?.upgrade()
    }
}
