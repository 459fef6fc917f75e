//! The contexts of a process, one per directory with open adapters.
//!
//! The child of a fork inherits no shared memory: in the child, the parent's handles are invalid and its sockets closed
//! (`host/fork.rs`). The child can open its own adapters.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Weak};

use dat_core::error::{Error, Result};
use host::lock::Mutex;
use host::memory::Room;
use host::topic::Topic;

use crate::os::directory::Directory;
use crate::process_context::ProcessContext;
use crate::thread;

type Map = Mutex<HashMap<PathBuf, Weak<ProcessContext>>>;

/// The contexts by directory. The child of a fork gets a new map, because another thread may have held the old map's
/// lock during the fork.
pub struct ProcessContexts(AtomicPtr<Map>);

impl ProcessContexts {
    pub const fn new() -> Self {
        ProcessContexts(AtomicPtr::new(std::ptr::null_mut()))
    }

    fn map(&self) -> &Map {
        let mut map = self.0.load(Ordering::Acquire);
        if map.is_null() {
            let fresh = Box::into_raw(Box::<Map>::default());
            map = match self.0.compare_exchange(map, fresh, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => fresh,
                Err(other) => {
                    // SAFETY: the map was created in this call and not shared.
                    drop(unsafe { Box::from_raw(fresh) });
                    other
                }
            };
        }
        // SAFETY: published maps are never freed.
        unsafe { &*map }
    }

    /// Returns the context of the directory `instance`, or creates the context, and counts another adapter.
    ///
    /// # Errors
    /// [`Error::lacking`]: the directory is unusable, or descriptors, threads or memory are lacking.
    pub fn get(&self, instance: &str) -> Result<Arc<ProcessContext>> {
        let mut contexts = self.map().lock();
        let device = |error: io::Error| {
            Topic::RendezvousDirectory.error(&error, error.to_string()).log("shm");
            Error::lacking(&error)
        };
        let directory = Directory::open(instance).map_err(device)?;
        if let Some(context) = contexts.get(directory.path()).and_then(Weak::upgrade) {
            context.adapters.fetch_add(1, Ordering::AcqRel);
            return Ok(context);
        }
        let path = directory.path().to_owned();
        contexts.room(1)?;
        let listening = directory.listen().inspect_err(|error| directory.log_failure(error));
        let reachable = listening.map_err(|error| Error::lacking(&error))?;
        let context = ProcessContext::new(&reachable).map_err(device)?;
        *context.thread.lock() = Some(thread::start(&context, reachable).map_err(device)?);
        context.adapters.fetch_add(1, Ordering::AcqRel);
        contexts.insert(path, Arc::downgrade(&context));
        Ok(context)
    }

    /// Releases an adapter. For the last adapter, waits for the progress thread's end.
    pub fn release(&self, context: &ProcessContext) {
        {
            let mut contexts = self.map().lock();
            if context.adapters.fetch_sub(1, Ordering::AcqRel) != 1 {
                return;
            }
            context.stop();
            contexts.retain(|_, known| !std::ptr::eq(known.as_ptr(), context));
        }
        context.join();
    }

    pub fn forget(&self) {
        self.0.store(std::ptr::null_mut(), Ordering::Release);
    }
}
