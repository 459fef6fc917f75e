//! The fast path (post, dequeue, wait when ready) does not allocate.

mod common;

use common::open;
use dat_loopback::counting::Counting;
use dat_loopback::fast_path;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
#[ignore = "needs an RDMA device"]
fn post_dequeue_and_ready_wait_do_not_allocate() {
    assert_eq!(fast_path::allocations_of(&open(), 1_000), 0);
}
