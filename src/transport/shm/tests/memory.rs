//! Lack of memory, over shared memory.

mod common;

use common::network;
use dat_conformance::faults::{
    FAULTY, Failing, lack_of_memory_is_refused, lack_of_memory_leaves_reserved_service_point,
};
use host::memory::Allocator;

#[global_allocator]
static MEMORY: Allocator<Failing> = FAULTY;

#[test]
fn lack_of_memory_does_not_end_process() {
    lack_of_memory_is_refused(&network());
    lack_of_memory_leaves_reserved_service_point(&network());
}
