//! Networks of adapters, each in a directory of its own.

use dat_conformance::Network;
use dat_shm::Shm;

pub fn network() -> Network<Shm> {
    let dir = tempfile::tempdir().unwrap();
    let instance = dir.path().join("meet");
    Network::new("shm", instance.to_str().unwrap()).keeping(dir).exact()
}
