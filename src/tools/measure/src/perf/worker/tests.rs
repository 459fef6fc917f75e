use super::*;
use crate::perf::plan::{MAX_CONNECTIONS, MAX_OUTSTANDING, MAX_SIZE, MAX_THREADS, Test};
use crate::testing::PLAN;

#[test]
fn receivers_have_more_buffers_than_are_outstanding() {
    let adapter = IaAttributes { max_dto_per_ep: 1_000, max_recv_per_srq: 300, ..IaAttributes::default() };
    let plan = Plan { test: Test::SendBw, size: 64, connections: 8, active: 8, srq: false, verify: false, ..PLAN };
    assert_eq!(depth(&plan, &adapter), 64);
    assert_eq!(depth(&Plan { active: 1, ..plan }, &adapter), 512);
    assert_eq!(depth(&Plan { srq: true, ..plan }, &adapter), 300);
    assert_eq!(depth(&Plan { size: 1 << 20, active: 1, ..plan }, &adapter), 128);
    assert_eq!(depth(&Plan { outstanding: 1, both: true, ..plan }, &adapter), 16);
    assert_eq!(depth(&Plan { test: Test::WriteBw, ..plan }, &adapter), 4);
    assert_eq!(depth(&Plan { test: Test::SendLat, srq: true, ..plan }, &adapter), 32);
}

#[test]
fn computes_the_memory_of_all_threads() {
    let adapter = IaAttributes { max_dto_per_ep: 1_000, ..IaAttributes::default() };
    let plan = Plan { size: 100, outstanding: 2, connections: 3, active: 2, threads: 5, ..PLAN };
    let plan = Plan { srq: false, verify: false, ..plan };
    assert_eq!(memory(&plan, &adapter, false), 5 * 2 * 100);
    assert_eq!(memory(&Plan { verify: true, ..plan }, &adapter, false), 5 * 2 * (2 * 2 * 128 + 100));
    // Messages arrive in 16 buffers of each active connection and in one buffer of the other; the client receives no
    // bytes.
    let messages = Plan { test: Test::SendBw, verify: true, ..plan };
    let out = 2 * 2 * 128 + 100;
    assert_eq!(memory(&messages, &adapter, false), 5 * (out + 33 * 128 + 100));
    assert_eq!(memory(&messages, &adapter, true), 5 * (out + 100));
    let most = Plan { size: MAX_SIZE, outstanding: MAX_OUTSTANDING, connections: MAX_CONNECTIONS, ..plan };
    let most = Plan { active: MAX_CONNECTIONS, threads: MAX_THREADS, verify: true, ..most };
    assert_eq!(memory(&most, &adapter, false), u64::MAX);
}
