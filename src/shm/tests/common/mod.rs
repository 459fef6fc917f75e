//! Adapters that nobody else meets.
#![allow(dead_code)] // each test uses some of it

use std::path::Path;

use dat_shm::Shm;

pub type Side = dat_loopback::Side<Shm>;

/// An adapter of its own.
pub fn open() -> Side {
    let dir = Box::leak(Box::new(tempfile::tempdir().unwrap()));
    open_in(dir.path())
}

/// An adapter that meets all others opened in that directory.
pub fn open_in(dir: &Path) -> Side {
    let instance = dir.join("meet");
    dat_loopback::open("shm", instance.to_str().unwrap())
}
