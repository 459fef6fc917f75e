//! The nodes of a process, one for each directory, as long as adapters are open there.
//!
//! The child of a fork inherits no shared memory: the handles of the parent are dead in it, the parent's sockets are
//! closed in it (`host/fork.rs`), and it can open adapters of its own.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Weak};

use dat_core::error::{Error, Resource, Result};
use host::lock::Mutex;
use host::memory::Room;

use crate::os::directory::Directory;
use crate::process_context::ProcessContext;
use crate::thread;

type Map = Mutex<HashMap<PathBuf, Weak<ProcessContext>>>;

/// The nodes of a process. A child of fork starts over with a new map, for another thread may have held the lock.
pub struct ProcessContexts(AtomicPtr<Map>);

impl ProcessContexts {
    /// An empty list of nodes.
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
                    // SAFETY: made in this call and given to nobody.
                    drop(unsafe { Box::from_raw(fresh) });
                    other
                }
            };
        }
        // SAFETY: maps are never freed once they are published.
        unsafe { &*map }
    }

    /// The node in the directory that `instance` names, for another adapter.
    ///
    /// # Errors
    /// [`Resource::Device`], [`Resource::Memory`].
    pub fn get(&self, instance: &str) -> Result<Arc<ProcessContext>> {
        let mut nodes = self.map().lock();
        let refused = |error: io::Error| {
            let lacking = error.kind() == io::ErrorKind::OutOfMemory;
            Error::InsufficientResources(if lacking { Resource::Memory } else { Resource::Device })
        };
        let device = |error: io::Error| {
            log::error!("shm: {error}");
            refused(error)
        };
        // The words that OFED writes for its own providers, such as "ib0 0", mean nothing here.
        let path = if instance.starts_with('/') { instance } else { "" };
        let directory = Directory::open(path).map_err(device)?;
        if let Some(context) = nodes.get(directory.path()).and_then(Weak::upgrade) {
            if !context.is_stopped() {
                context.adapters.fetch_add(1, Ordering::AcqRel);
                return Ok(context);
            }
        }
        let path = directory.path().to_owned();
        nodes.room(1)?;
        let listening = directory.listen().inspect_err(|error| directory.lament(error));
        let reachable = listening.map_err(refused)?;
        let context = ProcessContext::new(&reachable).map_err(device)?;
        *context.thread.lock() = Some(thread::start(&context, reachable).map_err(device)?);
        context.adapters.fetch_add(1, Ordering::AcqRel);
        nodes.insert(path, Arc::downgrade(&context));
        Ok(context)
    }

    /// Counts that an adapter is closed. With the last one the progress thread ends, and has ended on return.
    pub fn release(&self, context: &ProcessContext) {
        {
            let mut nodes = self.map().lock();
            if context.adapters.fetch_sub(1, Ordering::AcqRel) != 1 {
                return;
            }
            context.stop();
            // What is known of a node keeps its memory. Another one may be there by now.
            nodes.retain(|_, known| !std::ptr::eq(known.as_ptr(), context));
        }
        context.join();
    }

    /// Forgets all nodes, in the child of a fork: they are the parent's.
    pub fn forget(&self) {
        self.0.store(std::ptr::null_mut(), Ordering::Release);
    }
}
