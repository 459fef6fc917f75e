//! Lack of memory, over the transport between the endpoints of one process.

use dat_conformance::Network;
use dat_conformance::faults::{FAULTY, Failing, lack_of_memory_is_refused};
use dat_core::testing::Loopback;
use host::memory::Allocator;

#[global_allocator]
static MEMORY: Allocator<Failing> = FAULTY;

#[test]
fn nothing_that_lacks_memory_ends_the_process() {
    lack_of_memory_is_refused(&Network::<Loopback>::new("loopback", "without memory"));
}
